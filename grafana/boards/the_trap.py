"""The trap: utilization says that the GPUs are busy, MFU says what the job gets out of them."""

from __future__ import annotations

from boards_lib import palette
from boards_lib.layout import Board, Placed, Row
from boards_lib.panels import About, Limits, Tile, lines, logarithmic, shares, tiles
from boards_lib.queries import RUN, Query
from diagnosis import thresholds

UTILIZATION = f"run:DCGM_FI_DEV_GPU_UTIL:avg1m{{{RUN}}} / 100"
MFU = f"run:training_mfu:ratio_rate1m{{{RUN}}}"
POWER = (
    f"training_rank_info{{{RUN}}} * on (UUID) group_left () "
    "max by (UUID) (avg_over_time(DCGM_FI_DEV_POWER_USAGE[$__rate_interval]))"
)


def _percent(ratio: float) -> str:
    return f"{100 * ratio:.0f} %"


LOOKS = tiles(
    About(
        title="How busy the GPUs look",
        question="Which of these numbers tells computing from waiting?",
        healthy=(
            f"utilization near 100 %, SM active above {_percent(thresholds.SM_ACTIVE_HEALTHY)}, occupancy above "
            f"{_percent(thresholds.SM_OCCUPANCY_HEALTHY)} (matrix kernels need no more), tensor near the MFU beside it."
        ),
        reading=(
            "Utilization asks only whether any kernel is resident, and a kernel that spins in an all-reduce is. It "
            "holds a tenth of the SMs and no tensor core: when utilization stays and the others fall, the GPUs wait."
        ),
    ),
    (
        Tile(
            name="GPU utilization",
            expr=UTILIZATION,
            limits=Limits(low=thresholds.UTIL_HIGH_PERCENT / 100, healthy=thresholds.UTIL_HIGH_PERCENT / 100),
            decimals=1,
        ),
        Tile(
            name="SM active",
            expr=f"run:DCGM_FI_PROF_SM_ACTIVE:avg1m{{{RUN}}}",
            limits=Limits(low=thresholds.SM_ACTIVE_SPINNING, healthy=thresholds.SM_ACTIVE_HEALTHY),
        ),
        Tile(
            name="SM occupancy",
            expr=f"run:DCGM_FI_PROF_SM_OCCUPANCY:avg1m{{{RUN}}}",
            limits=Limits(low=thresholds.SM_OCCUPANCY_HEALTHY, healthy=thresholds.SM_OCCUPANCY_HEALTHY),
        ),
        Tile(
            name="Tensor active",
            expr=f"run:DCGM_FI_PROF_PIPE_TENSOR_ACTIVE:avg1m{{{RUN}}}",
            limits=Limits(low=thresholds.TENSOR_ACTIVE_LOW, healthy=thresholds.TENSOR_ACTIVE_HEALTHY),
        ),
    ),
)

WORK = tiles(
    About(
        title="What the job gets",
        question="How much of the hardware's arithmetic ends up in the model?",
        healthy=f"MFU of {_percent(thresholds.MFU_HEALTHY)} or more, and tokens/s flat.",
        reading=f"Below {_percent(thresholds.MFU_LOW)} a dense run wastes a quarter or more of its GPUs.",
    ),
    (
        Tile(name="MFU", expr=MFU, limits=Limits(low=thresholds.MFU_LOW, healthy=thresholds.MFU_HEALTHY), decimals=1),
        Tile(
            name="Tokens per GPU",
            expr=f"run:training_tokens_per_gpu:rate1m{{{RUN}}}",
            unit="suffix: tokens/s",
        ),
    ),
)

TRAP = lines(
    About(
        title="The trap: utilization and MFU on one axis",
        question="Are the GPUs busy, or do they look busy?",
        healthy=f"utilization near 100 % and MFU at the dashed line ({_percent(thresholds.MFU_HEALTHY)}) or above.",
        reading="The gap between the two lines is what waiting costs. Only one of the lines moves when ranks wait.",
    ),
    (Query(UTILIZATION, "GPU utilization"), Query(MFU, "MFU")),
    unit="percentunit",
    colours={"GPU utilization": palette.UTILIZATION, "MFU": palette.MFU},
    reference=thresholds.MFU_HEALTHY,
)

