"""Settings of NCCL. They are read when communicators are made: the job has to be started again."""

from __future__ import annotations

import numpy as np

from faults.effects import Effects
from faults.kind import Param
from faults.remedy import Dose, Remedy

_HIGHEST_GDR_LEVEL = 5
"""SYS: GPUDirect whatever lies between GPU and interface."""


class BufferSize(Remedy):
    """Size of the buffers between two GPUs, in bytes; what is too small slows large messages down."""

    name = "NCCL_BUFFSIZE"
    summary = "Set the size of NCCL's buffers; its default is 4194304."
    setting = Param(
        name="value", type="integer", default=4 * 2**20, unit="bytes", description="Size of each buffer.",
        minimum=64 * 2**10, maximum=64 * 2**20,
    )  # fmt: skip
    restarts = True
    needs = ("network",)

    def treat(self, effects: Effects, dose: Dose) -> None:
        """Have this size, and no other."""
        effects.nccl_buffer_bytes = dose.number


class GpuDirectLevel(Remedy):
    """Greatest distance between GPU and interface at which GPUDirect RDMA is used, 0 (never) to 5 (always)."""

    name = "NCCL_NET_GDR_LEVEL"
    summary = "Set how far apart GPU and network interface may be for GPUDirect RDMA: 0 for never, 5 for always."
    setting = Param(
        name="value", type="integer", default=_HIGHEST_GDR_LEVEL, unit="",
        description="0 LOC, 1 PIX, 2 PXB, 3 PXN, 4 PHB, 5 SYS.", minimum=0, maximum=_HIGHEST_GDR_LEVEL,
    )  # fmt: skip
    restarts = True
    needs = ("network",)

    def treat(self, effects: Effects, dose: Dose) -> None:
        """Stage what lies farther apart than this; at level 0, everything."""
        level = dose.number
        if level == 0:
            effects.staged_share[:] = 1.0
            effects.staging_slowdown = max(effects.staging_slowdown, 2.0)
            return
        left = 1.0 - level / _HIGHEST_GDR_LEVEL
        effects.staged_share *= left
        effects.staging_slowdown = 1.0 + (effects.staging_slowdown - 1.0) * left


class Algorithm(Remedy):
    """Which algorithm all-reduces take."""

    name = "NCCL_ALGO"
    summary = "Force an algorithm on every all-reduce, or leave the choice to NCCL (auto), which goes by size."
    setting = Param(
        name="value", type="string", default="auto", unit="", description="auto is what NCCL does when it is not set.",
        choices=("auto", "ring", "tree"),
    )  # fmt: skip
    restarts = True
    needs = ("network",)

    def treat(self, effects: Effects, dose: Dose) -> None:
        """Have this one."""
        effects.nccl_algorithm = str(dose.value)
        effects.nccl_forced_share = 0.0 if dose.value == "auto" else 1.0


class CrossNic(Remedy):
    """Whether a ring may enter a node through one interface and leave it through another."""

    name = "NCCL_CROSS_NIC"
    summary = "Let rings change interfaces between nodes; a rail-optimised fabric, as this one, gains nothing by it."
    setting = Param(
        name="value", type="integer", default=1, unit="", description="0 never, 1 always, 2 where it helps.",
        minimum=0, maximum=2,
    )  # fmt: skip
    restarts = True
    needs = ("network",)

    def treat(self, effects: Effects, dose: Dose) -> None:
        """Each GPU has an interface beside it on this cluster: crossing brings no byte there faster."""


class PriorityFlow(Remedy):
    """Room for what is under way when a pause frame is sent, so that no packet is lost."""

    name = "pfc_headroom"
    summary = "Raise the switches' PFC headroom and lower ECN thresholds, so that senders slow down before pauses."
    needs = ("network",)

    def treat(self, effects: Effects, dose: Dose) -> None:
        """No storm, and no collapse by one."""
        effects.pause_storms.clear()
        effects.fabric_collapsed = False


class MoveTraffic(Remedy):
    """Other ways through the fabric than the congested ones."""

    name = "reroute_traffic"
    summary = "Move the job's traffic away from congested links: adaptive routing, or another set of switches."
    needs = ("network",)

    def treat(self, effects: Effects, dose: Dose) -> None:
        """No tail."""
        effects.collective_tails.clear()


class ReplaceCable(Remedy):
    """New cables and transceivers for the interfaces of a node."""

    name = "replace_cable"
    summary = "Replace cables and transceivers of a node's network interfaces."
    target_modes = ("nodes",)
    needs = ("network",)

    def treat(self, effects: Effects, dose: Dose) -> None:
        """Full rate there."""
        effects.nic_rate[dose.ranks] = np.maximum(effects.nic_rate[dose.ranks], 1.0)


REMEDIES = (BufferSize(), GpuDirectLevel(), Algorithm(), CrossNic(), PriorityFlow(), MoveTraffic(), ReplaceCable())
