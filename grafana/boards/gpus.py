"""GPUs: what the devices say of themselves. Only dcgm-exporter's families, so that it works on a real one unchanged."""

from __future__ import annotations

from boards._gpus_in_detail import DETAILS
from boards_lib import palette
from boards_lib.about import About, Ceiling, Limits, percent
from boards_lib.devices import (
    BITS,
    NAME,
    NO_GPUS,
    NOT_COLLECTED,
    SPREAD,
    WHICH,
    board,
    held,
    spread,
)
from boards_lib.formulas import MOST_ROWS
from boards_lib.heat import rows
from boards_lib.layout import Board, Placed
from boards_lib.lines import lines
from boards_lib.queries import GPU, Query
from boards_lib.style import RATIO
from boards_lib.tiles import Tile, tiles
from boards_lib.variables import gpu_node_variable, gpu_variable, run_passed_on
from diagnosis import thresholds

SUMMARY = tiles(
    About(
        title="The chosen GPUs",
        question="Are all GPUs there, cool, and free of errors?",
        healthy=(
            f"the number that you expect, the hottest below {thresholds.GPU_HOT_CELSIUS:.0f} °C, no GPU with an XID."
        ),
        reading=(
            "Utilization says that some kernel was resident, tensor activity that it multiplied matrices. An XID is "
            "the last error code of a GPU and stays until the driver is loaded again."
        ),
        empty=NO_GPUS,
    ),
    (
        Tile(name="GPUs", expr=f"count({board('DCGM_FI_DEV_GPU_TEMP')})", unit="none"),
        Tile(
            name="Utilization",
            expr=f"avg({board('DCGM_FI_DEV_GPU_UTIL')}) / 100",
            limits=Limits(low=thresholds.UTIL_HIGH_PERCENT / 100, healthy=thresholds.UTIL_HIGH_PERCENT / 100),
        ),
        Tile(
            name="Tensor active",
            expr=f"avg({board('DCGM_FI_PROF_PIPE_TENSOR_ACTIVE')})",
            limits=Limits(low=thresholds.TENSOR_ACTIVE_LOW, healthy=thresholds.TENSOR_ACTIVE_HEALTHY),
        ),
        Tile(name="Power", expr=f"sum({board('DCGM_FI_DEV_POWER_USAGE')})", unit="watt", decimals=1),
        Tile(
            name="Hottest",
            expr=f"max({board('DCGM_FI_DEV_GPU_TEMP')})",
            unit="celsius",
            limits=Ceiling(high=thresholds.GPU_HOT_CELSIUS),
        ),
        Tile(name="With an XID", expr=f"sum({board('DCGM_FI_DEV_XID_ERRORS')} > bool 0)", unit="none"),
    ),
)

