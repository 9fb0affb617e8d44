"""What feeds the GPUs: data loaders, storage, and the way from host to device."""

from __future__ import annotations

from dataclasses import replace

from faults.effects import Effects
from faults.kind import Param
from faults.remedies.narrowing import elsewhere
from faults.remedy import Dose, Remedy


class Workers(Remedy):
    """Processes of each rank that prepare batches."""

    name = "num_workers"
    summary = "Set how many processes of each rank prepare batches."
    setting = Param(
        name="value", type="integer", default=16, unit="", description="Workers per rank.", minimum=1, maximum=64
    )
    restarts = True

    def treat(self, effects: Effects, dose: Dose) -> None:
        """So many times as many take so much less time between two batches, whatever slows each of them down."""
        if dose.topology.loader_workers:
            effects.worker_slowdown *= dose.topology.loader_workers / dose.number


class Prefetch(Remedy):
    """Batches that each worker prepares ahead: the depth of the queue that a late read is hidden behind."""

    name = "prefetch_factor"
    summary = "Set how many batches each worker prepares ahead; a deeper queue hides late reads, not slow storage."
    setting = Param(
        name="value",
        type="integer",
        default=8,
        unit="batches",
        description="Batches per worker.",
        minimum=1,
        maximum=64,
    )
    restarts = True

    def treat(self, effects: Effects, dose: Dose) -> None:
        """A read may be late by one step more for each batch that the queue holds beyond what it held."""
        more = dose.topology.loader_workers * (dose.number - dose.topology.loader_prefetch)
        late = [replace(one, lateness_steps=one.lateness_steps - more) for one in effects.late_batches]
        effects.late_batches = [one for one in late if one.lateness_steps > 0.0]


class LocalCache(Remedy):
    """The data set on each node's own NVMe."""

    name = "cache_on_nvme"
    summary = "Copy the data to each node's own NVMe and read it there, so that shared storage matters no more."
    restarts = True

    def treat(self, effects: Effects, dose: Dose) -> None:
        """No read is late or slow; how fast workers are is another matter."""
        effects.late_batches.clear()
        effects.batch_period_steps[:] = 0.0


class PinNuma(Remedy):
    """Processes and memory of each rank on the socket that its GPU hangs on."""

    name = "numa_pin"
    summary = "Bind each rank to the cores and memory of its GPU's own NUMA node."
    restarts = True
    target_modes = ("all", "nodes")

    def treat(self, effects: Effects, dose: Dose) -> None:
        """The short way from host to device."""
        effects.host_paths = elsewhere(effects.host_paths, dose)


REMEDIES = (Workers(), Prefetch(), LocalCache(), PinNuma())
