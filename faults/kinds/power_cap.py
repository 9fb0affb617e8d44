"""The power limit of a board is lowered: it computes at the clock that the limit leaves."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from faults.effects import Effects, Topology
from faults.errors import Problem
from faults.kind import Application, Kind, Param, ParamValue
from faults.target import Target


class PowerCap(Kind):
    """The limit lies between the board's own, at intensity 0, and `limit_watts`, at intensity 1."""

    name = "power_cap"
    summary = "The power limit of the target GPUs is lowered, as after nvidia-smi -pl or a rack over its budget."
    look_at = (
        "Power of the culprit flat at the limit while it computes, its SM clock down, the software power cap among its "
        "throttle reasons, the power violation counter rising. The job slows as with a mild straggler."
    )
    params = (
        Param(
            name="limit_watts",
            type="number",
            default=500.0,
            unit="watts",
            description="Board power limit at intensity 1; lower intensities lie between it and the board's own.",
            minimum=340.0,
            maximum=690.0,
        ),
    )
    phases = ("forward", "backward", "collective_wait")
    metrics = (
        "DCGM_FI_DEV_POWER_USAGE",
        "DCGM_FI_DEV_SM_CLOCK",
        "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS",
        "DCGM_FI_DEV_POWER_VIOLATION",
        "training_step_seconds",
        "training_model_flops_total",
        "training_phase_seconds_total",
    )
    composition = "The lowest limit of a board counts; the step follows the slowest rank."
    default_target = Target("one")

    def misfits(self, params: Mapping[str, ParamValue], topology: Topology) -> list[Problem]:
        """A limit that the board has anyway is no fault."""
        if float(params["limit_watts"]) < topology.board_watts:
            return []
        detail = f"must be below {topology.board_watts:g}, the limit that the boards of this job have anyway"
        return [Problem("/params/limit_watts", detail)]

    def apply(self, effects: Effects, application: Application) -> None:
        """Lower the limit of the ranks' boards, unless it is lower already."""
        if application.intensity == 0.0:
            return
        board = application.topology.board_watts
        limit = board - (board - application.number("limit_watts")) * application.intensity
        limits = effects.power_limit_watts
        limits[application.ranks] = np.minimum(limits[application.ranks], limit)


KIND = PowerCap()
