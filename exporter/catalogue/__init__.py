"""Every metric family in one table: names, types, units, labels and meaning are the product's public interface."""

from __future__ import annotations

from exporter.catalogue.dcgm import DCGM_FAMILIES, GPU_LABELS, INSTANCE_LABELS
from exporter.catalogue.family import HOSTNAME, Family, Number, PageName, Scope, Type
from exporter.catalogue.selfmetrics import (
    ENGINE_FAMILIES,
    EXPORT_FAMILIES,
    EXPORTER_FAMILIES,
    GPU_UP,
    PROCESS_FAMILIES,
)
from exporter.catalogue.training import NODE_FAMILIES, RANK_FAMILIES, RUN_FAMILIES
from exporter.catalogue.truth import TRUTH_FAMILIES

__all__ = [
    "BY_NAME",
    "DCGM_FAMILIES",
    "ENGINE_FAMILIES",
    "EXPORTER_FAMILIES",
    "EXPORT_FAMILIES",
    "FAMILIES",
    "GPU_LABELS",
    "GPU_UP",
    "HOSTNAME",
    "INSTANCE_LABELS",
    "NODE_FAMILIES",
    "PROCESS_FAMILIES",
    "RANK_FAMILIES",
    "RUN_FAMILIES",
    "TRUTH_FAMILIES",
    "Family",
    "Number",
    "PageName",
    "Scope",
    "Type",
    "find",
    "find_si",
]

FAMILIES: tuple[Family, ...] = (
    *DCGM_FAMILIES,
    *RANK_FAMILIES,
    *NODE_FAMILIES,
    *RUN_FAMILIES,
    *EXPORTER_FAMILIES,
    *EXPORT_FAMILIES,
    *ENGINE_FAMILIES,
    *PROCESS_FAMILIES,
    *TRUTH_FAMILIES,
)
"""In the order of METRICS.md."""

BY_NAME: dict[str, Family] = {family.name: family for family in FAMILIES}

_BY_SI_NAME = {name: family for family in FAMILIES for name in family.si_aliases}
_BY_ANY_NAME = BY_NAME | {name: family for family in FAMILIES for name in (*family.sample_names, *family.aliases)}


def find(name: str) -> Family | None:
    """The family that a sample name belongs to, whichever exporter or generation wrote it; None for a foreign one."""
    return _BY_ANY_NAME.get(name)


def find_si(name: str) -> Family | None:
    """The family of the same reading in another unit: times its `scale`, a value of `name` is one of its own."""
    return _BY_SI_NAME.get(name)
