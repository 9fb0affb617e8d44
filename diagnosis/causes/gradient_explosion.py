"""The optimisation goes unstable while every machine is perfectly well."""

from __future__ import annotations

from collections.abc import Sequence

from diagnosis import thresholds as limit
from diagnosis.cause import Case, Cause
from diagnosis.verdict import Evidence, Finding
from diagnosis.window import Window


class GradientExplosion(Cause):
    """Steps whose gradient norm passed ten times the running median, not counting those that were not finite."""

    name = "gradient_explosion"
    title = "The gradient norm explodes"
    confirm = "gradient norm before clipping against its running median; then the batches of those steps"
    remedy = "Clip, lower the learning rate, roll back to the last good checkpoint and skip the batches."

    def find(self, case: Case) -> Sequence[Finding]:
        """The explosion."""
        now = case.now
        finite = finite_spikes(now)
        if not finite >= 1 and now.grown("training_nonfinite_steps_total") > 0:
            # A run that has diverged shows nothing but NaN any more: what led there is further back.
            finite = finite_spikes(Window(case.history))
        if not finite >= 1:
            return ()
        evidence = (
            Evidence("steps with a spike in the gradient norm", finite, 0.0, "steps"),
            Evidence("gradient norm now", now.single["training_grad_norm"], None, ""),
            Evidence("loss now", now.single["training_loss"], None, ""),
        )
        certain = 0.75 if finite < limit.SPIKES_CERTAIN else 0.97
        return (self.finding(evidence, confidence=certain, urgency=1.0),)


def finite_spikes(window: Window) -> float:
    """Steps whose norm spiked and still was a number; NaN when nobody counts.

    Whether a norm that is no number counts as a spike is up to the source: with fewer spikes than such steps it does
    not.
    """
    spikes, nonfinite = window.grown("training_grad_norm_spikes_total"), window.grown("training_nonfinite_steps_total")
    return spikes - nonfinite if spikes >= nonfinite > 0 else spikes


CAUSES = (GradientExplosion(),)
