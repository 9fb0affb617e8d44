"""Values of the backward pass outgrow fp16: the scaler halves the loss scale, skips the step, and overflows again.

The chronicles of BigScience's 104B runs in fp16 show such descents: 1,048,576 to 131,072 in four iterations, each of
them skipped. A scale that has reached 1 has nowhere to go: every step is skipped then, and nothing is learned.
"""

from __future__ import annotations

from faults.effects import Effects
from faults.kind import Application, Kind, Param


class LossScaleCollapse(Kind):
    """The largest value is `overflow` times the healthy one at intensity 1; mild and moderate grow in its powers."""

    name = "loss_scale_collapse"
    summary = "A few values overflow fp16: the loss scale is halved step after step, and those steps are skipped."
    look_at = (
        "The loss scale falls by halves while skipped steps count up; when severe it ends at 1 and every step is "
        "skipped, so that the loss stands still. Loss and gradient norm look healthy, and every device is: steps "
        "take as long as before, but teach nothing. Mild and moderate settle at a lower scale and overflow again when "
        "it grows back."
    )
    params = (
        Param(
            name="overflow",
            type="number",
            default=1e8,
            unit="ratio",
            description="Largest value of a backward pass at intensity 1, relative to healthy; a healthy job has room "
            "for some 60.",
            minimum=1_000.0,
            maximum=1e12,
        ),
    )
    metrics = ("training_loss_scale", "training_skipped_steps_total", "training_loss")
    composition = "Factors on the largest value multiply."
    target_modes = ("all",)
    needs = ("loss_scaling",)

    def apply(self, effects: Effects, application: Application) -> None:
        """Make the largest value larger."""
        effects.overflow_factor *= application.number("overflow") ** application.intensity


KIND = LossScaleCollapse()
