"""Colours that share a panel stay apart for readers with each common kind of colour vision."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from boards_lib import palette
from simulator.names import PHASES

# Linear-RGB projections of Vienot, Brettel and Mollon (1999), "Digital video colourmaps for checking the legibility of
# displays by dichromats".
VISION: dict[str, NDArray[np.float64]] = {
    "trichromat": np.eye(3),
    "protanope": np.array([[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]]),
    "deuteranope": np.array([[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]]),
}
_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
_WHITE = np.array([0.9505, 1.0, 1.089])

GROUPS = {
    "verdicts": (palette.GOOD, palette.WARN, palette.BAD),
    "lines": (palette.FIRST, palette.SECOND, palette.NEUTRAL),
    "phases": tuple(palette.PHASES.values()),
    "activity": tuple(palette.ACTIVITY.values()),
    "alerts": (palette.SILENT, palette.PENDING, palette.FIRING),
    "strengths": (palette.SILENT, palette.MILD, palette.WARN, palette.BAD),
    "four lines": (palette.FIRST, palette.SECOND, palette.NEUTRAL, palette.DARK),
}
VIRIDIS = (
    "#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725",
)  # fmt: skip
"""The ramp that Grafana knows as Viridis, at every ninth."""
JUST_NOTICEABLE = 2.3
"""Difference in CIELAB (1976) that an observer just sees side by side."""


def lab(colour: str, seen_as: NDArray[np.float64]) -> NDArray[np.float64]:
    """CIELAB of a hex colour as one kind of vision sees it."""
    encoded = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    ratio = _XYZ @ np.clip(seen_as @ linear, 0, 1) / _WHITE
    f = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("group", GROUPS)
def test_colours_of_a_group_are_told_apart(group: str, vision: str) -> None:
    seen = {colour: lab(colour, VISION[vision]) for colour in GROUPS[group]}
    for one, other in itertools.combinations(seen, 2):
        distance = float(np.linalg.norm(seen[one] - seen[other]))
        assert distance > 4 * JUST_NOTICEABLE, f"{one} and {other}: {distance:.1f}"


@pytest.mark.parametrize("vision", VISION)
def test_the_ramp_of_heatmaps_gets_lighter_for_every_eye(vision: str) -> None:
    assert palette.RAMP == "Viridis"
    lightness = [float(lab(colour, VISION[vision])[0]) for colour in VIRIDIS]
    assert all(after - before > JUST_NOTICEABLE for before, after in itertools.pairwise(lightness))


def test_the_measure_sees_what_it_is_meant_to_see() -> None:
    red, green = lab("#c0392b", VISION["deuteranope"]), lab("#7a7a1f", VISION["deuteranope"])
    assert np.linalg.norm(red - green) < 0.5 * np.linalg.norm(
        lab("#c0392b", VISION["trichromat"]) - lab("#7a7a1f", VISION["trichromat"])
    )


def test_every_phase_has_a_colour_and_a_place_in_the_stack() -> None:
    assert set(palette.PHASES) == set(PHASES)
    assert [*palette.WORKING, *palette.MOVING, *palette.WAITING] == list(palette.PHASES)
