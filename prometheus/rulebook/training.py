"""Alerts on what the job achieves and who holds it up: label `set="training"`."""

from __future__ import annotations

from diagnosis import thresholds as limit
from rulebook.alert import Alert
from rulebook.profile import Profile, duration
from rulebook.promql import BEST, WINDOW, mfu
from rulebook.recording import (
    EXPOSED,
    EXPOSED_PER_BYTE,
    INPUT_LATE,
    INPUT_LATE_PER_BYTE,
    MFU_BEST,
    PHASE_SHARE,
    STEP_SECONDS,
    WORK_EXCESS,
)

_STOPPED = 'phase=~"checkpoint|stall"'


def training_alerts(profile: Profile) -> tuple[Alert, ...]:
    """The set, in the order of the runbook."""
    window = duration(profile.window)
    return (
        _mfu_low(window),
        _rank_straggling(),
        _input_starved(),
        _communication_exposed(),
        _grad_norm_exploding(),
        _loss_not_finite(),
        _steps_skipped(),
        _no_progress(),
        _thermal_throttle(window),
        _fabric_pauses(window),
    )


def _mfu_low(window: str) -> Alert:
    stopped = f"sum by (run) ({PHASE_SHARE}{{{_STOPPED}}}) > {limit.STOPPED_HIGH:g}"
    seldom = (
        f"avg by (run) (sum by (run, rank) (increase(training_phase_seconds_total{{{_STOPPED}}}[5m])))"
        f" < {limit.STOPPED_SECONDS_HIGH:g}"
    )
    return Alert(
        name="TrainingMfuLow",
        set="training",
        severity="warning",
        about="Against the job's own best, so that it holds for every model; a lone checkpoint or stall is no loss.",
        expr=(
            f"{mfu(window)}\n  < {limit.MFU_OF_BEST_LOW:g} * {MFU_BEST}\n"
            f"unless on (run) (\n  {stopped}\n  and on (run)\n  {seldom}\n)"
        ),
        summary="The job gets less out of its GPUs than it did.",
        description=(
            "Run {{ $labels.run }} is at an MFU of {{ $value | humanizePercentage }}, below "
            f"{100 * limit.MFU_OF_BEST_LOW:.0f} % of its own best of the last 15 minutes."
        ),
    )


def _rank_straggling() -> Alert:
    # Of two ranks one cannot say how much the fast ones differ.
    spread = (
        f"(quantile by (run) (0.25, {WORK_EXCESS}) - min by (run) ({WORK_EXCESS}))\n"
        f"      * (count by (run) ({WORK_EXCESS}) > bool 2)"
    )
    least = (
        f"{limit.WORK_EXCESS_HIGH:g} + {limit.WORK_SPREAD_FACTOR:g} * clamp_min(\n"
        f"      {spread}\n      - {limit.WORK_SPREAD_HEALTHY:g}, 0)"
    )
    return Alert(
        name="TrainingRankStraggling",
        set="training",
        severity="warning",
        about="Own work per step against the median of the peers, more so where all differ. Who waits is not named.",
        expr=(
            "training_rank_info * on (run, rank) group_left () (\n"
            f"  {WORK_EXCESS}\n  > on (run) group_left () (\n    {least}\n  )\n)"
        ),
        summary="A rank is slower than its peers, and all of them wait for it.",
        description=(
            "Rank {{ $labels.rank }} of run {{ $labels.run }}, "
            "{{ if $labels.gpu }}GPU {{ $labels.gpu }} of{{ else }}on{{ end }} {{ $labels.Hostname }}, works "
            "{{ $value | humanizePercentage }} longer on each step than the median of its peers."
        ),
    )


def _input_starved() -> Alert:
    return Alert(
        name="TrainingInputStarved",
        set="training",
        severity="warning",
        about="What late batches cost the whole job, wherever they are late: the mean over ranks hides a tail.",
        expr=_risen(INPUT_LATE, INPUT_LATE_PER_BYTE, by=limit.DATA_WAIT_HIGH, bound=limit.INPUT_BOUND),
        summary="The job waits for its input.",
        description=(
            "Late batches cost run {{ $labels.run }} {{ $value | humanizePercentage }} of its time. A rank that gets "
            "its batch late waits for data, all others wait for it in the collective."
        ),
    )


def _communication_exposed() -> Alert:
    return Alert(
        name="TrainingCommunicationExposed",
        set="training",
        severity="warning",
        about="Transfer that computing does not hide. The least of the ranks, so that waiting for a slow peer is out.",
        expr=_risen(EXPOSED, EXPOSED_PER_BYTE, by=limit.COMMUNICATION_RISE, bound=limit.COLLECTIVE_HIGH),
        summary="The job waits for its network.",
        description=(
            "Every rank of run {{ $labels.run }} spends at least {{ $value | humanizePercentage }} of its time in "
            "communication that no computing hides."
        ),
    )


def _risen(share: str, per_byte: str, *, by: float, bound: float) -> str:
    """A share of wall clock that has grown by so much over the job's own least, or is beyond a bound in any case.

    How far it has grown is measured per byte moved: a share also falls, and comes back, when other things slow the job.
    """
    return f"{share} * (1 - min_over_time({per_byte}[{BEST}]) / {per_byte}) > {by:g}\nor\n{share} > {bound:g}"


