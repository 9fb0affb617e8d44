"""The optimisation goes unstable: gradients grow step by step while every machine is perfectly well."""

from __future__ import annotations

from faults.effects import Effects, Instability
from faults.kind import Application, Kind, Param


class GradientExplosion(Kind):
    """Unstable while active; the norm decays again afterwards."""

    name = "gradient_explosion"
    summary = "The gradient norm explodes and stays large while this is active; it decays over 20 to 40 steps after."
    look_at = (
        "Gradient norm at 1000 times and more within six steps, loss rising with or after it. Utilization, MFU, step "
        "time and power do not move at all: no hardware dashboard shows this one."
    )
    params = (
        Param(
            name="peak_factor",
            type="number",
            default=3000.0,
            unit="ratio",
            description="Gradient norm at the peak, relative to healthy, at intensity 1.",
            minimum=1000.0,
            maximum=5000.0,
        ),
        Param(
            name="growth_steps",
            type="integer",
            default=5,
            unit="steps",
            description="Steps from the first excess to the peak.",
            minimum=5,
            maximum=6,
        ),
    )
    metrics = ("training_grad_norm", "training_loss", "training_grad_norm_spikes_total")
    composition = "The strongest one sets the factor on the gradient norm."
    target_modes = ("all",)

    def apply(self, effects: Effects, application: Application) -> None:
        """Hand the instability to the learning model."""
        if application.intensity == 0.0:
            return
        instability = Instability(
            application.fault,
            application.seed,
            application.intensity,
            peak_factor=application.number("peak_factor"),
            growth_steps=int(application.number("growth_steps")),
        )
        effects.instabilities.append(instability)


KIND = GradientExplosion()
