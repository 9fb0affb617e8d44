"""Learning: whether the model gets better, whatever the hardware does."""

from __future__ import annotations

from boards_lib import formulas, palette
from boards_lib.about import About
from boards_lib.formulas import WINDOW
from boards_lib.layout import Board, Placed, Row
from boards_lib.lines import bars, lines, logarithmic
from boards_lib.queries import RUN, Query
from boards_lib.tiles import Tile, tiles
from diagnosis import thresholds

LAST_STEP = f"training_last_step_timestamp_seconds{{{RUN}}}"


def _counted(metric: str) -> str:
    return f"sum(increase({metric}{{{RUN}}}[{WINDOW}]))"


SUMMARY = tiles(
    About(
        title="The run",
        question="Does the run get anywhere?",
        healthy="steps and tokens grow, the last step is no older than two steps take, no step taught nothing.",
        reading=(
            "Steps whose loss or gradient was not finite teach nothing. Skipped ones are normal for FP16 while it "
            "looks for its loss scale, and for nothing else. Counts are those of the time shown."
        ),
    ),
    (
        Tile(name="Steps", expr=f"sum(increase(training_steps_total{{{RUN}}}[$__range]))", unit="short"),
        Tile(name="Tokens", expr=f"sum(increase(training_tokens_total{{{RUN}}}[$__range]))", unit="short", decimals=1),
        Tile(
            name="Since the last step",
            expr=f"max(timestamp({LAST_STEP}) - {LAST_STEP})",
            unit="s",
            decimals=1,
        ),
        Tile(name="Spikes", expr=f"sum(increase(training_grad_norm_spikes_total{{{RUN}}}[$__range]))", unit="short"),
        Tile(name="Not finite", expr=f"sum(increase(training_nonfinite_steps_total{{{RUN}}}[$__range]))", unit="short"),
        Tile(name="Skipped", expr=f"sum(increase(training_skipped_steps_total{{{RUN}}}[$__range]))", unit="short"),
    ),
)

LOSS = lines(
    About(
        title="Loss",
        question="Does the model learn?",
        healthy="falling slowly, with noise of a few percent.",
        reading=(
            "A run can lose its loss with every hardware panel unchanged. NaN ends the line; flat for a long time is a "
            "plateau, a jump that stays is a divergence."
        ),
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
            reading="The norm climbs a few steps before the loss does. The axis is logarithmic; a gap is not finite.",
        ),
        (Query(f"training_grad_norm{{{RUN}}}", "Gradient norm"),),
        unit="short",
        colours={"Gradient norm": palette.FIRST},
    )
)

LOST_STEPS = bars(
    lines(
        About(
            title="Spikes, and steps that taught nothing",
            question="When did steps go wrong?",
            healthy="empty, but for a lone spike.",
            reading=(
                f"A spike is a step whose gradient norm passed {thresholds.GRAD_NORM_SPIKE_FACTOR:.0f} times the "
                "running median: counted step by step, so an explosion between two scrapes is not missed."
            ),
        ),
        (
            Query(_counted("training_grad_norm_spikes_total"), "Spikes"),
            Query(_counted("training_nonfinite_steps_total"), "Not finite"),
            Query(_counted("training_skipped_steps_total"), "Skipped"),
        ),
        unit="short",
        colours={"Spikes": palette.SECOND, "Not finite": palette.DARK, "Skipped": palette.NEUTRAL},
        decimals=0,
        lowest=0,
    )
)

LEARNING_RATE = lines(
    About(
        title="Learning rate",
        question="Where is the run in its schedule?",
        healthy="as the schedule says: a warm-up, then a slow decay.",
        reading="A loss that leaves its course while the rate is high often comes back with a lower one.",
    ),
    (Query(f"training_learning_rate{{{RUN}}}", "Learning rate"),),
    unit="sci",
    colours={"Learning rate": palette.FIRST},
)

LOSS_SCALE = lines(
    About(
        title="Loss scale",
        question="Does FP16 still find room for its gradients?",
        healthy="1 for a job in BF16 or FP32; for FP16 a high power of two that is halved now and then.",
        reading="Halved again and again: gradients overflow on every step, and nothing is learned.",
    ),
    (Query(f"training_loss_scale{{{RUN}}}", "Loss scale"),),
    unit="short",
    colours={"Loss scale": palette.FIRST},
    lowest=0,
)

CHECKPOINTS = bars(
    lines(
        About(
            title="Checkpoints written",
            question="How much work would a restart lose?",
            healthy="one at regular intervals.",
            reading="After a NaN the last good checkpoint is where the run goes on from.",
        ),
        (Query(_counted("training_checkpoints_total"), "Checkpoints"),),
        unit="short",
        colours={"Checkpoints": palette.FIRST},
        decimals=0,
        lowest=0,
    )
)

THROUGHPUT = lines(
    About(
        title="Tokens per second",
        question="How fast does the run get through its data?",
        healthy="flat. It does not move when gradients explode: that is the point.",
        reading="Of the whole job, against wall clock.",
    ),
    (Query(f"sum(rate(training_tokens_total{{{RUN}}}[{WINDOW}]))", "Tokens"),),
    unit="suffix: tokens/s",
    colours={"Tokens": palette.FIRST},
    lowest=0,
)

HARDWARE = lines(
    About(
        title="What the hardware says meanwhile",
        question="Would anybody who watches the GPUs notice?",
        healthy="both lines flat, whatever the loss does.",
        reading="Utilization and MFU. Exploding gradients cost exactly as much arithmetic as healthy ones.",
        next_board="the-trap",
    ),
    (Query(formulas.UTILIZATION, "GPU utilization"), Query(formulas.MFU, "MFU")),
    unit="percentunit",
    colours={"GPU utilization": palette.UTILIZATION, "MFU": palette.MFU},
)

BOARD = Board(
    title="Learning",
    description="Whether the model gets better: loss, gradients, schedule, and the steps that taught nothing.",
    panels=(
        Placed(SUMMARY, width=24, height=4),
        Placed(LOSS, width=12, height=8),
        Placed(GRAD_NORM, width=12, height=8),
        Placed(LOST_STEPS, width=12, height=7),
        Placed(CHECKPOINTS, width=12, height=7),
        Placed(LEARNING_RATE, width=12, height=7),
        Placed(LOSS_SCALE, width=12, height=7),
    ),
    rows=(Row("Against the hardware", (Placed(HARDWARE, width=12, height=7), Placed(THROUGHPUT, width=12, height=7))),),
)