def _grad_norm_exploding() -> Alert:
    return Alert(
        name="TrainingGradNormExploding",
        set="training",
        severity="critical",
        about="On the counter, which no scrape can miss: an explosion takes five steps. Harmless spikes stay below it.",
        expr=f"sum by (run) (increase(training_grad_norm_spikes_total[{WINDOW}])) > 0",
        patience="none",
        summary="The gradient norm explodes.",
        description=(
            f"The gradient norm of run {{{{ $labels.run }}}} passed {limit.GRAD_NORM_SPIKE_FACTOR:g} times its running "
            "median within the last minute. No GPU metric shows it."
        ),
    )


def _loss_not_finite() -> Alert:
    return Alert(
        name="TrainingLossNotFinite",
        set="training",
        severity="critical",
        about="NaN is the only value that differs from itself. A diverged run does not come back by itself.",
        expr=(
            "count by (run) (training_loss != training_loss or abs(training_loss) == Inf)\n"
            f"or\nsum by (run) (increase(training_nonfinite_steps_total[{WINDOW}])) > 0"
        ),
        patience="none",
        summary="The loss is not a number any more.",
        description="The loss of run {{ $labels.run }} is NaN or infinite: every GPU-hour from now on is wasted.",
    )


def _steps_skipped() -> Alert:
    def grown(metric: str) -> str:
        return f"sum by (run) (increase({metric}[{WINDOW}]))"

    return Alert(
        name="TrainingStepsSkipped",
        set="training",
        severity="warning",
        about="An fp16 overflow skips a step and halves the loss scale. Now and then is how the scale is found.",
        expr=(
            f"{grown('training_skipped_steps_total')}\n"
            f"  / ({grown('training_steps_total')} > 0)\n  > {limit.SKIPPED_HIGH:g}"
        ),
        summary="Steps are skipped: the job runs at full speed and learns little or nothing.",
        description=(
            "The optimizer of run {{ $labels.run }} skipped {{ $value | humanizePercentage }} of the steps of the last "
            "minute, because values overflowed at this loss scale."
        ),
    )


def _no_progress() -> Alert:
    longest = f"max_over_time({STEP_SECONDS}[{BEST}])"
    age = (
        "max by (run) (\n"
        "  max by (instance, job) (exporter_last_success_timestamp_seconds)\n"
        "    - on (instance, job) group_right () training_last_step_timestamp_seconds\n"
        ")"
    )
    return Alert(
        name="TrainingNoProgress",
        set="training",
        severity="critical",
        about="Age of the last step by the exporter's own clock, allowing for the job's own step and for stalls.",
        expr=f"{age}\n  > {limit.NO_PROGRESS_SECONDS:g} + {limit.NO_PROGRESS_STEPS:g} * {longest}",
        summary="No step ends any more.",
        description="The last step of run {{ $labels.run }} ended {{ $value | humanizeDuration }} ago.",
    )


def _thermal_throttle(window: str) -> Alert:
    def throttled(level: str) -> str:
        # Bits 0x20 and 0x40 of the mask are software and hardware thermal slowdown.
        return (
            f"  max by ({level}) (rate(DCGM_FI_DEV_THERMAL_VIOLATION[{window}]) / 1e9) > {limit.THROTTLED_HIGH:g}\n"
            f"  or\n  max by ({level}) (floor(DCGM_FI_DEV_CLOCK_THROTTLE_REASONS / 32) % 4) > 0"
        )

    return Alert(
        name="GpuThermalThrottle",
        set="training",
        severity="warning",
        about="Clocks held down by temperature, by the counter or by the reasons. Names the rank where there is one.",
        expr=(
            f"training_rank_info * on (UUID) group_left () (\n{throttled('UUID')}\n)\n"
            f"or on (UUID) (\n{throttled('Hostname, gpu, UUID')}\n)"
        ),
        summary="A GPU holds its clocks down because it is too hot.",
        description=(
            "GPU {{ if $labels.gpu }}{{ $labels.gpu }} {{ end }}of {{ $labels.Hostname }} ({{ $labels.UUID }}) "
            "throttles on temperature"
            "{{ if $labels.rank }}; it is rank {{ $labels.rank }} of run {{ $labels.run }}{{ end }}."
        ),
    )


def _fabric_pauses(window: str) -> Alert:
    def of(metric: str) -> str:
        return f"sum by (run, Hostname) (rate({metric}[{window}]))"

    return Alert(
        name="FabricPauses",
        set="training",
        severity="warning",
        about="Priority flow control at work, or packets lost on a fabric that should lose none.",
        expr=(
            f"{of('training_network_pause_frames_total')} > {limit.PAUSE_FRAMES_PER_SECOND_HIGH:g}\n"
            f"or\n{of('training_network_retransmits_total')} > {limit.RETRANSMITS_PER_SECOND_HIGH:g}"
        ),
        summary="The fabric is pausing or losing packets.",
        description=(
            "The network interfaces of {{ $labels.Hostname }} in run {{ $labels.run }} see "
            "{{ $value | humanize }} pause frames or retransmits a second."
        ),
    )
