"""Ranks: which of them the others wait for."""

from __future__ import annotations

from boards_lib import formulas, palette
from boards_lib.about import About, Ceiling, percent
from boards_lib.formulas import CHOSEN, MOST_ROWS, on_gpus, on_ranks, per_step, phase_by_rank
from boards_lib.heat import rows
from boards_lib.layout import Board, Placed, Row
from boards_lib.lines import lines
from boards_lib.notes import note
from boards_lib.queries import Query
from boards_lib.style import RATIO
from boards_lib.tables import Column, table
from boards_lib.variables import node_variable, rank_variable, run_variable
from diagnosis import thresholds

SLOWEST = formulas.longest(formulas.WORK)
WAITED_FOR = formulas.shortest(formulas.COMMUNICATION)
STARVED = formulas.longest("data_wait")
PLACE = "rank, Hostname, gpu"

NOTE = note(
    "How to read these two maps",
    "In a synchronous job every rank needs the same time for a step, so step time names nobody. **Work** does: the "
    "slow rank is the one *high* row on the left. **Waiting** is its mirror image: who comes late finds the others "
    "waiting and waits least, so the culprit is the one *low* row on the right, at 0, and its victims are high. No "
    "row stands out on either: look at the input or at the fabric instead. "
    f"Of a job with more than {MOST_ROWS} ranks, the {MOST_ROWS} with the most work and the {MOST_ROWS} that wait "
    "least are shown; narrow the choice with *Node* and *Rank*.",
)

WORK = rows(
    About(
        title="Work per step, rank by rank",
        question="Does one rank need longer for its own part of the step?",
        healthy=f"one colour; identical GPUs differ by less than {percent(thresholds.WORK_EXCESS_HIGH)}.",
        reading="Copy to the device, forward and backward, in seconds per step. A row that stands out is the culprit.",
    ),
    Query(f"{on_ranks(formulas.WORK_SECONDS)} and on (rank) {SLOWEST}", "{{rank}}"),
    unit="s",
    decimals=3,
)

WAITING = rows(
    About(
        title="Time in collectives beyond the least, rank by rank",
        question="Whom do the others wait for?",
        healthy="one colour, near 0: all ranks wait equally long, which is next to nothing.",
        reading=(
            "Share of wall clock in exposed collectives, less that of the rank with the least. 0 is the rank that all "
            "wait for. A culprit that moves from step to step leaves no low row: every rank waits for every other."
        ),
    ),
    Query(f"{on_ranks(formulas.COLLECTIVE_EXCESS)} and on (rank) {WAITED_FOR}", "{{rank}}"),
    unit="percentunit",
    decimals=1,
)

TABLE = table(
    About(
        title="Ranks by slowness against the median of their peers",
        question="Which rank is slow, on which GPU, and what is different about it?",
        healthy=f"nobody slower than the median by {percent(thresholds.WORK_EXCESS_HIGH)} or more.",
        reading=(
            "Slow with a low clock and a high temperature is throttling; slow at a full clock is a sick GPU or its "
            "host; not slow but waiting for data is the input. Sort by a column with a click."
        ),
        next_board="gpus",
    ),
    tuple(
        Column(
            name=name,
            expr=f"{value} and on (rank) {SLOWEST}",
            unit=unit,
            decimals=decimals,
            limits=limits,
        )
        for name, value, unit, decimals, limits in (
            (
                "Slower than the median",
                on_ranks(formulas.WORK_EXCESS, keep=PLACE),
                RATIO,
                1,
                Ceiling(high=thresholds.WORK_EXCESS_HIGH),
            ),
            ("Work per step", on_ranks(formulas.WORK_SECONDS, keep=PLACE), "s", 3, None),
            (
                "Waits for data",
                on_ranks(formulas.DATA_WAIT, keep=PLACE),
                RATIO,
                1,
                Ceiling(high=thresholds.DATA_WAIT_HIGH),
            ),
            ("Waits beyond the least", on_ranks(formulas.COLLECTIVE_EXCESS, keep=PLACE), RATIO, 1, None),
            ("Power", on_gpus("DCGM_FI_DEV_POWER_USAGE", keep=PLACE), "watt", 0, None),
            ("SM clock", on_gpus("DCGM_FI_DEV_SM_CLOCK", keep=PLACE), "suffix: MHz", 0, None),
            (
                "Temperature",
                on_gpus("DCGM_FI_DEV_GPU_TEMP", keep=PLACE),
                "celsius",
                0,
                Ceiling(high=thresholds.GPU_HOT_CELSIUS),
            ),
        )
    ),
    labels={"rank": "Rank", "Hostname": "Node", "gpu": "GPU"},
    sort_by="Slower than the median",
)

