"""Batches hold as many tokens but sequences of unequal length, and attention costs the square of a sequence.

ByteDance (OSDI '25, arXiv 2505.05713) found it in 21.4 % of the jobs it looked at, and they took 1.34 times as long.
With the default 4 ranks take 1.25 times as long and 64 ranks nearly 1.5: one of them is sure to have a long batch.
"""

from __future__ import annotations

from faults.effects import Effects, Unevenness
from faults.kind import Application, Kind, Param


class SequenceImbalance(Kind):
    """Work of a batch varies around its mean; only the longest one of each step counts."""

    name = "sequence_imbalance"
    summary = "Batches take unequal work, since their sequences differ in length, and each step waits for the longest."
    look_at = (
        "Waiting in the collective up on every rank alike while each of them computes as long as before in the mean: "
        "the slowest is another rank in each step, so that there is nobody to replace. GPU utilization stays where it "
        "was; balancing the batches brings all of it back."
    )
    params = (
        Param(
            name="longest",
            type="number",
            default=1.5,
            unit="ratio",
            description="Work of the most expensive batch, relative to the mean one, at intensity 1.",
            minimum=1.05,
            maximum=2.5,
        ),
    )
    phases = ("forward", "backward", "collective_wait")
    metrics = (
        "training_step_seconds",
        "training_phase_seconds_total",
        "training_model_flops_total",
        "DCGM_FI_DEV_POWER_USAGE",
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
    )
    composition = "Factors on the work of one batch multiply."

    def apply(self, effects: Effects, application: Application) -> None:
        """Spread the work of the ranks' batches around its mean."""
        excess = (application.number("longest") - 1.0) * application.intensity
        if excess == 0.0:
            return
        effects.unevennesses.append(Unevenness(application.fault, application.seed, application.ranks, excess))


KIND = SequenceImbalance()
