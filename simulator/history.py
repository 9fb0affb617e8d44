"""The last minutes of a run in few numbers per second: for pages, and for averages over a minute."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from simulator.names import PHASES
from simulator.observation import Tick

HISTORY_SECONDS = 900


@dataclass(frozen=True, slots=True)
class Sample:
    """One second of one run, averaged over ranks. Totals count from the run's beginning."""

    run: str
    seconds: float
    timestamp: float
    gpu_util_percent: float
    sm_active: float
    sm_occupancy: float
    tensor_active: float
    power_watts: float
    mfu: float
    step_seconds: float
    loss: float
    grad_norm: float
    steps: int
    tokens: int
    model_flops: float
    step_seconds_sum: float
    phase_seconds: tuple[float, ...]
    """Total per phase in the order of PHASES, mean over ranks."""

    @classmethod
    def of(cls, tick: Tick) -> Sample:
        """What a tick adds to the history."""
        devices, counters = tick.devices, tick.counters
        return cls(
            run=tick.info.run,
            seconds=tick.seconds,
            timestamp=tick.timestamp,
            gpu_util_percent=float(devices.gpu_util_percent.mean()),
            sm_active=float(devices.sm_active.mean()),
            sm_occupancy=float(devices.sm_occupancy.mean()),
            tensor_active=float(devices.tensor_active.mean()),
            power_watts=float(devices.power_watts.mean()),
            mfu=tick.step_mfu,
            step_seconds=tick.step_seconds,
            loss=tick.learning.loss,
            grad_norm=tick.learning.grad_norm,
            steps=counters.steps,
            tokens=counters.tokens,
            model_flops=counters.model_flops,
            step_seconds_sum=counters.step_seconds_sum,
            phase_seconds=tuple(counters.phase_seconds.mean(axis=1).tolist()),
        )


@dataclass(frozen=True, slots=True)
class Averages:
    """Means over the last seconds of a run, from counters: what PromQL's rate() over the same time gives."""

    seconds: float
    """Length of the window."""
    steps: int
    tokens_per_second: float
    step_seconds: float
    """Mean; 0 when no step ended."""
    mfu: float
    """Model FLOPs over step time and peak; 0 when no step ended."""
    gpu_util_percent: float
    power_watts: float
    phases: dict[str, float]
    """Shares of wall clock."""


class History:
    """Samples of the present run, oldest first. One writer; readers take a copy."""

    def __init__(self, *, seconds: int = HISTORY_SECONDS) -> None:
        self._samples: deque[Sample] = deque(maxlen=seconds)

    def add(self, sample: Sample) -> None:
        """Append the newest second."""
        self._samples.append(sample)

    def clear(self) -> None:
        """A new run begins."""
        self._samples.clear()

    def samples(self) -> list[Sample]:
        """All samples."""
        return list(self._samples)

    def averages(self, *, peak_flops_per_second: float, seconds: int = 60) -> Averages | None:
        """Means over the last `seconds`, or over as many as there are; None before the second sample."""
        window = self.samples()[-(seconds + 1) :]
        if len(window) < 2:
            return None
        first, last = window[0], window[-1]
        length = last.seconds - first.seconds
        stepping = last.step_seconds_sum - first.step_seconds_sum
        steps = last.steps - first.steps
        flops = last.model_flops - first.model_flops
        shares = [(b - a) / length for a, b in zip(first.phase_seconds, last.phase_seconds, strict=True)]
        newer = window[1:]
        return Averages(
            seconds=length,
            steps=steps,
            tokens_per_second=(last.tokens - first.tokens) / length,
            step_seconds=stepping / steps if steps else 0.0,
            mfu=flops / stepping / peak_flops_per_second if steps else 0.0,
            gpu_util_percent=sum(s.gpu_util_percent for s in newer) / len(newer),
            power_watts=sum(s.power_watts for s in newer) / len(newer),
            phases=dict(zip(PHASES, shares, strict=True)),
        )
