"""Label text of the simulated GPUs, prepared once per GPU and kept for as long as the run lasts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exporter.catalogue import GPU_LABELS, HOSTNAME
from exporter.render import head, inner
from simulator.observation import GpuIdentity, RunInfo

Selection = slice | NDArray[np.bool_]
"""Picks ranks, or nodes, of an array that has one entry for each."""


@dataclass(frozen=True, slots=True)
class Heads:
    """Label text of a group of nodes."""

    ranks: Selection
    nodes: Selection
    gpus: list[str]
    """One per rank, complete: `{gpu="0",…} `."""
    boards: list[str]
    """One per rank, to be put inside braces: `gpu="0",UUID="…"`."""
    places: list[str]
    """One per rank, to be put inside braces: `Hostname="…"`."""
    trainers: list[str]
    """One per rank, open: `{run="…",rank="0"`."""
    hosts: list[str]
    """One per node, open: `{run="…",Hostname="…"`."""


class LabelBook:
    """Label text of one run, made per node when first asked for.

    Per GPU, not per series: that would cost 1.8 GiB at 131,072 ranks.
    """

    def __init__(self, info: RunInfo, *, hostname_label: str = HOSTNAME) -> None:
        self.info = info
        self.nodes = {hostname: node for node, hostname in enumerate(info.hostnames)}
        """Index of a node by its name."""
        self._hostname_label = hostname_label
        self._heads: dict[int, Heads] = {}

    def node(self, node: int) -> Heads:
        """Heads of one node."""
        heads = self._heads.get(node)
        if heads is None:
            heads = self._heads[node] = self._prepare(node)
        return heads

    def all(self, there: NDArray[np.bool_] | None = None) -> Heads:
        """Heads of the whole run, or of the nodes that are `there`, shape (nodes,); only the lists are new."""
        info = self.info
        nodes = [self.node(node) for node in range(info.nodes) if there is None or there[node]]
        ranks: Selection = slice(0, info.ranks)
        chosen: Selection = slice(0, info.nodes)
        if there is not None and not there.all():
            chosen, ranks = there, there[np.arange(info.ranks) // info.gpus_per_node]
        return Heads(
            ranks=ranks,
            nodes=chosen,
            gpus=[text for node in nodes for text in node.gpus],
            boards=[text for node in nodes for text in node.boards],
            places=[text for node in nodes for text in node.places],
            trainers=[text for node in nodes for text in node.trainers],
            hosts=[text for node in nodes for text in node.hosts],
        )

    def _prepare(self, node: int) -> Heads:
        info = self.info
        first = node * info.gpus_per_node
        ranks = slice(first, min(first + info.gpus_per_node, info.ranks))
        gpus = info.gpus[ranks]
        assert all(gpu.node == node for gpu in gpus)
        run = ("run", info.run)
        place = inner(((self._hostname_label, info.hostnames[node]),))
        return Heads(
            ranks=ranks,
            nodes=slice(node, node + 1),
            gpus=[head(self._gpu_labels(gpu)) for gpu in gpus],
            boards=[inner((("gpu", str(gpu.gpu)), ("UUID", gpu.uuid))) for gpu in gpus],
            places=[place] * len(gpus),
            trainers=["{" + inner((run, ("rank", str(gpu.rank)))) for gpu in gpus],
            hosts=["{" + inner((run,)) + "," + place],
        )

    def _gpu_labels(self, gpu: GpuIdentity) -> list[tuple[str, str]]:
        values = (
            str(gpu.gpu),
            gpu.uuid,
            gpu.pci_bus_id,
            gpu.device,
            self.info.gpu_model,
            self.info.hostnames[gpu.node],
            self.info.driver_version,
        )
        names = (self._hostname_label if name == HOSTNAME else name for name in GPU_LABELS)
        return list(zip(names, values, strict=True))
