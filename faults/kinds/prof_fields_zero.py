"""The profiling fields of a GPU read 0 while it works: somebody else holds its profiling counters."""

from __future__ import annotations

from faults.effects import Effects, Outage
from faults.kind import Application, Kind


class ProfFieldsZero(Kind):
    """Intensity is the share of the time in which somebody else holds the counters, minute by minute.

    Only one client can collect them on a GPU: beside a profiler, or without the right to profile, DCGM's fields of
    profiling are 0 and its others as they should be.
    """

    name = "prof_fields_zero"
    summary = "Profiling fields read 0 because somebody else holds the counters, or nobody may read them."
    look_at = (
        "SM, tensor and memory activity at 0, and PCIe and NVLink rates too, on a GPU whose utilization is 100 and "
        "whose power is what it was. The job does not notice."
    )
    metrics = (
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
        "DCGM_FI_PROF_SM_ACTIVE",
        "DCGM_FI_PROF_SM_OCCUPANCY",
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
        "DCGM_FI_PROF_DRAM_ACTIVE",
        "DCGM_FI_PROF_PCIE_TX_BYTES",
        "DCGM_FI_PROF_PCIE_RX_BYTES",
        "DCGM_FI_PROF_NVLINK_TX_BYTES",
        "DCGM_FI_PROF_NVLINK_RX_BYTES",
    )
    composition = "Held by anyone is held."

    def apply(self, effects: Effects, application: Application) -> None:
        """Hold the counters of the ranks' GPUs."""
        if application.intensity > 0.0:
            outage = Outage(application.fault, application.seed, application.ranks, application.intensity)
            effects.profiling_outages.append(outage)


KIND = ProfFieldsZero()
