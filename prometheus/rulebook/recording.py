"""The recording rules. Names follow `level:metric:operations`; each says in one sentence what it answers.

Every ratio divides sums, so that it stays right when the parts differ in size. Windows are one minute: twelve scrapes,
and long enough for a 7 s step. A denominator of 0 gives no sample rather than NaN: "no step ended" is not a number.

Per rank, time is a share of that rank's *own* wall clock, which is the sum of its phases. A rank is compared with the
median of its peers; with the least of them where waiting is meant, because who waits least is waited for.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import indent

WINDOW = "1m"
BEST = "15m"
"""How far back the job's own best counts."""
WORK = "h2d|forward|backward"
"""What a rank does on its own in a step, at its own pace."""
COMMUNICATION = "collective|collective_wait"
"""A real rank cannot tell waiting in a collective from transferring: it reports the sum as `collective` and no
`collective_wait`. Every rule works for both."""
HANDOVER = "0.001"
"""Data wait of a rank, as a share of wall clock, that is only the handing over of a batch that was ready."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One recording rule."""

    record: str
    """Name of the recorded series."""
    expr: str
    """PromQL, nothing newer than Prometheus 3.5."""
    about: str
    """One sentence: what the series says, with its unit."""


def rate_by_run(metric: str, window: str = WINDOW) -> str:
    """Rate of a counter of the run."""
    return f"sum by (run) (rate({metric}[{window}]))"


def mfu(window: str = WINDOW) -> str:
    """Model FLOPs utilization of the steps that ended in a window, 0-1."""
    return (
        f"{rate_by_run('training_model_flops_total', window)}\n"
        f"  / ({rate_by_run('training_step_seconds_sum', window)} > 0)\n"
        f"  / {_PEAK}"
    )


def _share_by_rank(phases: str) -> str:
    """Share of each rank's wall clock in these phases, 0-1."""
    matcher = f'phase=~"{phases}"' if "|" in phases else f'phase="{phases}"'
    return (
        f"sum by (run, rank) (rate(training_phase_seconds_total{{{matcher}}}[{WINDOW}]))\n"
        f"  / (sum by (run, rank) (rate(training_phase_seconds_total[{WINDOW}])) > 0)"
    )


def _pace() -> str:
    """Work of each rank for the same progress, which is the bytes it moved in collectives: as many in every step.

    Nodes are scraped seconds apart. While a fault sets in or ends, the share of a minute spent working differs between
    nodes for that alone; both of these come from one scrape. A source that counts no bytes is compared by the share.
    """
    return (
        f'sum by (run, rank) (rate(training_phase_seconds_total{{phase=~"{WORK}"}}[{WINDOW}]))\n'
        "/ (\n"
        f"  sum by (run, rank) (rate(training_collective_bytes_total[{WINDOW}])) > 0\n"
        "  or\n"
        f"  sum by (run, rank) (rate(training_phase_seconds_total[{WINDOW}])) > 0\n"
        ")"
    )


def _mean_over_gpus(metric: str) -> str:
    """Mean over the run's GPUs of each board's mean over the window; rows that share a board (MIG) count once.

    `training_rank_info` stands on the many side of the join: while a run is replaced, two runs may name one GPU for a
    few seconds, and the rule still evaluates.
    """
    return (
        "avg by (run) (\n"
        "  training_rank_info * on (UUID) group_left ()\n"
        f"  max by (UUID) (avg_over_time({metric}[{WINDOW}]))\n"
        ")"
    )


