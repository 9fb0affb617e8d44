"""GPUDirect is off: what leaves a GPU for the network is staged in host memory."""

from __future__ import annotations

import numpy as np

from faults.effects import Effects
from faults.kind import Application, Kind, Param


class GdrDisabled(Kind):
    """Intensity is the share of a rank's channels whose interface lies too far from the GPU for GPUDirect.

    At a `staging_factor` of 2, that of the case study of 64 H100 on 400G RoCE, transfers take 1.25 times as long when
    mild, 1.5 when moderate, 2 when severe. Without GPUDirect every byte crosses PCIe twice in each direction, and host
    memory is the bottleneck: peer-to-peer through host memory measures 3 GB/s (Smol Training Playbook), far less than
    what a pipeline of many channels reaches.
    """

    name = "gdr_disabled"
    summary = "GPUDirect RDMA is off, as with NCCL_NET_GDR_LEVEL too low or nvidia-peermem not loaded."
    look_at = (
        "PCIe bytes of the GPUs up to twice what the network carries, bus bandwidth of large all-reduces down by half, "
        "in stepscope nccl-test too. In the job, communication that computing does not hide, on all ranks alike."
    )
    params = (
        Param(
            name="staging_factor",
            type="number",
            default=2.0,
            unit="ratio",
            description="Time of a transfer that is staged in host memory, relative to one that is not.",
            minimum=1.2,
            maximum=4.0,
        ),
    )
    phases = ("collective",)
    metrics = (
        "DCGM_FI_PROF_PCIE_TX_BYTES",
        "DCGM_FI_PROF_PCIE_RX_BYTES",
        "training_phase_seconds_total",
        "training_collective_seconds_total",
        "training_step_seconds",
        "training_model_flops_total",
    )
    composition = "Off once is off: the greatest share and factor count; it multiplies with what else slows transfers."
    needs = ("network",)

    def apply(self, effects: Effects, application: Application) -> None:
        """Stage this share of the ranks' bytes; the collective waits for whoever stages."""
        if application.intensity == 0.0:
            return
        share = effects.staged_share
        share[application.ranks] = np.maximum(share[application.ranks], application.intensity)
        slowdown = 1.0 + (application.number("staging_factor") - 1.0) * application.intensity
        effects.staging_slowdown = max(effects.staging_slowdown, slowdown)


KIND = GdrDisabled()