ACTIVITY = lines(
    About(
        title="From resident to useful",
        question="Do the GPUs compute, or is there only a kernel on them?",
        healthy=(
            f"SM active above {percent(thresholds.SM_ACTIVE_HEALTHY)}, tensor active above "
            f"{percent(thresholds.TENSOR_ACTIVE_HEALTHY)}; occupancy of {percent(thresholds.SM_OCCUPANCY_HEALTHY)} is "
            "enough for matrix kernels."
        ),
        reading=(
            "Means over the chosen GPUs, from the coarsest measure to the finest. Utilization and engine up, SM active "
            "and tensor down: kernels spin in collectives. All down: the GPUs have nothing to do."
        ),
        empty=NO_GPUS,
    ),
    tuple(
        Query(f"avg({board(metric)}){scale}", name)
        for name, metric, scale in (
            ("GPU utilization", "DCGM_FI_DEV_GPU_UTIL", " / 100"),
            ("Engine active", "DCGM_FI_PROF_GR_ENGINE_ACTIVE", ""),
            ("SM active", "DCGM_FI_PROF_SM_ACTIVE", ""),
            ("SM occupancy", "DCGM_FI_PROF_SM_OCCUPANCY", ""),
            ("Tensor active", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", ""),
            ("Memory active", "DCGM_FI_PROF_DRAM_ACTIVE", ""),
        )
    ),
    unit=RATIO,
    colours=palette.ACTIVITY,
)

TENSOR = rows(
    About(
        title="Tensor activity, GPU by GPU",
        question="Do all GPUs do the same amount of mathematics?",
        healthy=f"one colour, {percent(thresholds.TENSOR_ACTIVE_HEALTHY)} or more.",
        reading=(
            "In one synchronous job all rows change colour together, whoever is at fault. Rows that differ are "
            f"different jobs, or none. Of many GPUs, the {MOST_ROWS} with the least are shown."
        ),
        empty=NOT_COLLECTED,
    ),
    Query(
        f"{board('DCGM_FI_PROF_PIPE_TENSOR_ACTIVE')} and on ({WHICH}) bottomk({MOST_ROWS}, max by ({WHICH}) "
        f"(avg_over_time(DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{{{GPU}}}[$__range] @ end())))",
        NAME,
    ),
    unit=RATIO,
    decimals=2,
)

POWER = rows(
    About(
        title="Power, GPU by GPU",
        question="Which GPU works while the others wait, or the other way round?",
        healthy="one colour, at the high end.",
        reading=(
            "A GPU that waits draws a quarter. One high row among low ones is waited for; one low row among high "
            f"ones is idle or capped. Of many GPUs, the {MOST_ROWS} with the most energy are shown."
        ),
        empty=NO_GPUS,
    ),
    Query(
        f"{board('DCGM_FI_DEV_POWER_USAGE')} and on ({WHICH}) topk({MOST_ROWS}, max by ({WHICH}) "
        f"(avg_over_time(DCGM_FI_DEV_POWER_USAGE{{{GPU}}}[$__range] @ end())))",
        NAME,
    ),
    unit="watt",
    decimals=0,
)

TEMPERATURE = lines(
    About(
        title="Temperature",
        question="Is any GPU too hot?",
        healthy=f"all below {thresholds.GPU_HOT_CELSIUS:.0f} °C, the dashed line.",
        reading="One GPU far above the median has a cooling problem. Waiting GPUs cool down, which hides it again.",
        empty=NO_GPUS,
    ),
    spread("DCGM_FI_DEV_GPU_TEMP"),
    unit="celsius",
    colours=SPREAD,
    reference=thresholds.GPU_HOT_CELSIUS,
)

CLOCK = lines(
    About(
        title="SM clock",
        question="Does every GPU run at its clock?",
        healthy="the three lines on top of each other.",
        reading="The lowest line falls: that GPU is held down, by heat or by a power limit. See the reasons beside it.",
        empty=NO_GPUS,
    ),
    spread("DCGM_FI_DEV_SM_CLOCK"),
    unit="suffix: MHz",
    colours=SPREAD,
    lowest=0,
)

REASONS = lines(
    About(
        title="GPUs held down, by reason",
        question="Why are clocks low?",
        healthy="all lines at 0. The power limit may show on GPUs that compute at full power.",
        reading="Heat by the hardware is the last resort, at a fraction of the clock: look at cooling first.",
        empty=NOT_COLLECTED,
    ),
    tuple(Query(f"sum({held(bit)})", name) for name, bit in BITS.items()),
    unit="none",
    colours={
        "Heat, by the hardware": palette.DARK,
        "Heat, by the driver": palette.SECOND,
        "Power limit": palette.FIRST,
        "Power brake": palette.NEUTRAL,
    },
    decimals=0,
    lowest=0,
)

HELD = lines(
    About(
        title="Time held down, on the worst GPU",
        question="How much of its time does a GPU spend below its clock?",
        healthy="both lines at 0.",
        reading="From the violation counters: they catch what happens between two readings of the mask.",
        empty=NOT_COLLECTED,
    ),
    tuple(
        Query(f"max(clamp_max({board(metric, over='rate')} / 1e9, 1))", name)
        for name, metric in (("Heat", "DCGM_FI_DEV_THERMAL_VIOLATION"), ("Power", "DCGM_FI_DEV_POWER_VIOLATION"))
    ),
    unit=RATIO,
    colours={"Heat": palette.SECOND, "Power": palette.FIRST},
)

BOARD = Board(
    title="GPUs",
    description="What the devices say of themselves. Reads dcgm-exporter's families alone: no job needs to run.",
    variables=(gpu_node_variable(), gpu_variable(), run_passed_on()),
    panels=(
        Placed(SUMMARY, width=24, height=4),
        Placed(ACTIVITY, width=12, height=9),
        Placed(TENSOR, width=12, height=9),
        Placed(POWER, width=12, height=8),
        Placed(TEMPERATURE, width=12, height=8),
        Placed(CLOCK, width=8, height=7),
        Placed(REASONS, width=8, height=7),
        Placed(HELD, width=8, height=7),
    ),
    rows=DETAILS,
)