def _input_late() -> str:
    """What the ranks wait for data in all, as if one were late at a time; or less, where they are late together.

    A late batch costs *every* rank the same: the late one waits for data, the others wait for it. So the sum over
    ranks is held to what each of them spends on the two, which also keeps out waiting that has another cause.
    """
    waiting = (
        f"{DATA_WAIT}\n"
        "  + (\n"
        f"{indent(_share_by_rank('collective_wait'), '    ')}\n"
        "    or\n"
        f"{indent(_share_by_rank('collective'), '    ')}\n"
        "  )"
    )
    return (
        "min by (run) (\n"
        f'  label_replace(sum by (run) (clamp_min({DATA_WAIT} - {HANDOVER}, 0)), "bound", "sum", "", "")\n'
        "  or\n"
        f'  label_replace(\n    min by (run) (\n{indent(waiting, "      ")}\n    ),\n    "bound", "each", "", ""\n  )\n'
        ")"
    )


_PEAK = "(max by (run) (training_peak_flops_per_second) > 0)"  # already the sum over the run's GPUs
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
EXPOSED = f"run:training_communication_exposed:ratio_rate{WINDOW}"
WORK_SECONDS = f"rank:training_work_seconds:mean_rate{WINDOW}"
WORK_EXCESS = f"rank:training_work_excess:ratio_rate{WINDOW}"
COLLECTIVE_EXCESS = f"rank:training_collective_excess:ratio_rate{WINDOW}"
DATA_WAIT = f"rank:training_data_wait:ratio_rate{WINDOW}"

_BASE: tuple[Recording, ...] = (
    Recording(
        STEP_SECONDS,
        f"{rate_by_run('training_step_seconds_sum')}\n  / ({rate_by_run('training_step_seconds_count')} > 0)",
        "Mean duration of the steps that ended in the window, seconds.",
    ),
    Recording(
        DATA_WAIT,
        _share_by_rank("data_wait"),
        "Share of its wall clock that a rank waits for a batch, 0-1.",
    ),
)
"""What other rules build on: rules of a group are evaluated in the order in which they stand."""

RANK_RECORDINGS: tuple[Recording, ...] = (
    Recording(
        WORK_SECONDS,
        f"{_share_by_rank(WORK)}\n  * on (run) group_left () {STEP_SECONDS}",
        "Seconds per step that a rank spends on its own work: copy to the device, forward, backward.",
    ),
    Recording(
        WORK_EXCESS,
        f"(\n{indent(_pace(), '  ')}\n)\n/ on (run) group_left ()\n"
        f"(quantile by (run) (0.5,\n{indent(_pace(), '  ')}\n) > 0)\n- 1",
        "How much longer a rank works on a step than the median of its peers, as a ratio: 0.5 is half as long again.",
    ),
    Recording(
        COLLECTIVE_EXCESS,
        f"{_share_by_rank(COMMUNICATION)}\n"
        f"  - on (run) group_left () min by (run) (\n{indent(_share_by_rank(COMMUNICATION), '    ')}\n  )",
        "Share of wall clock in collectives beyond the least of the ranks, 0-1: 0 is the rank that is waited for.",
    ),
)

RUN_RECORDINGS: tuple[Recording, ...] = (
    Recording(MFU, mfu(), "Model FLOPs utilization of the steps that ended in the window, 0-1."),
    Recording(
        f"run:training_mfu_wall:ratio_rate{WINDOW}",
        f"{rate_by_run('training_model_flops_total')}\n  / {_PEAK}",
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
        f"run:training_tokens_per_gpu:rate{WINDOW}",
        f"{rate_by_run('training_tokens_total')}\n  / count by (run) (training_rank_info)",
        "Tokens per second and GPU, against wall clock.",
    ),
    Recording(
        INPUT_LATE,
        _input_late(),
        "Share of wall clock that late batches cost the job, 0-1, on whichever ranks they are late.",
    ),
    Recording(
        EXPOSED,
        f"min by (run) (\n{indent(_share_by_rank('collective'), '  ')}\n)",
        "Share of wall clock in exposed communication, 0-1; of the rank that has least, so without waiting for peers.",
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
            _mean_over_gpus(metric),
            f"Mean over the run's GPUs and the window of {what}.",
        )
        for metric, what in _DEVICE
    ),
)

RECORDINGS = _BASE + RANK_RECORDINGS + RUN_RECORDINGS