PHASES = shares(
    About(
        title="Where the time goes",
        question="What do the ranks do with a second of wall clock?",
        healthy=(
            f"mostly blue (computing), data_wait below {_percent(thresholds.DATA_WAIT_HIGH)}, collective and "
            f"collective_wait together below {_percent(thresholds.COLLECTIVE_HIGH)}."
        ),
        reading=(
            "Grey moves data, orange waits. One late rank is data_wait on itself and collective_wait on all others: "
            "read the two together."
        ),
    ),
    tuple(
        Query(f'run:training_phase_share:ratio_rate1m{{{RUN}, phase=~"{"|".join(group)}"}}', "{{phase}}")
        for group in (palette.WORKING, palette.MOVING, palette.WAITING)
    ),
    colours=palette.PHASES,
)

LOSS = lines(
    About(
        title="Loss",
        question="Does the model learn?",
        healthy="falling slowly, with noise of a few percent.",
        reading="A run can lose its loss with every hardware panel unchanged. NaN ends the line.",
    ),
    (Query(f"training_loss{{{RUN}}}", "Loss"),),
    unit="short",
    colours={"Loss": palette.FIRST},
    decimals=3,
)

GRAD_NORM = logarithmic(
    lines(
        About(
            title="Gradient norm, before clipping",
            question="Is the run about to come apart?",
            healthy=f"steady; lone spikes stay below {thresholds.GRAD_NORM_SPIKE_FACTOR:.0f} times the running median.",
            reading="The norm climbs a few steps before the loss does. The axis is logarithmic.",
        ),
        (Query(f"training_grad_norm{{{RUN}}}", "Gradient norm"),),
        unit="short",
        colours={"Gradient norm": palette.FIRST},
    )
)

STEP_TIME = lines(
    About(
        title="Step time",
        question="How long does a step take, and how long do the slowest take?",
        healthy="both lines flat and close together.",
        reading="A high p99 over a flat mean is rare stalls; both rising together is a straggler or a bottleneck.",
    ),
    (
        Query(f"run:training_step_seconds:mean_rate1m{{{RUN}}}", "Mean"),
        Query(
            f"histogram_quantile(0.99, sum by (le) (rate(training_step_seconds_bucket{{{RUN}}}[$__rate_interval])))",
            "p99",
        ),
    ),
    unit="s",
    colours={"Mean": palette.FIRST, "p99": palette.SECOND},
)

POWER_DRAW = lines(
    About(
        title="Power of one GPU",
        question="Do the GPUs draw the power of computing?",
        healthy="the three lines close together and steady.",
        reading=(
            "A spinning GPU draws a quarter of a computing one, so power falls where utilization does not; the GPU "
            "that everyone waits for keeps its power and is the maximum."
        ),
    ),
    (
        Query(f"max({POWER})", "Highest"),
        Query(f"run:DCGM_FI_DEV_POWER_USAGE:avg1m{{{RUN}}}", "Mean"),
        Query(f"min({POWER})", "Lowest"),
    ),
    unit="watt",
    colours={"Highest": palette.SECOND, "Mean": palette.NEUTRAL, "Lowest": palette.FIRST},
)

MFU_BOTH = lines(
    About(
        title="MFU of the steps, and against wall clock",
        question="Is time lost inside the steps or between them?",
        healthy=f"one line on the other, at {_percent(thresholds.MFU_HEALTHY)} or above.",
        reading="Stops, restarts and hangs cost wall clock only: the lines part.",
    ),
    (Query(MFU, "Inside steps"), Query(f"run:training_mfu_wall:ratio_rate1m{{{RUN}}}", "Wall clock")),
    unit="percentunit",
    colours={"Inside steps": palette.MFU, "Wall clock": palette.NEUTRAL},
)

BOARD = Board(
    title="The trap",
    description="Why a training job can show 99 % GPU utilization and do a fraction of the work, on one page.",
    panels=(
        Placed(LOOKS, width=16, height=5),
        Placed(WORK, width=8, height=5),
        Placed(TRAP, width=13, height=11),
        Placed(PHASES, width=11, height=11),
        Placed(LOSS, width=12, height=8),
        Placed(GRAD_NORM, width=12, height=8),
    ),
    rows=(
        Row(
            "What waiting costs",
            (
                Placed(STEP_TIME, width=8, height=8),
                Placed(POWER_DRAW, width=8, height=8),
                Placed(MFU_BOTH, width=8, height=8),
            ),
        ),
    ),
)
