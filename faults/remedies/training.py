"""The training script and its settings."""

from __future__ import annotations

from faults.effects import Effects
from faults.kind import Param
from faults.remedy import Dose, Remedy


class Restart(Remedy):
    """The same job again, from its last good checkpoint. Ends what hung, and nothing that will happen again."""

    name = "restart_job"
    summary = "Start the job again from its last good checkpoint, with nothing changed."
    restarts = True

    def treat(self, effects: Effects, dose: Dose) -> None:
        """What every start brings is brought already."""


class RollBack(Remedy):
    """Weights, optimizer and loss scale of the last good checkpoint."""

    name = "roll_back"
    summary = "Go back to the last good checkpoint. What ruined the model ruins it again, unless it is gone."
    restarts = True

    def treat(self, effects: Effects, dose: Dose) -> None:
        """What every start brings is brought already."""


class ClipAndLowerRate(Remedy):
    """Smaller steps along shorter gradients, from before the trouble on."""

    name = "clip_and_lower_lr"
    summary = "Clip gradients at a norm of 1, multiply the learning rate, and go on from the last good checkpoint."
    setting = Param(
        name="value", type="number", default=0.3, unit="ratio", description="Factor on the learning rate.",
        minimum=0.01, maximum=1.0,
    )  # fmt: skip
    restarts = True
    _STABLE = 0.5
    """Factor up to which the optimisation is stable again: the divergence that is modelled is one of the learning rate,
    and its edge lies at about twice what is stable."""

    def treat(self, effects: Effects, dose: Dose) -> None:
        """Stable, where the rate is low enough; slower to learn in any case."""
        if dose.number <= self._STABLE:
            effects.instabilities.clear()
        effects.learning_rate_factor *= dose.number


class LearningRate(Remedy):
    """The learning rate that the schedule says, times a factor."""

    name = "learning_rate_factor"
    summary = "Multiply the learning rate of the schedule; 1 is the schedule itself, whatever was changed before."
    setting = Param(
        name="value", type="number", default=1.0, unit="ratio", description="Factor on the schedule's rate.",
        minimum=0.01, maximum=1.0,
    )  # fmt: skip
    restarts = True

    def treat(self, effects: Effects, dose: Dose) -> None:
        """Have this rate, and no other."""
        effects.learning_rate_factor = dose.number


class SkipBadBatches(Remedy):
    """Batches whose loss or gradient is not finite are left out."""

    name = "skip_nonfinite_steps"
    summary = "Skip steps whose gradients are not finite, and go on from the last good checkpoint."
    restarts = True

    def treat(self, effects: Effects, dose: Dose) -> None:
        """No such value reaches the weights."""
        effects.poisons.clear()


class WiderRange(Remedy):
    """bf16 has the range of fp32: nothing overflows, and no loss scale is needed."""

    name = "train_in_bf16"
    summary = "Keep the layers that overflow in bf16, and go on from the last good checkpoint."
    restarts = True
    needs = ("loss_scaling",)

    def treat(self, effects: Effects, dose: Dose) -> None:
        """Nothing overflows beyond what it does anyway."""
        effects.overflow_factor = 1.0


class FreezeCollector(Remedy):
    """Python's garbage collector at a time of the job's choosing, on all ranks together."""

    name = "gc_freeze"
    summary = "Disable automatic garbage collection, and collect on all ranks in the same step."
    restarts = True

    def treat(self, effects: Effects, dose: Dose) -> None:
        """No process stops by itself."""
        effects.pauses.clear()


class AsyncCheckpoints(Remedy):
    """Checkpoints to host memory first, to storage beside the steps that follow."""

    name = "async_checkpoints"
    summary = "Write checkpoints from a copy in host memory, beside the steps that follow."
    restarts = True

    def treat(self, effects: Effects, dose: Dose) -> None:
        """Nobody waits for storage."""
        effects.slow_checkpoints.clear()


class PackSequences(Remedy):
    """Batches of equal work instead of equal size."""

    name = "balance_sequences"
    summary = "Pack sequences so that all micro-batches cost the same work."
    restarts = True

    def treat(self, effects: Effects, dose: Dose) -> None:
        """No batch is dearer than another."""
        effects.unevennesses.clear()


REMEDIES = (
    Restart(),
    RollBack(),
    ClipAndLowerRate(),
    LearningRate(),
    SkipBadBatches(),
    WiderRange(),
    FreezeCollector(),
    AsyncCheckpoints(),
    PackSequences(),
)
