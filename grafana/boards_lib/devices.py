"""What dcgm-exporter's families say of the chosen GPUs, whichever generation wrote them."""

from __future__ import annotations

from boards_lib import palette
from boards_lib.formulas import WINDOW
from boards_lib.queries import GPU, Query

WHICH = "Hostname, hostname, gpu"
LABELS = {"Hostname": "Node", "hostname": "Node", "gpu": "GPU"}
NAME = "{{Hostname}}{{hostname}} GPU {{gpu}}"
NO_GPUS = "No GPU here: `make lab` simulates some, `stepscope export` and dcgm-exporter read real ones"
NOT_COLLECTED = (
    "Not collected: a dcgm-exporter exports this field when its counters file names it; `make lab` always does"
)
BITS = {
    "Heat, by the hardware": 0x40,
    "Heat, by the driver": 0x20,
    "Power limit": 0x04,
    "Power brake": 0x80,
}
"""Bits of the throttle mask (nvml.h, nvmlClocksThrottleReason*)."""


def board(metric: str, *, over: str = "") -> str:
    """A reading of the chosen boards, one series each; a partitioned board repeats its reading and counts once."""
    selector = f"{metric}{{{GPU}}}"
    return f"max by ({WHICH}) ({f'{over}({selector}[{WINDOW}])' if over else selector})"


def held(bit: int) -> str:
    """1 for each chosen board whose mask of throttle reasons has a bit set, else 0."""
    mask = (
        f"max by ({WHICH}) (DCGM_FI_DEV_CLOCK_THROTTLE_REASONS{{{GPU}}} or DCGM_FI_DEV_CLOCKS_EVENT_REASONS{{{GPU}}})"
    )
    return f"floor({mask} / {bit}) % 2"


def spread(metric: str) -> tuple[Query, Query, Query]:
    """Highest, median and lowest of the chosen boards."""
    value = board(metric)
    return (
        Query(f"max({value})", "Highest"),
        Query(f"quantile(0.5, {value})", "Median"),
        Query(f"min({value})", "Lowest"),
    )


SPREAD = {"Highest": palette.SECOND, "Median": palette.NEUTRAL, "Lowest": palette.FIRST}
USED = f"sum by ({WHICH}) (DCGM_FI_DEV_FB_USED{{{GPU}}})"
FREE = f"sum by ({WHICH}) (DCGM_FI_DEV_FB_FREE{{{GPU}}})"
