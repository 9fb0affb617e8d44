"""The workers of the data loaders get too little CPU: batches are late although storage is as quick as ever.

Python's global lock, a transform that was cheap on fewer samples, or a container with too few cores. A worker is
slower by the cores that it lacks: 20 workers on 2 cores take 10 times as long.
"""

from __future__ import annotations

from faults.effects import Effects
from faults.kind import Application, Kind, Param
from faults.target import Target


class DataloaderCpu(Kind):
    """Workers take `slowdown` times as long for a batch; a rank starves once that is slower than its steps."""

    name = "dataloader_cpu"
    summary = "The data loader's workers on the target nodes have too little CPU to prepare batches in time."
    look_at = (
        "Data wait up and the prefetch queue empty on the ranks of those nodes, everybody else waiting for them in the "
        "collective. Storage is read more slowly, since less is asked of it: each read is as quick as before. Workers "
        "have time to spare, so that mild may cost a well-provided job next to nothing."
    )
    params = (
        Param(
            name="slowdown",
            type="number",
            default=10.0,
            unit="ratio",
            description="Time that a worker takes for one batch, relative to healthy, at intensity 1.",
            minimum=1.5,
            maximum=16.0,
        ),
    )
    phases = ("data_wait", "collective_wait")
    metrics = (
        "training_phase_seconds_total",
        "training_dataloader_queue_batches",
        "training_storage_read_bytes_total",
        "training_step_seconds",
        "training_model_flops_total",
        "DCGM_FI_DEV_GPU_UTIL",
        "DCGM_FI_DEV_POWER_USAGE",
    )
    composition = (
        "Slow-downs of one rank's workers multiply; storage that is slow as well hides behind the slower of the two."
    )
    default_target = Target("nodes")

    def apply(self, effects: Effects, application: Application) -> None:
        """Multiply the slow-down of the ranks' workers."""
        factor = 1.0 + (application.number("slowdown") - 1.0) * application.intensity
        effects.worker_slowdown[application.ranks] *= factor


KIND = DataloaderCpu()
