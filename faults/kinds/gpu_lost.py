"""A GPU falls off the bus: the driver cannot reach it, its readings are gone, and its rank with them."""

from __future__ import annotations

from faults.effects import Effects
from faults.kind import Application, Kind
from faults.target import Target


class GpuLost(Kind):
    """Lost is lost: the intensity changes nothing. Ending the fault is a power cycle that brings the same board back.

    The rank dies with its GPU, and a synchronous job stands still with it, its other ranks spinning in the collective,
    until the board is back: then the step begins again. The last XID stays. GPUs that fail are the most frequent reason
    why Llama 3's training was interrupted, 148 times of 419.
    """

    name = "gpu_lost"
    summary = "A GPU falls off the bus (XID 79); the job waits for its rank for ever."
    look_at = (
        "All series of that GPU end, exporter_gpu_up is 0 with the reason gpu_lost, fewer GPUs are present than "
        "expected, and the kernel's log has an XID 79. No step ends; the other GPUs wait at 100 % utilization."
    )
    phases = ("collective_wait", "stall")
    metrics = (
        "exporter_gpu_up",
        "exporter_gpus_present",
        "DCGM_FI_DEV_XID_ERRORS",
        "DCGM_FI_DEV_GPU_UTIL",
        "training_last_step_timestamp_seconds",
        "training_steps_total",
        "training_phase_seconds_total",
    )
    composition = "A GPU is lost once; the job goes on when the last of them is back."
    default_target = Target("one")

    def apply(self, effects: Effects, application: Application) -> None:
        """Take the GPUs away."""
        if application.intensity > 0.0:
            effects.lost[application.ranks] = True


KIND = GpuLost()
