"""Input and storage: whether the next batch is there when it is needed."""

from __future__ import annotations

from boards_lib import formulas, palette
from boards_lib.about import About, Ceiling, percent
from boards_lib.formulas import OF_NODES, WINDOW, on_gpus, on_ranks, per_step, phase_by_rank
from boards_lib.heat import rows
from boards_lib.layout import Board, Placed
from boards_lib.lines import lines
from boards_lib.queries import NODE, RUN, Query
from boards_lib.style import RATIO
from boards_lib.tiles import Tile, tiles
from boards_lib.variables import node_variable, run_variable
from diagnosis import thresholds

FILL = (
    f"max by (run, rank) (training_dataloader_queue_batches{{{RUN}}})"
    f" / (max by (run, rank) (training_dataloader_capacity_batches{{{RUN}}}) > 0)"
)
STORAGE = f"sum by (Hostname) (rate(training_storage_read_bytes_total{{{RUN}, {NODE}}}[{WINDOW}]))"
DATA_WAIT = on_ranks(formulas.DATA_WAIT, OF_NODES)
QUEUE = on_ranks(FILL, OF_NODES)
COPY = on_ranks(per_step(phase_by_rank("h2d")), OF_NODES)

SUMMARY = tiles(
    About(
        title="Is the job fed?",
        question="Does the job wait for its input?",
        healthy=f"less than {percent(thresholds.DATA_WAIT_HIGH)} lost to late batches, and queues that are not empty.",
        reading=(
            "Lost is what late batches cost the job, whoever they are late on: a batch that is late on one rank makes "
            "all others wait in the collective. Mean waiting understates it."
        ),
    ),
    (
        Tile(name="Lost to late batches", expr=formulas.INPUT_LATE, limits=Ceiling(high=thresholds.DATA_WAIT_HIGH)),
        Tile(name="Mean waiting", expr=f"avg({DATA_WAIT})", decimals=1),
        Tile(name="Longest waiting", expr=f"max({DATA_WAIT})", decimals=1),
        Tile(name="Emptiest queue", expr=f"min({QUEUE})"),
        Tile(name="Read from storage", expr=f"sum({STORAGE})", unit="Bps", decimals=1),
    ),
)

WAITING = lines(
    About(
        title="Waiting for data",
        question="Do some ranks wait for data, or all of them?",
        healthy=f"both lines below {percent(thresholds.DATA_WAIT_HIGH)}, the dashed one.",
        reading="Both lines up: the input is too slow for all. Only the highest: one node, one mount, or one worker.",
    ),
    (Query(f"max({DATA_WAIT})", "Longest"), Query(f"avg({DATA_WAIT})", "Mean")),
    unit=RATIO,
    colours={"Longest": palette.SECOND, "Mean": palette.FIRST},
    reference=thresholds.DATA_WAIT_HIGH,
)

QUEUES = lines(
    About(
        title="Fill of the loaders' queues",
        question="How much is left before the job has to wait?",
        healthy="full: the lines at 100 %, with short dips.",
        reading=(
            "A full queue absorbs a stall as long as itself. Empty on all ranks: too few workers, or storage too slow. "
            "A loader without workers has no queue and shows none."
        ),
        empty="No queue: this job loads in the training process. Start another with `make lab`",
    ),
    (Query(f"quantile(0.5, {QUEUE})", "Median"), Query(f"min({QUEUE})", "Emptiest")),
    unit=RATIO,
    colours={"Median": palette.FIRST, "Emptiest": palette.SECOND},
)

READS = lines(
    About(
        title="Read from storage, node by node",
        question="Does every node get its data at the same rate?",
        healthy="the lines together and flat.",
        reading=(
            "All down with empty queues: storage. One node down: its mount, or its workers, which then read less "
            "although storage answers as fast as ever. The ten nodes that read least are shown."
        ),
    ),
    (Query(f"bottomk(10, {STORAGE})", "{{Hostname}}"), Query(f"quantile(0.5, {STORAGE})", "Median of the nodes")),
    unit="Bps",
    colours={"Median of the nodes": palette.SECOND},
    dashed=("Median of the nodes",),
    lowest=0,
)

RANKS = rows(
    About(
        title="Waiting for data, rank by rank",
        question="Always the same ranks, or another one in each step?",
        healthy="low everywhere.",
        reading="Rows of one node: that node. All rows a little: the slow tail of shared storage. All high: everybody.",
        next_board="ranks",
    ),
    Query(
        f"{on_ranks(formulas.DATA_WAIT, OF_NODES)} and on (rank) {formulas.longest('data_wait', OF_NODES)}",
        "{{rank}}",
    ),
    unit=RATIO,
    decimals=1,
)

TO_DEVICE = lines(
    About(
        title="Copy to the device, per step",
        question="Is the way from host memory to the GPU equally fast for all ranks?",
        healthy="both lines together, near 0 where the copy hides behind the step before.",
        reading="A rank far above the median sits on the wrong NUMA node or behind a bad PCIe link.",
    ),
    (Query(f"max({COPY})", "Longest"), Query(f"quantile(0.5, {COPY})", "Median")),
    unit="s",
    colours={"Longest": palette.SECOND, "Median": palette.FIRST},
    lowest=0,
)

PCIE = lines(
    About(
        title="PCIe traffic into one GPU",
        question="Does the data arrive at the GPUs?",
        healthy="both lines together and steady.",
        reading=(
            "Host to device, seen from the GPU. It falls where a batch is late. Much more than a batch needs, together "
            "with a low bus bandwidth, is GPU traffic that goes through host memory instead of GPUDirect."
        ),
    ),
    (
        Query(f"max({on_gpus('DCGM_FI_PROF_PCIE_RX_BYTES', OF_NODES)})", "Highest"),
        Query(f"min({on_gpus('DCGM_FI_PROF_PCIE_RX_BYTES', OF_NODES)})", "Lowest"),
    ),
    unit="Bps",
    colours={"Highest": palette.SECOND, "Lowest": palette.FIRST},
    lowest=0,
)

SAMPLES = lines(
    About(
        title="Samples per second",
        question="What does the input have to deliver?",
        healthy="flat.",
        reading="What the job consumes: a loader must be able to deliver more than this, or its queue runs empty.",
    ),
    (Query(f"sum(rate(training_samples_total{{{RUN}}}[{WINDOW}]))", "Samples"),),
    unit="suffix: samples/s",
    colours={"Samples": palette.FIRST},
    lowest=0,
)

BOARD = Board(
    title="Input and storage",
    description="Whether the next batch is there when the job needs it, and who is late when it is not.",
    variables=(run_variable(), node_variable()),
    panels=(
        Placed(SUMMARY, width=24, height=4),
        Placed(WAITING, width=12, height=8),
        Placed(QUEUES, width=12, height=8),
        Placed(READS, width=12, height=8),
        Placed(RANKS, width=12, height=8),
        Placed(TO_DEVICE, width=8, height=7),
        Placed(PCIE, width=8, height=7),
        Placed(SAMPLES, width=8, height=7),
    ),
)
