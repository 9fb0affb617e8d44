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
