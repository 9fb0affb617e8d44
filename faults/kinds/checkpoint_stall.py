"""Checkpoints are written too often, by the training loop itself, to storage that takes its time.

A 70B model with its optimizer state in fp32 is some 850 GB, which is most of a minute at 18 GB/s. Ranks write their
parts to the same storage and finish one after the other; whoever is done waits in a barrier for the last one.
"""

from __future__ import annotations

from collections.abc import Mapping

from faults.effects import Effects, SlowCheckpoint
from faults.kind import Application, Kind, Param, ParamValue


class CheckpointStall(Kind):
    """One more checkpoint each `every_steps`, beside those that the job writes anyway."""

    name = "checkpoint_stall"
    summary = "Every so many steps the whole job stops to write a checkpoint to slow storage."
    look_at = (
        "The checkpoint phase, on all ranks, and the checkpoint counter. Steps between are as ever. Ranks that have "
        "written wait for the last one, another one each time; GPU utilization falls, since nothing runs."
    )
    params = (
        Param(
            name="every_steps",
            type="integer",
            default=40,
            unit="steps",
            description="Steps from one checkpoint to the next.",
            minimum=2,
            maximum=10_000,
        ),
        Param(
            name="block_steps",
            type="number",
            default=12.0,
            unit="healthy steps",
            description="Time of the slowest write, in durations of a healthy step, at intensity 1.",
            minimum=0.1,
            maximum=30.0,
        ),
    )
    phases = ("checkpoint", "collective_wait")
    metrics = (
        "training_step_seconds",
        "training_phase_seconds_total",
        "training_checkpoints_total",
        "training_model_flops_total",
        "DCGM_FI_DEV_GPU_UTIL",
        "DCGM_FI_DEV_POWER_USAGE",
    )
    composition = "Each has its own beat; writes that fall on one step add."
    target_modes = ("all",)

    def cycle_steps(self, params: Mapping[str, ParamValue]) -> int:
        """One beat."""
        return int(params["every_steps"])

    def apply(self, effects: Effects, application: Application) -> None:
        """Write a slow checkpoint each so many steps."""
        block = application.number("block_steps") * application.intensity
        if block == 0.0:
            return
        every = int(application.number("every_steps"))
        effects.slow_checkpoints.append(SlowCheckpoint(application.fault, application.seed, every, block))


KIND = CheckpointStall()
