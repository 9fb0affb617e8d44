"""The recording rules. Names follow `level:metric:operations`; each says in one sentence what it answers.

Per rank, time is a share of that rank's *own* wall clock, which is the sum of its phases. A rank is compared with the
median of its peers; with the least of them where waiting is meant, because who waits least is waited for.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import indent

from rulebook.promql import (
    BEST,
    CLOCK,
    COMMUNICATION,
    PEAK,
    PROGRESS,
    WINDOW,
    WORK,
    exposed,
    input_late,
    mean_over_gpus,
    mfu,
    of_rank,
    per_wall_clock,
    rate_by_run,
    ratio,
)


@dataclass(frozen=True, slots=True)
class Recording:
    """One recording rule."""

    record: str
    """Name of the recorded series."""
    expr: str
    """PromQL, nothing newer than Prometheus 3.5."""
    about: str
    """One sentence: what the series says, with its unit."""


_DEVICE = (
    ("DCGM_FI_DEV_GPU_UTIL", "GPU utilization, percent: time with any kernel resident"),
    ("DCGM_FI_PROF_SM_ACTIVE", "SM activity, 0-1: SM cycles with a warp resident"),
    ("DCGM_FI_PROF_SM_OCCUPANCY", "SM occupancy, 0-1: resident warps of those that fit"),
    ("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "tensor pipe activity, 0-1"),
    ("DCGM_FI_DEV_POWER_USAGE", "power draw, watts"),
)

MFU = f"run:training_mfu:ratio_rate{WINDOW}"
MFU_BEST = f"run:training_mfu:max{BEST}"
PHASE_SHARE = f"run:training_phase_share:ratio_rate{WINDOW}"
STEP_SECONDS = f"run:training_step_seconds:mean_rate{WINDOW}"
INPUT_LATE = f"run:training_input_late:ratio_rate{WINDOW}"
INPUT_LATE_PER_BYTE = f"run:training_input_late:per_byte_rate{WINDOW}"
EXPOSED = f"run:training_communication_exposed:ratio_rate{WINDOW}"
EXPOSED_PER_BYTE = f"run:training_communication_exposed:per_byte_rate{WINDOW}"
WORK_SECONDS = f"rank:training_work_seconds:mean_rate{WINDOW}"
WORK_EXCESS = f"rank:training_work_excess:ratio_rate{WINDOW}"
COLLECTIVE_EXCESS = f"rank:training_collective_excess:ratio_rate{WINDOW}"
DATA_WAIT = f"rank:training_data_wait:ratio_rate{WINDOW}"

RUN_RECORDINGS: tuple[Recording, ...] = (
    Recording(MFU, mfu(), "Model FLOPs utilization of the steps that ended in the window, 0-1."),
    Recording(
        f"run:training_mfu_wall:ratio_rate{WINDOW}",
        f"{per_wall_clock('training_model_flops_total')}\n  / ({PEAK} / on (run) count by (run) (training_rank_info))",
        "The same against wall clock, 0-1: it also pays for the time in which no step ran.",
    ),
    Recording(
        MFU_BEST,
        f"max_over_time({MFU}[{BEST}])",
        "The job's own best MFU of the last 15 minutes, 0-1: what it can do on these GPUs.",
    ),
    Recording(
        PHASE_SHARE,
        f"sum by (run, phase) (rate(training_phase_seconds_total[{WINDOW}]))\n"
        f"  / on (run) group_left () ({rate_by_run('training_phase_seconds_total')} > 0)",
        "Share of the ranks' wall clock in each phase, 0-1; the phases of a run add up to 1.",
    ),
    Recording(
        STEP_SECONDS,
        f"{rate_by_run('training_step_seconds_sum')}\n  / ({rate_by_run('training_step_seconds_count')} > 0)",
        "Mean duration of the steps that ended in the window, seconds.",
    ),
    Recording(
        f"run:training_tokens_per_gpu:rate{WINDOW}",
        per_wall_clock("training_tokens_total"),
        "Tokens per second and GPU, against wall clock.",
    ),
    Recording(
        INPUT_LATE,
        input_late(CLOCK),
        "Share of wall clock that late batches cost the job, 0-1, on whichever ranks they are late.",
    ),
    Recording(
        INPUT_LATE_PER_BYTE,
        input_late(PROGRESS),
        "The same in seconds per byte moved in collectives, to compare with other minutes of the same job.",
    ),
    Recording(
        EXPOSED,
        exposed(CLOCK),
        "Share of wall clock in exposed communication, 0-1; of the rank that has least, so without waiting for peers.",
    ),
    Recording(
        EXPOSED_PER_BYTE,
        exposed(PROGRESS),
        "The same in seconds per byte moved in collectives, to compare with other minutes of the same job.",
    ),
    Recording(
        f"run:training_bus_bandwidth:max_rate{WINDOW}",
        "max by (run) (\n"
        f"  sum by (run, rank) (rate(training_collective_bytes_total[{WINDOW}]))\n"
        f"    / (sum by (run, rank) (rate(training_collective_seconds_total[{WINDOW}])) > 0)\n"
        ")",
        "Bus bandwidth of the collectives, bytes per second, on the rank that spins least in them.",
    ),
    *(
        Recording(
            f"run:{metric}:avg{WINDOW}",
            mean_over_gpus(metric),
            f"Mean over the run's GPUs and the window of {what}.",
        )
        for metric, what in _DEVICE
    ),
)

_WORK_PER_PROGRESS = ratio(of_rank(WORK), PROGRESS)
_COMMUNICATING = ratio(of_rank(COMMUNICATION), CLOCK)

RANK_RECORDINGS: tuple[Recording, ...] = (
    Recording(
        WORK_SECONDS,
        f"{ratio(of_rank(WORK), CLOCK)}\n* on (run) group_left () {STEP_SECONDS}",
        "Seconds per step that a rank spends on its own work: copy to the device, forward, backward.",
    ),
    Recording(
        WORK_EXCESS,
        f"(\n{indent(_WORK_PER_PROGRESS, '  ')}\n)\n/ on (run) group_left () (quantile by (run) (0.5,\n"
        f"{indent(_WORK_PER_PROGRESS, '  ')}\n) > 0)\n- 1",
        "How much longer a rank works on a step than the median of its peers, as a ratio: 0.5 is half as long again.",
    ),
    Recording(
        COLLECTIVE_EXCESS,
        f"{_COMMUNICATING}\n- on (run) group_left () min by (run) (\n{indent(_COMMUNICATING, '  ')}\n)",
        "Share of wall clock in collectives beyond the least of the ranks, 0-1: 0 is the rank that is waited for.",
    ),
    Recording(
        DATA_WAIT,
        ratio(of_rank("data_wait"), CLOCK),
        "Share of its wall clock that a rank waits for a batch, 0-1.",
    ),
)

RECORDINGS = RUN_RECORDINGS + RANK_RECORDINGS
"""In the order in which they are evaluated: what another is made of comes before it."""