DATA = rows(
    About(
        title="Waiting for data, rank by rank",
        question="Do batches come late, and always to the same ranks?",
        healthy=f"low everywhere; nobody waits more than {percent(thresholds.DATA_WAIT_HIGH)} of the time.",
        reading=(
            "All rows high: the input is too slow for everybody. The rows of one node: its mount or its workers. All "
            "rows a little: another rank is late in each step, the slow tail of shared storage."
        ),
        next_board="input-and-storage",
    ),
    Query(f"{on_ranks(formulas.DATA_WAIT)} and on (rank) {STARVED}", "{{rank}}"),
    unit="percentunit",
    decimals=1,
)

POWER = rows(
    About(
        title="Power, rank by rank",
        question="Who computes while the others wait?",
        healthy="one colour, at the high end.",
        reading="A GPU that waits draws a quarter. One high row among low ones is the rank that they all wait for.",
    ),
    Query(f"{on_gpus('DCGM_FI_DEV_POWER_USAGE')} and on (rank) {SLOWEST}", "{{rank}}"),
    unit="watt",
    decimals=0,
)

COPY = lines(
    About(
        title="Copy to the device, per step",
        question="Is the way from host memory to the GPU equally fast for all ranks?",
        healthy="the lines together, near 0 where the copy hides behind the step before.",
        reading="A rank far above the median sits on the wrong NUMA node or behind a bad PCIe link.",
    ),
    (
        Query(f"max({on_ranks(per_step(phase_by_rank('h2d')))})", "Longest"),
        Query(f"quantile(0.5, {on_ranks(per_step(phase_by_rank('h2d')))})", "Median"),
    ),
    unit="s",
    colours={"Longest": palette.SECOND, "Median": palette.NEUTRAL},
    lowest=0,
)

EXTREMES = lines(
    About(
        title="Slowness of the slowest ranks",
        question="Was it always the same rank?",
        healthy=f"all lines below {percent(thresholds.WORK_EXCESS_HIGH)}, the dashed one.",
        reading="Work beyond the median of the peers, of the five ranks that have worked longest in the time shown.",
    ),
    (
        Query(
            f"clamp_min({on_ranks(formulas.WORK_EXCESS)}, 0) and on (rank) "
            f"{SLOWEST.replace(f'topk({MOST_ROWS},', 'topk(5,')}",
            "rank {{rank}}",
        ),
    ),
    unit="percentunit",
    colours={},
    reference=thresholds.WORK_EXCESS_HIGH,
)

PLACES = table(
    About(
        title="Where the ranks are",
        question="Which GPU of which node is a rank?",
        healthy="every rank once.",
    ),
    (Column(name="There", expr=f"max by (rank, Hostname, gpu, UUID) ({CHOSEN}) and on (rank) {SLOWEST}", decimals=0),),
    labels={"rank": "Rank", "Hostname": "Node", "gpu": "GPU", "UUID": "UUID"},
    sort_by="Rank",
    descending=False,
)

BOARD = Board(
    title="Ranks",
    description="Which rank the others wait for: work, waiting and GPU of each rank, compared with its peers.",
    variables=(run_variable(), node_variable(), rank_variable()),
    panels=(
        Placed(NOTE, width=24, height=4),
        Placed(WORK, width=12, height=10),
        Placed(WAITING, width=12, height=10),
        Placed(TABLE, width=24, height=10),
    ),
    rows=(
        Row(
            "Causes of slowness",
            (
                Placed(EXTREMES, width=12, height=8),
                Placed(COPY, width=12, height=8),
                Placed(DATA, width=12, height=9),
                Placed(POWER, width=12, height=9),
            ),
        ),
        Row("Places", (Placed(PLACES, width=24, height=9),)),
    ),
)
