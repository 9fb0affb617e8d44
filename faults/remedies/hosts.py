"""Boards and nodes: what is done in the data centre, and moving away from what is broken."""

from __future__ import annotations

import numpy as np

from faults.effects import Effects
from faults.kind import Param
from faults.remedies.narrowing import elsewhere
from faults.remedy import Dose, Remedy


class CleanFilters(Remedy):
    """Air for the boards again. They cool down as fast as they heat up: by and by."""

    name = "clean_filters"
    summary = "Clean filters and fans of a node, so that its boards get rid of their heat again."
    target_modes = ("nodes",)

    def treat(self, effects: Effects, dose: Dose) -> None:
        """The healthy way of heat from board to air."""
        effects.thermal_resistance[dose.ranks] = 1.0


class PowerLimit(Remedy):
    """`nvidia-smi -pl`: what a board may draw. It cannot be more than the board is built for."""

    name = "power_limit"
    summary = "Set the power limit of boards, as nvidia-smi -pl does; above what they are built for nothing changes."
    setting = Param(
        name="value", type="number", default=1_000.0, unit="watts", description="Limit of each board.",
        minimum=100.0, maximum=2_000.0,
    )  # fmt: skip
    target_modes = ("all", "nodes", "ranks")

    def treat(self, effects: Effects, dose: Dose) -> None:
        """Have this limit, and no other."""
        limit = dose.number
        effects.power_limit_watts[dose.ranks] = limit if limit < dose.topology.board_watts else np.inf


class Cordon(Remedy):
    """A spare in the place of a node: other boards, interfaces and hosts, the same software."""

    name = "cordon_node"
    summary = "Cordon a node and start the job again from its last good checkpoint, with a spare in its place."
    restarts = True
    target_modes = ("nodes",)

    def treat(self, effects: Effects, dose: Dose) -> None:
        """Everything that hangs on the machine itself is as new there; settings and shared things are not."""
        here = dose.ranks
        for factor in (
            effects.compute_slowdown,
            effects.thermal_resistance,
            effects.worker_slowdown,
            effects.nic_rate,
        ):
            factor[here] = 1.0
        effects.batch_period_steps[here] = 0.0
        effects.power_limit_watts[here] = np.inf
        effects.refresh_seconds[here] = 0.0
        for gone in (effects.hung, effects.dead, effects.lost):
            gone[here] = False
        effects.host_paths = elsewhere(effects.host_paths, dose)
        effects.ecc_errors = elsewhere(effects.ecc_errors, dose)
        effects.node_outages = elsewhere(effects.node_outages, dose)
        effects.profiling_outages = elsewhere(effects.profiling_outages, dose)


class RestartMonitoring(Remedy):
    """Exporter and host engine of the GPUs, new."""

    name = "restart_monitoring"
    summary = "Restart the exporters and whatever holds the profiling counters. The job does not notice."
    target_modes = ("all", "nodes")

    def treat(self, effects: Effects, dose: Dose) -> None:
        """What is read is fresh and whole again."""
        effects.refresh_seconds[dose.ranks] = 0.0
        effects.profiling_outages = elsewhere(effects.profiling_outages, dose)
        effects.node_outages = elsewhere(effects.node_outages, dose)


REMEDIES = (CleanFilters(), PowerLimit(), Cordon(), RestartMonitoring())
