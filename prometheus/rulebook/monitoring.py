"""Alerts of the training set on the monitoring itself: an alert that cannot fire must not look like good news."""

from __future__ import annotations

from diagnosis import thresholds as limit
from rulebook.alert import Alert
from rulebook.profile import Profile, duration

_BOARD = "max by (Hostname, gpu, UUID)"


def monitoring_alerts(profile: Profile) -> tuple[Alert, ...]:
    """The set, in the order of the runbook."""
    window = duration(profile.window)
    return (_stale(window, most=profile.window // profile.scrape), _contradictory(window), _watchdog())


def _stale(window: str, *, most: int) -> Alert:
    """`most`: samples that a window can hold; one may be missing."""
    energy = f"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION[{window}]"
    return Alert(
        name="TelemetryStale",
        set="training",
        severity="warning",
        about="The source says so, or GPUs are missing, or an energy counter stands still: no powered board's does.",
        expr=(
            "exporter_source_up == 0\nor\nexporter_gpus_present < exporter_gpus_expected\nor\n"
            f"{_BOARD} (changes({energy})) == 0\n"
            f"  and on (UUID) min by (UUID) (count_over_time({energy})) >= {most - 1}"
        ),
        summary="Readings are old or missing; what boards and alerts say of these GPUs is not true now.",
        description=(
            "{{ if $labels.UUID }}GPU {{ $labels.gpu }} of {{ $labels.Hostname }} repeats old readings: its energy "
            "counter stands still.{{ else }}Source {{ $labels.source }} of {{ $labels.instance }} is down, or gives no "
            "readings of some of its GPUs.{{ end }}"
        ),
    )


def _contradictory(window: str) -> Alert:
    busy = f"min by (UUID) (avg_over_time(DCGM_FI_DEV_GPU_UTIL[{window}])) > {limit.UTIL_LOW_PERCENT:g}"
    return Alert(
        name="TelemetryContradictory",
        set="training",
        severity="warning",
        about="A GPU that is utilized has an active engine; profiling fields at 0 mean that nobody may read them.",
        expr=(f"{_BOARD} (max_over_time(DCGM_FI_PROF_GR_ENGINE_ACTIVE[{window}])) == 0\n  and on (UUID) {busy}"),
        summary="A GPU's profiling fields are 0 while it is busy.",
        description=(
            "GPU {{ $labels.gpu }} of {{ $labels.Hostname }} ({{ $labels.UUID }}) reports utilization, but 0 for every "
            "profiling field: SM, tensor and memory activity of this GPU are not measured."
        ),
    )


def _watchdog() -> Alert:
    return Alert(
        name="Watchdog",
        set="training",
        severity="info",
        about="Always fires: whoever receives alerts knows from it that they arrive.",
        expr="vector(1)",
        patience="none",
        holds=False,
        summary="Alerting works.",
        description="This alert always fires. When it is missing, alerts do not reach you.",
    )
