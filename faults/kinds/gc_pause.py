"""Python collects garbage, each rank at its own time: in almost every step of a large job somebody pauses.

ByteDance (OSDI '25, arXiv 2505.05713) measured pauses of some hundred milliseconds and gained 12.6 % on 128
data-parallel ranks by making all ranks collect at the same step. Collections follow the number of allocations, so that
each rank has one in so many steps.
"""

from __future__ import annotations

from collections.abc import Mapping

from faults.effects import Effects, Pause
from faults.kind import Application, Kind, Param, ParamValue


class GcPause(Kind):
    """A pause falls on one step of each cycle, another one for each rank and each time; its GPU is idle meanwhile."""

    name = "gc_pause"
    summary = "Python's garbage collector stops the processes of the target ranks, each of them at another step."
    look_at = (
        "Waiting in the collective up on every rank, and no rank to blame: over a minute all have paused equally. The "
        "trace of single steps shows a long forward on one rank, another one each time. The more ranks, the more of "
        "the steps have a pause in them."
    )
    params = (
        Param(
            name="pause_seconds",
            type="number",
            default=0.3,
            unit="seconds",
            description="Length of a pause at intensity 1.",
            minimum=0.02,
            maximum=5.0,
        ),
        Param(
            name="every_steps",
            type="integer",
            default=20,
            unit="steps",
            description="Steps in which each rank pauses once.",
            minimum=2,
            maximum=10_000,
        ),
    )
    phases = ("forward", "collective_wait")
    metrics = (
        "training_step_seconds",
        "training_phase_seconds_total",
        "training_model_flops_total",
        "DCGM_FI_DEV_GPU_UTIL",
        "DCGM_FI_DEV_POWER_USAGE",
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
    )
    composition = "Pauses that fall on one rank in one step add."

    def cycle_steps(self, params: Mapping[str, ParamValue]) -> int:
        """One beat."""
        return int(params["every_steps"])

    def apply(self, effects: Effects, application: Application) -> None:
        """Pause each rank once in a cycle."""
        seconds = application.number("pause_seconds") * application.intensity
        if seconds == 0.0:
            return
        every = int(application.number("every_steps"))
        pause = Pause(application.fault, application.seed, application.ranks, seconds, every_steps=every)
        effects.pauses.append(pause)


KIND = GcPause()
