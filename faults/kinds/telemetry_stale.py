"""The source of GPU readings is late: it repeats old ones, and nothing says so but that they stand still."""

from __future__ import annotations

import numpy as np

from faults.effects import Effects
from faults.kind import Application, Kind, Param


class TelemetryStale(Kind):
    """The exporter's source takes a reading only every `refresh_seconds`, scaled by the intensity.

    So does a DCGM host engine whose field watches hang, or that has more fields to update than time. The readings of
    the job itself come another way, and are as fresh as ever.
    """

    name = "telemetry_stale"
    summary = "The source of GPU readings repeats old ones instead of reading the boards."
    look_at = (
        "Every DCGM series of the GPU stands still, even the energy counter, which no powered board's does, while the "
        "job's own series go on. What happens to the GPU meanwhile is seen late, or never."
    )
    params = (
        Param(
            name="refresh_seconds",
            type="number",
            default=300.0,
            unit="seconds",
            description="Time between two readings, at intensity 1: mild is a quarter of it.",
            minimum=5.0,
            maximum=86_400.0,
        ),
    )
    metrics = ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_GPU_UTIL")
    composition = "The longest time between readings of a GPU counts."

    def apply(self, effects: Effects, application: Application) -> None:
        """Lengthen the time between readings, unless it is longer already."""
        refresh = effects.refresh_seconds
        lengthened = application.number("refresh_seconds") * application.intensity
        refresh[application.ranks] = np.maximum(refresh[application.ranks], lengthened)


KIND = TelemetryStale()
