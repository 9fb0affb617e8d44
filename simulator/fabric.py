"""What faults do to the way between nodes: NCCL's settings in effect, slow links, and which interface carries what.

A synchronous collective moves the same bytes over every interface of a rail in each step, whatever the rate of one of
them: what does not slow down the collective of all shows on no byte counter. `REROUTED` is the part that a node's other
interfaces take over.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from faults.effects import MOST_SLOWDOWN, Effects
from simulator.collective import transfer_slowdown
from simulator.job import Cluster, JobSpec, Nccl
from simulator.observation import Floats, Ints
from simulator.overlap import Chain, chain_for
from simulator.streams import FaultStreams, gamma_rows

REROUTED = 0.25
"""Share of the way from static striping (every interface gets the same bytes) to balance (each gets what it can carry)
that a node goes when one of its interfaces is slow. An assumption, as no public measurement splits them."""
_MOST_CHAINS = 32


def settings_under(nccl: Nccl, effects: Effects) -> Nccl:
    """The job's NCCL settings with what faults have put in their place."""
    changed = nccl
    if effects.nccl_buffer_bytes < nccl.buffer_bytes:
        changed = replace(changed, buffer_bytes=int(effects.nccl_buffer_bytes))
    if effects.staging_slowdown > 1.0 and nccl.gpudirect:
        changed = replace(changed, gpudirect=False, staging_slowdown=effects.staging_slowdown)
    if effects.nccl_forced_share > 0.0 and nccl.algorithm == "auto":
        changed = replace(changed, algorithm=effects.nccl_algorithm, forced_share=effects.nccl_forced_share)
    return changed


@dataclass(frozen=True, slots=True)
class FabricState:
    """What an all-reduce on the otherwise idle cluster meets."""

    nccl: Nccl
    link_slowdown: float
    """Factor on what crosses the network."""
    collective_factor: float
    """Mean factor on every collective."""
    collapsed: bool = False
    """Whether none ever ends."""


def under(effects: Effects, spec: JobSpec, *, nodes: int) -> FabricState:
    """What an all-reduce over the first `nodes` nodes meets; on one node no byte leaves it, and nothing matters."""
    if nodes == 1:
        return FabricState(spec.nccl, 1.0, 1.0)
    factor = math.prod(tail.factor for tail in effects.collective_tails)
    factor *= math.prod(1.0 + (storm.spike_factor - 1.0) * storm.spike_ratio for storm in effects.pause_storms)
    return FabricState(
        settings_under(spec.nccl, effects),
        link_slowdown(replace(spec.cluster, nodes=nodes), effects),
        factor,
        effects.fabric_collapsed,
    )


class Fabric:
    """The network between the nodes of one job. Keeps nothing of a run but what was computed before."""

    def __init__(self, spec: JobSpec) -> None:
        self._spec = spec
        self.healthy = chain_for(spec)
        """The collectives of one step without faults."""
        self._chains: dict[tuple[Nccl, float], Chain] = {}

    def chain(self, effects: Effects) -> Chain:
        """The collectives of one step under these effects, latency tails excepted."""
        nccl = settings_under(self._spec.nccl, effects)
        most = max(1.0, MOST_SLOWDOWN / transfer_slowdown(nccl))
        key = nccl, min(most, link_slowdown(self._spec.cluster, effects))
        if key == (self._spec.nccl, 1.0):
            return self.healthy
        if key not in self._chains:
            if len(self._chains) >= _MOST_CHAINS:
                self._chains.clear()
            self._chains[key] = chain_for(replace(self._spec, nccl=key[0]), link_slowdown=key[1])
        return self._chains[key]

    def most_scale(self, effects: Effects) -> float:
        """Greatest factor that tails may still put on collectives: with all else, MOST_SLOWDOWN and no more."""
        links = link_slowdown(self._spec.cluster, effects)
        return max(1.0, MOST_SLOWDOWN / (transfer_slowdown(settings_under(self._spec.nccl, effects)) * links))

    def crossings(self, effects: Effects) -> Floats | float:
        """How often what a GPU sends, or receives, over the network crosses its PCIe link; (R,) or one number."""
        if not self._spec.nccl.gpudirect:
            return 2.0
        return 1.0 + effects.staged_share if effects.staging_slowdown > 1.0 else 1.0


def interface_rates(cluster: Cluster, effects: Effects) -> Floats | None:
    """(K, NICs) rate of every interface over its healthy one; None when all of them are well.

    An interface stands beside the GPU, or the first of the GPUs, that it serves.
    """
    slow = np.flatnonzero(effects.nic_rate[: cluster.ranks] < 1.0)
    if not len(slow) or cluster.nodes == 1:
        return None
    rates = np.ones((cluster.nodes, cluster.nics_per_node))
    np.minimum.at(rates, interfaces(cluster, slow), effects.nic_rate[slow])
    return rates


def interfaces(cluster: Cluster, ranks: Ints) -> tuple[Ints, Ints]:
    """Node, and place on it, of the interface beside the GPU of each of these ranks."""
    nodes, local = np.divmod(ranks, cluster.gpus_per_node)
    return nodes, local * cluster.nics_per_node // cluster.gpus_per_node


def interface_shares(rates: Floats) -> Floats:
    """(K, NICs) bytes that each interface carries, over those of a healthy node's; they add up to the node's."""
    balanced: Floats = rates / rates.mean(axis=1, keepdims=True)
    return (1.0 - REROUTED) + REROUTED * balanced


def link_slowdown(cluster: Cluster, effects: Effects) -> float:
    """Factor on the time of what crosses the network, by the slowest interface for what it carries."""
    rates = interface_rates(cluster, effects)
    if rates is None:
        return 1.0
    return float((interface_shares(rates) / rates).max())


class StormCounters:
    """Pause frames and retransmits of every interface. Arrays have shape (K, NICs) and are never changed in place."""

    def __init__(self, cluster: Cluster, *, nics: int) -> None:
        self._cluster, self._nics = cluster, nics
        self._draws = FaultStreams("pause frames", gamma_rows)
        self._frames = self._retransmits = np.zeros((cluster.nodes, nics))

    @property
    def pause_frames(self) -> Floats:
        """Received so far; whole numbers."""
        return np.floor(self._frames)

    @property
    def retransmits(self) -> Floats:
        """Packets sent again so far; whole numbers."""
        return np.floor(self._retransmits)

    def accrue(self, effects: Effects, *, tick: int, seconds: float) -> None:
        """Add what the storms of one tick did."""
        for storm in effects.pause_storms if self._nics else ():
            hit = np.zeros(self._frames.shape)
            hit[interfaces(self._cluster, storm.ranks)] = seconds
            restless = self._draws.rows(storm.fault, storm.seed, tick, 1, width=2)[0]
            self._frames = self._frames + hit * storm.pause_frames_per_second * restless[0]
            self._retransmits = self._retransmits + hit * storm.retransmits_per_second * restless[1]
