"""The fabric has a latency tail: every collective of a step takes longer, in each step by another amount."""

from __future__ import annotations

from faults.effects import CollectiveTail, Effects
from faults.kind import Application, Kind, Param


class NetworkTailLatency(Kind):
    """A collective is as slow as its slowest link, so a tail anywhere is everybody's."""

    name = "network_tail_latency"
    summary = "Messages between nodes have a latency tail, and every collective of the job waits for its slowest one."
    look_at = (
        "Collective time up on all ranks alike while nobody waits longer for anybody: the exposed share of "
        "communication grows, MFU falls, GPU utilization stays at 99 or more, and no rank stands out."
    )
    params = (
        Param(
            name="factor",
            type="number",
            default=3.0,
            unit="ratio",
            description="Mean time of a collective, relative to healthy, at intensity 1; it varies from step to step.",
            minimum=1.1,
            maximum=20.0,
        ),
    )
    phases = ("collective",)
    metrics = (
        "training_phase_seconds_total",
        "training_collective_seconds_total",
        "training_step_seconds",
        "training_model_flops_total",
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
        "DCGM_FI_DEV_POWER_USAGE",
    )
    composition = "Factors on the time of a collective multiply."
    target_modes = ("all",)
    needs = ("network",)

    def apply(self, effects: Effects, application: Application) -> None:
        """Slow every collective, by another amount in each step."""
        if application.intensity == 0.0:
            return
        factor = 1.0 + (application.number("factor") - 1.0) * application.intensity
        effects.collective_tails.append(CollectiveTail(application.fault, application.seed, factor))


KIND = NetworkTailLatency()
