"""From a tick's arrays to what the API says of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime

from simulator.history import Sample
from simulator.names import PHASES
from simulator.observation import RunInfo, Tick
from simulator.snapshot import Snapshot
from stepscope.api.models.base import PhaseValues
from stepscope.api.models.state import (
    HistoryView,
    LastTick,
    LearningView,
    Position,
    RankState,
    RunView,
    Window,
)
from stepscope.api.step_views import column

CHART_SECONDS = 300


def rfc3339(unix_seconds: float) -> str:
    """UTC to the millisecond."""
    return datetime.fromtimestamp(unix_seconds, tz=UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def finite(value: float) -> float | None:
    """`value`, or None where JSON has no word for it."""
    return value if math.isfinite(value) else None


def run_view(info: RunInfo) -> RunView:
    """What does not change while a run lasts."""
    return RunView(
        run=info.run,
        preset=info.preset,
        seed=info.seed,
        model=info.model,
        precision=info.precision,
        strategy=info.strategy,
        flops_convention=info.flops_convention,
        gpu_model=info.gpu_model,
        ranks=info.ranks,
        nodes=info.nodes,
        gpus_per_node=info.gpus_per_node,
        tokens_per_step=info.tokens_per_step,
        peak_flops_per_second=info.peak_flops_per_second,
        warnings=list(info.warnings),
    )


def position(now: Snapshot, *, truth_hidden: bool = False) -> Position:
    """How far the run has come, and how well the engine keeps up; with hidden truth, not how many events there are."""
    tick = now.tick
    return Position(
        tick=tick.index,
        seconds=tick.seconds,
        time=rfc3339(tick.timestamp),
        step=tick.counters.steps,
        next_step=tick.next_step,
        lag_seconds=now.lag_seconds,
        skipped_seconds=now.skipped_seconds,
        last_event=0 if truth_hidden else now.last_event,
        truth_hidden=truth_hidden,
        failure=now.failure,
    )


def last_tick(now: Snapshot) -> LastTick:
    """The run as a whole over the last second."""
    tick = now.tick
    devices, info = tick.devices, tick.info
    rate = info.tokens_per_step / tick.step_seconds if tick.step_seconds > 0 else 0.0
    return LastTick(
        gpu_util_percent=float(devices.gpu_util_percent.mean()),
        mfu=tick.step_mfu,
        hfu=tick.step_hfu,
        tokens_per_second=rate,
        tokens_per_second_per_gpu=rate / info.ranks,
        step_seconds=tick.step_seconds,
        phases=_shares(now.samples[-2:]),
        sm_active=float(devices.sm_active.mean()),
        sm_occupancy=float(devices.sm_occupancy.mean()),
        tensor_active=float(devices.tensor_active.mean()),
        dram_active=float(devices.dram_active.mean()),
        power_watts=float(devices.power_watts.mean()),
        temperature_celsius=float(devices.temperature_celsius.mean()),
    )


def last_minute(now: Snapshot) -> Window | None:
    """The same from the counters over the last minute; None until there are two ticks."""
    info, averages = now.tick.info, now.averages
    if averages is None:
        return None
    return Window(
        span_seconds=averages.seconds,
        gpu_util_percent=averages.gpu_util_percent,
        mfu=averages.mfu,
        hfu=averages.mfu * info.hardware_flops_per_token / info.flops_per_token,
        tokens_per_second=averages.tokens_per_second,
        tokens_per_second_per_gpu=averages.tokens_per_second / info.ranks,
        step_seconds=averages.step_seconds,
        phases=PhaseValues(**averages.phases),
    )


def learning(tick: Tick) -> LearningView:
    """Values of the last step."""
    values = tick.learning
    return LearningView(
        loss=finite(values.loss),
        loss_finite=math.isfinite(values.loss),
        grad_norm=finite(values.grad_norm),
        grad_norm_finite=math.isfinite(values.grad_norm),
        learning_rate=values.learning_rate,
        loss_scale=values.loss_scale,
    )


def rank_states(tick: Tick, ranks: range) -> list[RankState]:
    """One entry per rank of `ranks`."""
    devices, info, step = tick.devices, tick.info, tick.last_step
    return [
        RankState(
            rank=rank,
            hostname=info.hostnames[info.gpus[rank].node],
            gpu=info.gpus[rank].gpu,
            gpu_util_percent=float(devices.gpu_util_percent[rank]),
            sm_active=float(devices.sm_active[rank]),
            sm_occupancy=float(devices.sm_occupancy[rank]),
            tensor_active=float(devices.tensor_active[rank]),
            dram_active=float(devices.dram_active[rank]),
            power_watts=float(devices.power_watts[rank]),
            temperature_celsius=float(devices.temperature_celsius[rank]),
            sm_clock_mhz=float(devices.sm_clock_mhz[rank]),
            queue_batches=float(tick.queue_batches[rank]),
            phases=column(step.seconds if step else None, rank),
        )
        for rank in ranks
    ]


def history_view(now: Snapshot) -> HistoryView:
    """The last five minutes."""
    samples = now.samples[-CHART_SECONDS:]
    # The sample before the first one shown, where there is one: a share is a difference.
    earlier = now.samples[-CHART_SECONDS - 1 : -1] if len(now.samples) > CHART_SECONDS else (None, *samples[:-1])
    shares = [_shares([one for one in pair if one is not None]) for pair in zip(earlier, samples, strict=True)]
    return HistoryView(
        run=now.tick.info.run,
        time=[sample.timestamp for sample in samples],
        gpu_util_percent=[sample.gpu_util_percent for sample in samples],
        mfu=[sample.mfu for sample in samples],
        step_seconds=[sample.step_seconds for sample in samples],
        data_wait=[share.data_wait for share in shares],
        communication=[share.collective_wait + share.collective for share in shares],
        loss=[finite(sample.loss) for sample in samples],
        grad_norm=[finite(sample.grad_norm) for sample in samples],
    )


def _shares(samples: Sequence[Sample]) -> PhaseValues:
    """Share of the last second in each phase, mean over ranks, from the counters of up to two seconds."""
    nothing = (0.0,) * len(PHASES)
    before, now = [(0.0, nothing)] * (2 - len(samples)) + [(s.seconds, s.phase_seconds) for s in samples]
    length = now[0] - before[0]
    shares = [(b - a) / length if length > 0 else 0.0 for a, b in zip(before[1], now[1], strict=True)]
    return PhaseValues(**dict(zip(PHASES, shares, strict=True)))
