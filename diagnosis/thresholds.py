"""Where healthy ends: the one owner of every threshold that boards, alerts and verdicts share.

Ratios are 0-1, percentages say so in their name. Each constant states why it has its value; a board that colours a
panel and a rule that fires read it here, so that they cannot disagree.
"""

from __future__ import annotations

MFU_HEALTHY = 0.40
"""Model FLOPs utilization that a healthy dense run in BF16 reaches on H100s (published runs: 0.38-0.47)."""

MFU_LOW = 0.30
"""Below this a dense run wastes a quarter or more of what a healthy one gets from the same GPUs."""

UTIL_HIGH_PERCENT = 90.0
"""GPU utilization that dashboards read as busy: from here on, a low MFU is the trap and not an idle cluster."""

SM_ACTIVE_HEALTHY = 0.80
"""Share of SM cycles with a warp resident while kernels compute; one that spins in a collective holds 0.12-0.18."""

SM_ACTIVE_SPINNING = 0.30
"""Below this with high utilization, kernels are resident but few SMs run them: waiting, not computing."""

SM_OCCUPANCY_HEALTHY = 0.15
"""Resident warps of what the SMs can hold. Matrix kernels are healthy at 0.15-0.25; spinning holds 0.04-0.06."""

TENSOR_ACTIVE_HEALTHY = 0.40
"""Share of cycles with the tensor pipe busy: close to MFU divided by the clock ratio when nothing waits."""

TENSOR_ACTIVE_LOW = 0.30
"""The hardware side of MFU_LOW: below this, tensor cores idle most of the step."""

DATA_WAIT_HIGH = 0.05
"""Share of wall clock spent waiting for a batch. A prefetching loader that keeps up has next to none."""

COLLECTIVE_HIGH = 0.25
"""Share of wall clock in exposed communication, waiting for peers included, above which the job is bound by it."""

GRAD_NORM_SPIKE_FACTOR = 10.0
"""Multiple of the running median above which a gradient norm counts as a spike, harmless spikes (1.5-7 x) excepted."""

SCRAPE_INTERVAL_SECONDS = 5
"""Interval of the shipped scrape configuration; datasource `timeInterval` and alert delays follow from it."""
