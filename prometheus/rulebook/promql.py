"""What the recording rules are made of: rates and shares as PromQL text.

Every ratio divides sums, so that it stays right when the parts differ in size. Windows are one minute: twelve scrapes,
and long enough for a 7 s step. A denominator of 0 gives no sample rather than NaN: "no step ended" is not a number.
"""

from __future__ import annotations

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
PEAK = "(max by (run) (training_peak_flops_per_second) > 0)"
"""Already the sum over the run's GPUs."""


def rate_by_run(metric: str, window: str = WINDOW) -> str:
    """Rate of a counter of the run."""
    return f"sum by (run) (rate({metric}[{window}]))"


def mfu(window: str = WINDOW) -> str:
    """Model FLOPs utilization of the steps that ended in a window, 0-1."""
    return (
        f"{rate_by_run('training_model_flops_total', window)}\n"
        f"  / ({rate_by_run('training_step_seconds_sum', window)} > 0)\n"
        f"  / {PEAK}"
    )


def per_wall_clock(metric: str) -> str:
    """Increase of a counter of the run per second of its own wall clock, per GPU.

    Its clock is the sum of its phases and as old as the run: `rate()` alone would divide a young run's counters by the
    whole window.
    """
    return f"{rate_by_run(metric)}\n  / ({rate_by_run('training_phase_seconds_total')} > 0)"


def of_rank(phases: str = "") -> str:
    """Seconds per second that each rank is in these phases; in all of them by default, which is its wall clock."""
    matcher = f'{{phase=~"{phases}"}}' if "|" in phases else f'{{phase="{phases}"}}' if phases else ""
    return f"sum by (run, rank) (rate(training_phase_seconds_total{matcher}[{WINDOW}]))"


CLOCK = f"({of_rank()} > 0)"
_BYTES = f"sum by (run, rank) (rate(training_collective_bytes_total[{WINDOW}]))"
PROGRESS = f"({_BYTES} > 0 or {CLOCK})"
"""How far each rank came in the window: the bytes that it moved in collectives, as many in every step of a job.

Wall clock is no measure to compare with. Nodes are scraped seconds apart: while a fault sets in or ends, a minute of
one node has more of it than a minute of another. And a slow rank or a checkpoint lengthens the step, so that the shares
of other things fall, and come back when it is over. Time per progress does neither, and both come from one scrape.
A source that counts no bytes is compared by its shares after all.
"""


def ratio(parts: str, whole: str) -> str:
    """A division, the whole on a line of its own."""
    return f"{parts}\n/ {whole}"


def mean_over_gpus(metric: str) -> str:
    """Mean over the run's GPUs and the window; rows that share a board (MIG) count once.

    `training_rank_info` stands on the many side of the join: while a run is replaced, two runs may name one GPU for a
    few seconds, and the rule still evaluates. Joined before it is averaged over time: the next run on the same GPUs
    must not be shown with what they did for the last one.
    """
    joined = f"training_rank_info * on (UUID) group_left () max by (UUID) ({metric})"
    return f"avg_over_time(\n  (avg by (run) ({joined}))[{WINDOW}:]\n)"


def exposed(whole: str) -> str:
    """Exposed communication of the rank that has least of it, per wall clock or per progress."""
    return f"min by (run) (\n{indent(ratio(of_rank('collective'), whole), '  ')}\n)"


def input_late(whole: str) -> str:
    """What the ranks wait for data in all, as if one were late at a time; or less, where they are late together.

    A late batch costs *every* rank the same: the late one waits for data, the others wait for it. So the sum over
    ranks is held to what each of them spends on the two, which also keeps out waiting that has another cause.
    """
    late = f"clamp_min({of_rank('data_wait')} - {HANDOVER} * {of_rank()}, 0)"
    each = f"(\n  {of_rank('data_wait')}\n  + ({of_rank('collective_wait')} or {of_rank('collective')})\n)"
    bounds = (("sum", "sum", late), ("least", "min", each))
    labelled = [
        f'label_replace({over} by (run) (\n{indent(ratio(time, whole), "  ")}\n), "bound", "{name}", "", "")'
        for name, over, time in bounds
    ]
    return "min by (run) (\n" + indent("\nor\n".join(labelled), "  ") + "\n)"
