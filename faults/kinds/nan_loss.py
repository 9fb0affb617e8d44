"""A value that is not a number gets into the weights, and from then on nothing else comes out of them.

A corrupt sample, a division by zero in a rare branch, a silent error of the hardware. One step is enough, and taking
the cause away does not help: the model has to go back to a checkpoint.
"""

from __future__ import annotations

from faults.effects import Effects, Poison
from faults.kind import Application, Kind, Param


class NanLoss(Kind):
    """The first step that meets a NaN loses the model; intensity says how soon that is."""

    name = "nan_loss"
    summary = "A NaN gets into the weights: from one step to the next the loss is not a number any more, for good."
    look_at = (
        "Loss and gradient norm turn to NaN, without any growth before, and stay so when the fault is gone, until the "
        "model goes back to its last good checkpoint (POST /v1/reset). The job goes on at full speed: step time, MFU, "
        "utilization and power do not move."
    )
    params = (
        Param(
            name="chance",
            type="number",
            default=0.2,
            unit="ratio",
            description="Chance that a step meets a NaN, at intensity 1.",
            minimum=0.001,
            maximum=1.0,
        ),
    )
    metrics = (
        "training_loss",
        "training_grad_norm",
        "training_nonfinite_steps_total",
        "training_grad_norm_spikes_total",
    )
    composition = "The first NaN of any of them is enough."
    target_modes = ("all",)

    def apply(self, effects: Effects, application: Application) -> None:
        """Let steps meet a NaN."""
        chance = application.number("chance") * application.intensity
        if chance == 0.0:
            return
        effects.poisons.append(Poison(application.fault, application.seed, chance))


KIND = NanLoss()
