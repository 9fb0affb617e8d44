"""At the end of a shard of the data set a rank opens the next one, and the whole job waits for it.

The log of a speed run on 8 H100 (KellerJordan/modded-nanogpt) shows it: steps of 214 ms, and one that takes 250 ms
longer each 190 steps or so, at the boundaries of its data shards. `every_steps=190,open_steps=1.2` is that job; the
defaults are worse, so that a minute shows several.
"""

from __future__ import annotations

from collections.abc import Mapping

from faults.effects import Effects, LateBatch
from faults.kind import Application, Kind, Param, ParamValue


class ShardBoundary(Kind):
    """One of the target ranks, drawn anew each time, gets the first batch of its new shard late."""

    name = "shard_boundary"
    summary = "Every so many steps one rank opens a new data shard before it has its batch, and everybody waits."
    look_at = (
        "Step time: one step in so many is much longer, always at the same distance in steps. In it another rank each "
        "time waits for data and the others for it. Means over a minute hardly move, which is why p99 is worth a panel."
    )
    params = (
        Param(
            name="every_steps",
            type="integer",
            default=20,
            unit="steps",
            description="Steps in a shard: the stall falls on each step whose index is a multiple of it.",
            minimum=2,
            maximum=10_000,
        ),
        Param(
            name="open_steps",
            type="number",
            default=2.4,
            unit="healthy steps",
            description="How late the first batch of a shard is, in durations of a healthy step, at intensity 1.",
            minimum=0.05,
            maximum=30.0,
        ),
    )
    phases = ("data_wait", "collective_wait")
    metrics = (
        "training_step_seconds",
        "training_phase_seconds_total",
        "training_dataloader_queue_batches",
        "training_model_flops_total",
    )
    composition = "Each has its own beat; where two fall on one rank in one step, their delays add."

    def cycle_steps(self, params: Mapping[str, ParamValue]) -> int:
        """One beat."""
        return int(params["every_steps"])

    def apply(self, effects: Effects, application: Application) -> None:
        """Make one rank late at each boundary."""
        lateness = application.number("open_steps") * application.intensity
        if lateness == 0.0:
            return
        late = LateBatch(
            application.fault,
            application.seed,
            application.ranks,
            lateness,
            every_steps=int(application.number("every_steps")),
        )
        effects.late_batches.append(late)


KIND = ShardBoundary()
