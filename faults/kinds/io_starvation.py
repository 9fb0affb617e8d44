"""Shared storage does not keep up: batches come late, on one rank at a time, on a node, or everywhere."""

from __future__ import annotations

from collections.abc import Mapping

from faults.effects import Effects, LateBatch
from faults.kind import Application, Kind, Param, ParamValue
from faults.target import Target


class IoStarvation(Kind):
    """Lateness is what is left of the delay after the prefetch queue is used up."""

    name = "io_starvation"
    summary = "Training data arrives late from shared storage."
    look_at = (
        "Data wait rises and the prefetch queue empties. Mode tail: a different rank is late each step, so that mean "
        "GPU utilization stays above 90 while MFU falls by a third. Mode uniform: utilization falls too."
    )
    params = (
        Param(
            name="mode",
            type="string",
            default="tail",
            unit="",
            description="tail: each step a different target rank is late; node: the mount of one node; uniform: all.",
            choices=("tail", "node", "uniform"),
        ),
        Param(
            name="lateness_steps",
            type="number",
            default=0.5,
            unit="healthy steps",
            description="How late the batch is, in durations of a healthy step, at intensity 1.",
            minimum=0.01,
            maximum=5.0,
        ),
    )
    phases = ("data_wait", "collective_wait")
    metrics = (
        "training_phase_seconds_total",
        "training_dataloader_queue_batches",
        "training_model_flops_total",
        "DCGM_FI_DEV_GPU_UTIL",
        "DCGM_FI_DEV_POWER_USAGE",
    )
    composition = "Delays of one rank's loader add; several tails each make a rank late in every step."
    default_target = Target("all")

    def default_target_for(self, params: Mapping[str, ParamValue]) -> Target:
        """One node for mode `node`, else all ranks."""
        return Target("nodes") if params["mode"] == "node" else self.default_target

    def apply(self, effects: Effects, application: Application) -> None:
        """Make one rank late per step (tail), or lengthen the time between batches."""
        lateness = application.number("lateness_steps") * application.intensity
        if lateness == 0.0:
            return
        if application.params["mode"] == "tail":
            late = LateBatch(application.fault, application.seed, application.ranks, lateness)
            effects.late_batches.append(late)
            return
        period = effects.batch_period_steps
        unlimited = application.ranks[period[application.ranks] == 0.0]
        period[unlimited] = 1.0
        period[application.ranks] += lateness


KIND = IoStarvation()
