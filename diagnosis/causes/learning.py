"""What goes wrong in the model while every machine is well: only the learning series show it."""

from __future__ import annotations

from collections.abc import Sequence

from diagnosis import thresholds as limit
from diagnosis.cause import Case, Cause
from diagnosis.verdict import Evidence, Finding
from diagnosis.window import Window


class NanLoss(Cause):
    """Steps that are not finite, without an explosion before them."""

    name = "nan_loss"
    title = "The loss is not a number any more"
    confirm = "torch.autograd.set_detect_anomaly(True) on the batch of the first such step; check inputs for NaN"
    remedy = "Roll back to the last good checkpoint and skip the batch; everything since is lost."

    def find(self, case: Case) -> Sequence[Finding]:
        """The NaN."""
        steps = case.now.grown("training_nonfinite_steps_total")
        if not steps > 0:
            return ()
        evidence = (Evidence("steps whose loss or gradient was not finite", steps, 0.0, "steps"),)
        return (self.finding(evidence, confidence=0.95, urgency=1.0),)


class LossScaleCollapse(Cause):
    """fp16 steps that overflow and are skipped, and a loss scale that is halved again and again."""

    name = "loss_scale_collapse"
    title = "Values overflow fp16: the loss scale collapses and steps are skipped"
    confirm = "the scaler's state_dict over steps; largest gradient and activation per layer"
    remedy = "Find the layer that overflows, lower the learning rate, or train in bf16."

    def find(self, case: Case) -> Sequence[Finding]:
        """The collapse."""
        now, before = case.now, case.before
        skipped = now.grown("training_skipped_steps_total")
        scale = now.single["training_loss_scale"]
        usual = before.single["training_loss_scale"] if before is not None else float("nan")
        fallen = scale / usual if usual > 0 else 1.0
        if not (skipped >= limit.SKIPPED_STEPS_HIGH or fallen <= limit.LOSS_SCALE_DROP):
            return ()
        evidence = (
            Evidence("steps skipped", skipped, limit.SKIPPED_STEPS_HIGH, "steps"),
            Evidence("loss scale", scale, usual, ""),
        )
        share = skipped / now.steps if now.steps > 0 else 0.0
        return (self.finding(evidence, confidence=0.9, urgency=max(0.4, min(1.0, share))),)


class LossPlateau(Cause):
    """A learning rate that was cut, so that the loss goes level."""

    name = "loss_plateau"
    title = "The learning rate has collapsed, and the model learns nothing from its steps"
    confirm = "the scheduler's state and its arguments; loss against tokens of an earlier run"
    remedy = "Restore the schedule and roll back to the checkpoint before the cut."

    def find(self, case: Case) -> Sequence[Finding]:
        """The cut, against the better window before it."""
        if case.before is None:
            return ()
        rate, usual = _rate(case.now), _rate(case.before)
        if not (usual > 0 and rate < limit.LEARNING_RATE_DROP * usual):
            return ()
        evidence = (
            Evidence("learning rate", rate, usual, ""),
            Evidence("loss", case.now.single["training_loss"], case.before.single["training_loss"], ""),
        )
        return (self.finding(evidence, confidence=0.85, urgency=0.4),)


def _rate(window: Window) -> float:
    return window.single["training_learning_rate"]


CAUSES = (NanLoss(), LossScaleCollapse(), LossPlateau())
