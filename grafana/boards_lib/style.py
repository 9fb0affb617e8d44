"""Pieces of style that several kinds of panel share."""

from __future__ import annotations

from grafana_foundation_sdk.builders import common as build_common
from grafana_foundation_sdk.builders import dashboard as build_dashboard
from grafana_foundation_sdk.models import common, dashboard

RATIO = "percentunit"
"""Unit of a value between 0 and 1."""


def legend(
    display: common.LegendDisplayMode = common.LegendDisplayMode.LIST,
    placement: common.LegendPlacement = common.LegendPlacement.BOTTOM,
) -> build_common.VizLegendOptions:
    """A visible legend without calculated values."""
    return build_common.VizLegendOptions().show_legend(True).display_mode(display).placement(placement).calcs([])


def tooltip() -> build_common.VizTooltipOptions:
    """Every series at the pointer, in the order of the queries."""
    return build_common.VizTooltipOptions().mode(common.TooltipDisplayMode.MULTI).sort(common.SortOrder.NONE)


def fixed(colour: str) -> build_dashboard.FieldColor:
    """One colour, whatever the value."""
    return build_dashboard.FieldColor().mode(dashboard.FieldColorModeId.FIXED).fixed_color(colour)


def shades(colour: str) -> build_dashboard.FieldColor:
    """Light and dark shades of one colour, for as many series as there happen to be."""
    return build_dashboard.FieldColor().mode(dashboard.FieldColorModeId.SHADES).fixed_color(colour)


def by_threshold() -> build_dashboard.FieldColor:
    """The colour of the threshold that the value has passed."""
    return build_dashboard.FieldColor().mode(dashboard.FieldColorModeId.THRESHOLDS)


def step(value: float | None, colour: str) -> dashboard.Threshold:
    """A threshold; None is the lowest."""
    return dashboard.Threshold(value=value, color=colour)


def flat(colour: str) -> list[dashboard.Threshold]:
    """No threshold at all, which Grafana spells as one that everything has passed."""
    return [step(None, colour)]


def thresholds(steps: list[dashboard.Threshold]) -> build_dashboard.ThresholdsConfig:
    """Absolute thresholds."""
    return build_dashboard.ThresholdsConfig().mode(dashboard.ThresholdsMode.ABSOLUTE).steps(steps)


def setting(key: str, value: object) -> dashboard.DynamicConfigValue:
    """One property of an override."""
    return dashboard.DynamicConfigValue(id_val=key, value=value)


def colour(value: str) -> dashboard.DynamicConfigValue:
    """The property that colours a series."""
    return setting("color", {"mode": "fixed", "fixedColor": value})
