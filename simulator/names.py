"""Words that the whole product shares, for those who must not need NumPy to know them."""

from __future__ import annotations

PHASES = (
    "data_wait",
    "h2d",
    "forward",
    "backward",
    "collective_wait",
    "collective",
    "optimizer",
    "checkpoint",
    "stall",
)
"""The phases of a step on one rank, in time order. They add up to the step."""

STEP_SECONDS_BUCKETS = (
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0,
)  # fmt: skip
"""Upper bounds, in seconds, of the step-time histogram (5 ms to 5 min; +Inf is implied)."""
