"""PromQL that several boards share, beside the series that rules record.

`training_rank_info` stands on the many side of every join and what it is joined with is aggregated first. So a query
stays valid while one run replaces another and both name the same GPU, or a rank moves to another node.
"""

from __future__ import annotations

from boards_lib.queries import NODE, RUN

WINDOW = "$__rate_interval"
COMPUTING = "forward|backward|optimizer"
"""Phases in which a GPU computes."""
WORK = "h2d|forward|backward"
"""What a rank does on its own in a step, at its own pace; the optimizer, checkpoints and stalls last equally on all."""
COMMUNICATION = "collective|collective_wait"
"""Exposed communication. A real rank cannot tell the two apart, so boards add them where ranks are compared."""

OF_RUN = f"training_rank_info{{{RUN}}}"
"""All ranks of the run, with their node, GPU and UUID."""
OF_NODES = f"training_rank_info{{{RUN}, {NODE}}}"
"""Those on the chosen nodes."""
CHOSEN = f'training_rank_info{{{RUN}, {NODE}, rank=~"$rank"}}'
"""Those of them that are chosen themselves."""

MOST_ROWS = 64
"""Ranks that a heatmap or a table shows; of a larger job, those that matter most to its question."""

STEP_SECONDS = f"run:training_step_seconds:mean_rate1m{{{RUN}}}"
UTILIZATION = f"run:DCGM_FI_DEV_GPU_UTIL:avg1m{{{RUN}}} / 100"
MFU = f"run:training_mfu:ratio_rate1m{{{RUN}}}"
MFU_WALL = f"run:training_mfu_wall:ratio_rate1m{{{RUN}}}"
INPUT_LATE = f"run:training_input_late:ratio_rate1m{{{RUN}}}"
EXPOSED = f"run:training_communication_exposed:ratio_rate1m{{{RUN}}}"
BUS_BANDWIDTH = f"run:training_bus_bandwidth:max_rate1m{{{RUN}}}"
TOKENS_PER_GPU = f"run:training_tokens_per_gpu:rate1m{{{RUN}}}"
TOKENS_AT_BEST = (
    f"run:training_mfu:max15m{{{RUN}}} * on (run) max by (run) (training_peak_flops_per_second{{{RUN}}})"
    f" * on (run) max by (run) (training_tokens_total{{{RUN}}} > 0)"
    f" / on (run) max by (run) (training_model_flops_total{{{RUN}}})"
    f" / on (run) count by (run) (training_rank_info{{{RUN}}})"
)
"""Tokens per second and GPU at the run's own best MFU of the last 15 minutes."""
WORK_SECONDS = f"rank:training_work_seconds:mean_rate1m{{{RUN}}}"
WORK_EXCESS = f"rank:training_work_excess:ratio_rate1m{{{RUN}}}"
COLLECTIVE_EXCESS = f"rank:training_collective_excess:ratio_rate1m{{{RUN}}}"
DATA_WAIT = f"rank:training_data_wait:ratio_rate1m{{{RUN}}}"


def phases(names: str) -> str:
    """Share of the run's wall clock in some phases together."""
    return f'sum by (run) (run:training_phase_share:ratio_rate1m{{{RUN}, phase=~"{names}"}})'


def phase_by_rank(names: str) -> str:
    """Share of each rank's wall clock in some phases."""
    return f'sum by (run, rank) (rate(training_phase_seconds_total{{{RUN}, phase=~"{names}"}}[{WINDOW}]))'


RANK_BANDWIDTH = (
    f"rate(training_collective_bytes_total{{{RUN}}}[{WINDOW}])"
    f" / (rate(training_collective_seconds_total{{{RUN}}}[{WINDOW}]) > 0)"
)
"""Bus bandwidth of each rank's collectives. Lines that are compared share a window: the recorded maximum, over a longer
one, can lie below the median of this."""


def per_step(share: str) -> str:
    """Seconds per step from a share of wall clock.

    A rate over a count of steps would jump with the number of long steps that happen to end inside the window.
    """
    return f"{share} * on (run) group_left () {STEP_SECONDS}"


def on_ranks(value: str, ranks: str = CHOSEN, *, keep: str = "rank") -> str:
    """A value with labels `run` and `rank`, for these ranks, with the labels `keep` of their info series."""
    return f"max by ({keep}) ({ranks} * on (run, rank) group_left () max by (run, rank) ({value}))"


def on_gpus(metric: str, ranks: str = CHOSEN, *, keep: str = "rank") -> str:
    """A reading of these ranks' GPUs; a board that is partitioned repeats it and counts once."""
    return f"max by ({keep}) ({ranks} * on (UUID) group_left () max by (UUID) ({metric}))"


def longest(names: str, ranks: str = CHOSEN) -> str:
    """Of these ranks, those with the most time in some phases in the whole time range: the same at every moment."""
    return f"topk({MOST_ROWS}, {_in_range(names, ranks)})"


def shortest(names: str, ranks: str = CHOSEN) -> str:
    """As `longest`, those with the least time."""
    return f"bottomk({MOST_ROWS}, {_in_range(names, ranks)})"


def _in_range(names: str, ranks: str) -> str:
    selector = f'training_phase_seconds_total{{{RUN}, phase=~"{names}"}}'
    total = f"sum by (run, rank) (increase({selector}[$__range] @ end()))"
    return f"max by (rank) ({ranks} @ end() * on (run, rank) group_left () {total})"
