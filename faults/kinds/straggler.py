"""A slow GPU: forward and backward take longer on the target ranks, and everyone waits for them."""

from __future__ import annotations

from faults.effects import Effects
from faults.kind import Application, Kind, Param
from faults.target import Target


class Straggler(Kind):
    """Compute of the target ranks takes `slowdown` times as long."""

    name = "straggler"
    summary = "The target ranks compute slower than their peers, and the whole job runs at their pace."
    look_at = (
        "MFU falls while GPU utilization stays at 98 or more on every rank. The culprit waits least in the collective; "
        "power falls on the ranks that wait for it, tensor activity on all alike."
    )
    params = (
        Param(
            name="slowdown",
            type="number",
            default=1.5,
            unit="ratio",
            description="Time of forward and backward on the target ranks, relative to healthy, at intensity 1.",
            minimum=1.05,
            maximum=4.0,
        ),
    )
    phases = ("forward", "backward", "collective_wait")
    metrics = (
        "training_step_seconds",
        "training_model_flops_total",
        "training_phase_seconds_total",
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
        "DCGM_FI_DEV_POWER_USAGE",
    )
    composition = "Slow-downs of one rank multiply; the step follows the slowest rank."
    default_target = Target("one")

    def apply(self, effects: Effects, application: Application) -> None:
        """Multiply the ranks' slow-down."""
        factor = 1.0 + (application.number("slowdown") - 1.0) * application.intensity
        effects.compute_slowdown[application.ranks] *= factor


KIND = Straggler()
