"""The trap: utilization says that the GPUs are busy, MFU says what the job gets out of them."""

from __future__ import annotations

from boards_lib import formulas, palette
from boards_lib.about import About, Limits, percent
from boards_lib.layout import Board, Placed, Row
from boards_lib.lines import lines, logarithmic
from boards_lib.queries import RUN, Query
from boards_lib.shared import alerts, both_mfu, phase_shares
from boards_lib.style import RATIO
from boards_lib.tiles import Tile, tiles
from diagnosis import thresholds

POWER = formulas.on_gpus(f"avg_over_time(DCGM_FI_DEV_POWER_USAGE[{formulas.WINDOW}])", formulas.OF_RUN)

LOOKS = tiles(
    About(
        title="How busy the GPUs look",
        question="Which of these numbers tells computing from waiting?",
        healthy=(
            f"utilization near 100 %, SM active above {percent(thresholds.SM_ACTIVE_HEALTHY)}, occupancy above "
            f"{percent(thresholds.SM_OCCUPANCY_HEALTHY)} (matrix kernels need no more), tensor near the MFU beside it."
        ),
        reading=(
            "Utilization asks only whether any kernel is resident, and a kernel that spins in an all-reduce is. It "
            "holds a tenth of the SMs and no tensor core: when utilization stays and the others fall, the GPUs wait."
        ),
        next_board="gpus",
    ),
    (
        Tile(
            name="GPU utilization",
            expr=formulas.UTILIZATION,
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
        question="How much of the hardware's arithmetic ends up in the model, and does the model learn?",
        healthy=f"MFU of {percent(thresholds.MFU_HEALTHY)} or more, a loss that falls slowly.",
        reading=(
            f"Below {percent(thresholds.MFU_LOW)} a dense run wastes a quarter or more of its GPUs. A run can lose its "
            "loss with every hardware panel unchanged."
        ),
        next_board="step-anatomy",
    ),
    (
        Tile(
            name="MFU",
            expr=formulas.MFU,
            limits=Limits(low=thresholds.MFU_LOW, healthy=thresholds.MFU_HEALTHY),
            decimals=1,
        ),
        Tile(name="Loss", expr=f"training_loss{{{RUN}}}", unit="short", decimals=2),
    ),
)

TRAP = lines(
    About(
        title="The trap: utilization and MFU on one axis",
        question="Are the GPUs busy, or do they look busy?",
        healthy=f"utilization near 100 % and MFU at the dashed line ({percent(thresholds.MFU_HEALTHY)}) or above.",
        reading="The gap between the two lines is what waiting costs. Only one of the lines moves when ranks wait.",
        next_board="step-anatomy",
    ),
    (Query(formulas.UTILIZATION, "GPU utilization"), Query(formulas.MFU, "MFU")),
    unit=RATIO,
    colours={"GPU utilization": palette.UTILIZATION, "MFU": palette.MFU},
    reference=thresholds.MFU_HEALTHY,
)

TRADITIONAL = alerts(
    About(
        title="What traditional alerts say",
        question="Do the alerts that every GPU cluster has see anything?",
        healthy="silent.",
        reading=(
            "They ask for utilization, temperature, memory and whether targets answer. Most of what slows a training "
            "job down leaves all of these as they were, so this panel stays silent while the one beside it does not."
        ),
    ),
    "traditional",
)

TRAINING = alerts(
    About(
        title="What training alerts say",
        question="Do alerts that look at the job see anything?",
        healthy="silent.",
        reading=(
            "They ask for MFU against the job's own best, ranks against the median of their peers, waiting for input, "
            "exposed communication, gradients and progress. Each names what to look at next."
        ),
    ),
    "training",
)

TOKENS = lines(
    About(
        title="Tokens per second and GPU, against the run's own best",
        question="How much faster could this job be on these GPUs?",
        healthy="the line on the dashed one: what the run would do at its own best MFU of the last 15 minutes.",
        reading=(
            "Its own best is the fairest measure of a job: same model, same GPUs, same batch. The distance is what is "
            "lost now. A run that was slow from its first minute on has no better past: judge it by MFU."
        ),
    ),
    (
        Query(formulas.TOKENS_PER_GPU, "Now"),
        Query(formulas.TOKENS_AT_BEST, "At its best"),
    ),
    unit="suffix: tokens/s",
    colours={"Now": palette.FIRST, "At its best": palette.NEUTRAL},
    dashed=("At its best",),
    lowest=0,
)

GRAD_NORM = logarithmic(
    lines(
        About(
            title="Gradient norm, before clipping",
            question="Is the run about to come apart?",
            healthy=f"steady; lone spikes stay below {thresholds.GRAD_NORM_SPIKE_FACTOR:.0f} times the running median.",
            reading="The norm climbs a few steps before the loss does. The axis is logarithmic.",
            next_board="learning",
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
        Query(formulas.STEP_SECONDS, "Mean"),
        Query(
            f"histogram_quantile(0.99, sum by (le) (rate(training_step_seconds_bucket{{{RUN}}}[{formulas.WINDOW}])))",
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
        Query(f"avg({POWER})", "Mean"),
        Query(f"min({POWER})", "Lowest"),
    ),
    unit="watt",
    colours={"Highest": palette.SECOND, "Mean": palette.NEUTRAL, "Lowest": palette.FIRST},
)

BOARD = Board(
    title="The trap",
    description="Why a training job can show 99 % GPU utilization and do a fraction of the work, on one page.",
    panels=(
        Placed(LOOKS, width=16, height=4),
        Placed(WORK, width=8, height=4),
        Placed(TRAP, width=13, height=8),
        Placed(phase_shares(), width=11, height=8),
        Placed(TRADITIONAL, width=12, height=5),
        Placed(TRAINING, width=12, height=5),
        Placed(TOKENS, width=12, height=6),
        Placed(GRAD_NORM, width=12, height=6),
    ),
    rows=(
        Row(
            "What waiting costs",
            (
                Placed(STEP_TIME, width=8, height=8),
                Placed(POWER_DRAW, width=8, height=8),
                Placed(both_mfu(), width=8, height=8),
            ),
        ),
    ),
)
