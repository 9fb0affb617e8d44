"""Step anatomy: what one step is made of, what of it hides behind computing, and how steps differ."""

from __future__ import annotations

from boards_lib import formulas, palette
from boards_lib.about import About, Ceiling, Limits, percent
from boards_lib.formulas import RANK_BANDWIDTH, WINDOW
from boards_lib.heat import buckets
from boards_lib.layout import Board, Placed, Row
from boards_lib.lines import lines, stacked
from boards_lib.queries import RUN, Query
from boards_lib.shared import both_mfu, phase_shares
from boards_lib.tiles import Tile, tiles
from diagnosis import thresholds

KERNELS = f"avg by (run) (rate(training_collective_seconds_total{{{RUN}}}[{WINDOW}]))"
EXPOSED = f"avg by (run) ({formulas.phase_by_rank(formulas.COMMUNICATION)})"
"""Over the same window as KERNELS, of which it is a part."""


def _quantile(share: float) -> str:
    buckets_rate = f"sum by (le) (rate(training_step_seconds_bucket{{{RUN}}}[{WINDOW}]))"
    return f"histogram_quantile({share}, {buckets_rate})"


SUMMARY = tiles(
    About(
        title="One step in numbers",
        question="What share of a step computes, and what takes the rest?",
        healthy=(
            f"most of the step computes; waiting for data below {percent(thresholds.DATA_WAIT_HIGH)}, collectives that "
            f"computing does not hide below {percent(thresholds.COLLECTIVE_HIGH)}."
        ),
        reading=(
            "The bubble is all time in which a rank does not compute. Exposed is the part of collectives after which "
            "nothing else was left to do; waiting for peers is in it."
        ),
    ),
    (
        Tile(name="Step", expr=formulas.STEP_SECONDS, unit="s", decimals=2),
        Tile(name="Computing", expr=formulas.phases(formulas.COMPUTING)),
        Tile(name="Bubble", expr=f"1 - {formulas.phases(formulas.COMPUTING)}"),
        Tile(
            name="Exposed",
            expr=formulas.phases(formulas.COMMUNICATION),
            limits=Ceiling(high=thresholds.COLLECTIVE_HIGH),
        ),
        Tile(
            name="Waiting for data",
            expr=formulas.phases("data_wait"),
            limits=Ceiling(high=thresholds.DATA_WAIT_HIGH),
        ),
        Tile(
            name="MFU",
            expr=formulas.MFU,
            limits=Limits(low=thresholds.MFU_LOW, healthy=thresholds.MFU_HEALTHY),
            decimals=1,
        ),
    ),
)

PARTS = stacked(
    About(
        title="What a step is made of",
        question="Which part of the step grew?",
        healthy="the height steady, and most of it blue.",
        reading=(
            "Mean seconds per step over the ranks; the height is the step. Forward and backward grow by their own "
            "fault, collective_wait by somebody else's."
        ),
        next_board="ranks",
    ),
    tuple(
        Query(
            f'run:training_phase_share:ratio_rate1m{{{RUN}, phase=~"{"|".join(group)}"}}'
            f" * on (run) group_left () {formulas.STEP_SECONDS}",
            "{{phase}}",
        )
        for group in (palette.WORKING, palette.MOVING, palette.WAITING)
    ),
    unit="s",
    colours=palette.PHASES,
)

STEP_TIMES = buckets(
    About(
        title="Step times",
        question="Are all steps alike, or are there two kinds?",
        healthy="one band of cells, one or two buckets high.",
        reading=(
            "Colour counts steps. A second band above the first is rare stalls (a checkpoint, a collection of garbage, "
            "a new shard); a band that moves up as a whole is a straggler or a bottleneck."
        ),
    ),
    Query(f"sum by (le) (increase(training_step_seconds_bucket{{{RUN}}}[{WINDOW}]))", "{{le}}"),
    unit="s",
)

QUANTILES = lines(
    About(
        title="Step time",
        question="How far are the slowest steps from the usual one?",
        healthy="the three lines close together and flat.",
        reading="Quantiles are as coarse as the histogram's buckets. p99 far above p50 is rare stalls.",
    ),
    (
        Query(_quantile(0.5), "p50"),
        Query(_quantile(0.99), "p99"),
        Query(formulas.STEP_SECONDS, "Mean"),
    ),
    unit="s",
    colours={"p50": palette.FIRST, "p99": palette.SECOND, "Mean": palette.NEUTRAL},
    lowest=0,
)

OVERLAP = lines(
    About(
        title="Communication: hidden and exposed",
        question="How much of the communication hides behind computing?",
        healthy="the exposed line far below the other, for a job that overlaps the two.",
        reading=(
            "Seconds per step inside collective kernels, and those of them in which the rank had nothing else to do. "
            "Two lines close together: nothing overlaps. Both up: the fabric or a late peer."
        ),
        next_board="network-and-collectives",
    ),
    (
        Query(formulas.per_step(KERNELS), "Inside collectives"),
        Query(formulas.per_step(EXPOSED), "Exposed"),
    ),
    unit="s",
    colours={"Inside collectives": palette.FIRST, "Exposed": palette.SECOND},
    lowest=0,
)

BANDWIDTH = lines(
    About(
        title="Bus bandwidth of the collectives",
        question="Does the fabric carry what it should?",
        healthy="the highest line near what nccl-tests measures for messages of this size.",
        reading=(
            "Bytes on the bus over time inside collectives, rank by rank. Spinning counts as time, so a rank that "
            "waits shows less; the last to arrive, the highest line, shows the transfer itself."
        ),
    ),
    (
        Query(f"max by (run) ({RANK_BANDWIDTH})", "Last to arrive"),
        Query(f"quantile by (run) (0.5, {RANK_BANDWIDTH})", "Median of the ranks"),
    ),
    unit="Bps",
    colours={"Last to arrive": palette.FIRST, "Median of the ranks": palette.NEUTRAL},
    lowest=0,
)

PACE = lines(
    About(
        title="Steps per second",
        question="Does the job keep its pace?",
        healthy="flat.",
        reading="Counted against wall clock: stops and restarts show here and not in the step time.",
    ),
    (Query(f"sum(rate(training_steps_total{{{RUN}}}[{WINDOW}]))", "Steps"),),
    unit="suffix: steps/s",
    colours={"Steps": palette.FIRST},
    lowest=0,
)

BOARD = Board(
    title="Step anatomy",
    description="What one training step is made of: computing, moving data and waiting, and what hides behind what.",
    panels=(
        Placed(SUMMARY, width=24, height=4),
        Placed(PARTS, width=12, height=9),
        Placed(phase_shares(), width=12, height=9),
        Placed(STEP_TIMES, width=12, height=8),
        Placed(QUANTILES, width=12, height=8),
        Placed(OVERLAP, width=12, height=7),
        Placed(BANDWIDTH, width=12, height=7),
    ),
    rows=(Row("Pace", (Placed(PACE, width=12, height=7), Placed(both_mfu(), width=12, height=7))),),
)
