"""Alerts as most GPU clusters have them, label `set="traditional"`: what is wrong when only devices are watched.

They are not straw men. Thresholds are the strictest found in use, `for` is the shortest, and each of them is worth
having; what they cannot see is a busy GPU that achieves nothing.
"""

from __future__ import annotations

from diagnosis import thresholds as limit
from rulebook.alert import Alert

_BOARD = "max by (Hostname, gpu, UUID)"
_GPU = "GPU {{ $labels.gpu }} of {{ $labels.Hostname }} ({{ $labels.UUID }})"

TRADITIONAL_ALERTS: tuple[Alert, ...] = (
    Alert(
        name="GpuUtilizationLow",
        set="traditional",
        severity="warning",
        about="Share of time with any kernel resident, over a minute.",
        expr=f"{_BOARD} (avg_over_time(DCGM_FI_DEV_GPU_UTIL[1m])) < {limit.UTIL_LOW_PERCENT:g}",
        patience="settle",
        summary="A GPU is not busy.",
        description=f"{_GPU} is utilized {{{{ $value | humanize }}}} %.",
    ),
    Alert(
        name="GpuTemperatureHigh",
        set="traditional",
        severity="critical",
        about="Beyond the temperature at which the hardware slows down.",
        expr=f"{_BOARD} (DCGM_FI_DEV_GPU_TEMP) > {limit.TEMPERATURE_HIGH_CELSIUS:g}",
        patience="settle",
        summary="A GPU is too hot.",
        description=f"{_GPU} is at {{{{ $value | humanize }}}} °C.",
    ),
    Alert(
        name="GpuMemoryNearlyFull",
        set="traditional",
        severity="warning",
        about="Device memory in use, of what a job can get.",
        expr=f"{_BOARD} (DCGM_FI_DEV_FB_USED / (DCGM_FI_DEV_FB_USED + DCGM_FI_DEV_FB_FREE)) > {limit.MEMORY_FULL:g}",
        patience="settle",
        summary="A GPU's memory is nearly full.",
        description=f"{_GPU} uses {{{{ $value | humanizePercentage }}}} of its memory.",
    ),
    Alert(
        name="GpuXidError",
        set="traditional",
        severity="critical",
        about="The driver's last error code, which stays until a reset. 13, 31, 43 and 45 are errors of programs.",
        expr=f"{_BOARD} (DCGM_FI_DEV_XID_ERRORS) > 0\n"
        f"unless on (UUID) (\n  {_BOARD} (DCGM_FI_DEV_XID_ERRORS) == {limit.XIDS_OF_PROGRAMS[0]}"
        + "".join(f"\n  or {_BOARD} (DCGM_FI_DEV_XID_ERRORS) == {code}" for code in limit.XIDS_OF_PROGRAMS[1:])
        + "\n)",
        summary="The driver reports an error of a GPU.",
        description=f"{_GPU} has had XID {{{{ $value }}}}.",
    ),
    Alert(
        name="TargetDown",
        set="traditional",
        severity="critical",
        about="Nothing is known of what cannot be scraped.",
        expr="up == 0",
        summary="A target cannot be scraped.",
        description="{{ $labels.instance }} of job {{ $labels.job }} does not answer.",
    ),
)
