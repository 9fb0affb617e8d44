"""Colours that stay apart for every common kind of colour vision: blues, oranges and greys.

No panel pairs red with green. A test simulates protanopia and deuteranopia and measures the distances.
"""

from __future__ import annotations

GOOD = "#3182bd"
"""A value on the healthy side of its threshold, and useful work."""
WARN = "#f2a541"
"""A value between healthy and bad."""
BAD = "#d9480f"
"""A value on the bad side of its threshold."""
NEUTRAL = "#8c8c8c"
"""No judgement: reference lines and values without a threshold."""

UTILIZATION = "#2b7bba"
"""GPU utilization, here as on the lab's own page."""
MFU = "#e6872b"
"""MFU, here as on the lab's own page."""
FIRST = UTILIZATION
SECOND = MFU
"""Lines of other panels, in this order."""
DARK = "#7f2704"
"""A third line beside SECOND and NEUTRAL, for what is worse than either."""

ACTIVITY: dict[str, str] = {
    "GPU utilization": UTILIZATION,
    "Engine active": "#8ec3e6",
    "SM active": "#08306b",
    "SM occupancy": "#8c8c8c",
    "Tensor active": MFU,
    "Memory active": "#fdd0a2",
}
"""What a GPU does, from the coarsest measure to the finest."""

RAMP = "Viridis"
"""Grafana's name of the colours of heatmaps. Lightness rises with the value on a dark theme and falls with it on a
light one, so texts say high and low, not bright and dark."""

SILENT = "#d6e6f4"
"""A state in which there is nothing to say: an alert that does not fire, a fault that does not act."""
PENDING = WARN
FIRING = BAD
"""States of an alert, from SILENT on."""
MILD = "#fbd7a5"
"""The first of the strengths of a fault; WARN and BAD follow."""

PHASES: dict[str, str] = {
    "forward": "#3f8fd2",
    "backward": "#0b4f94",
    "optimizer": "#a8d1f0",
    "collective": "#5c5c5c",
    "h2d": "#8f8f8f",
    "checkpoint": "#cfcfcf",
    "data_wait": "#fdbf6f",
    "collective_wait": "#ec7014",
    "stall": "#8c2d04",
}
"""The phases of a step as they are stacked from the bottom: computing in blues, moving in greys, waiting in oranges."""

WORKING = ("forward", "backward", "optimizer")
MOVING = ("collective", "h2d", "checkpoint")
WAITING = ("data_wait", "collective_wait", "stall")
