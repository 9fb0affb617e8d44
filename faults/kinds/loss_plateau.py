"""The learning rate falls to next to nothing, as after a mistake in its schedule, and the loss stops falling.

Training loops that resume with the wrong step count do this. Nothing breaks and nothing slows down: the run only
stops being worth its GPU-hours.
"""

from __future__ import annotations

from faults.effects import Effects
from faults.kind import Application, Kind, Param


class LossPlateau(Kind):
    """Each step brings the model forward by as much less as the learning rate is smaller."""

    name = "loss_plateau"
    summary = "The learning rate collapses: steps go on as before and the model learns nothing from them."
    look_at = (
        "The learning rate, at once; the loss, once enough steps have passed for its noise to average out: it goes "
        "level where it used to fall. Everything else is as ever, the gradient norm too. What was not learned is "
        "missing from the loss for good."
    )
    params = (
        Param(
            name="rate_factor",
            type="number",
            default=0.001,
            unit="ratio",
            description="Learning rate at intensity 1, relative to the schedule's.",
            minimum=0.0,
            maximum=0.9,
        ),
    )
    metrics = ("training_learning_rate", "training_loss")
    composition = "Factors on the learning rate multiply."
    target_modes = ("all",)

    def apply(self, effects: Effects, application: Application) -> None:
        """Shrink the learning rate."""
        effects.learning_rate_factor *= 1.0 - (1.0 - application.number("rate_factor")) * application.intensity


KIND = LossPlateau()
