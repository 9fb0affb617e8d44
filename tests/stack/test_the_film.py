"""The film, broken through REST and read back from a real Prometheus.

Slow storage first: utilization stays, the work does not. Then exploding gradients: the model is lost and no
device shows it. This file is the last of its folder: what it does to the lab would disturb the others.
"""

from __future__ import annotations

import math
import statistics
import time
from dataclasses import dataclass

import pytest

from tests.stack.conftest import Stage
from tests.stack.real import eventually
from tests.stack.servers import Prometheus

pytestmark = pytest.mark.stack

MINUTE = 60
MARGIN = 7
"""Seconds after which a change that was accepted is in every sample: the rest of a tick, a step, and one scrape."""


@dataclass(frozen=True, slots=True)
class Minute:
    """One minute of one run, as Prometheus has it."""

    gpu_util_percent: float
    mfu: float
    step_seconds: float
    power_watts: float
    data_wait: float
    collective_wait: float


def minute(prometheus: Prometheus, run: str, *, end: float) -> Minute:
    """A minute that ended at a Unix time or soon after, once Prometheus has summed it up.

    Each rule is waited for by itself: on a busy machine one may be evaluated half a minute late, and the value of
    before would be of another minute.
    """

    def value(name: str, more: str = "") -> float:
        rule = f'{name}{{run="{run}"{more}}}'
        eventually(f"{rule} is up to date", lambda: prometheus.value(f"timestamp({rule})") >= end or None, within=120)
        return prometheus.value(rule)

    return Minute(
        gpu_util_percent=value("run:DCGM_FI_DEV_GPU_UTIL:avg1m"),
        mfu=value("run:training_mfu:ratio_rate1m"),
        step_seconds=value("run:training_step_seconds:mean_rate1m"),
        power_watts=value("run:DCGM_FI_DEV_POWER_USAGE:avg1m"),
        data_wait=value("run:training_phase_share:ratio_rate1m", ', phase="data_wait"'),
        collective_wait=value("run:training_phase_share:ratio_rate1m", ', phase="collective_wait"'),
    )


def healthy_minute(stage: Stage, run: str) -> Minute:
    """A minute of the film's lab without faults; waits until there has been one."""

    def long_enough() -> bool | None:
        return stage.film.state()["position"]["seconds"] > MINUTE + 3 * MARGIN or None

    eventually("the lab has run for a minute", long_enough, within=120)
    return minute(stage.prometheus, run, end=time.time())


def test_slow_storage_hides_behind_utilization_and_clears_within_a_minute(stage: Stage) -> None:
    run = stage.film.state()["run"]["run"]
    before = healthy_minute(stage, run)
    stage.film.put_fault("slow-storage", kind="io_starvation", params={"mode": "tail"}, intensity=1.0, open_ended=True)
    end = time.time() + MARGIN + MINUTE
    broken = minute(stage.prometheus, run, end=end)
    twin = minute(stage.prometheus, "twin", end=end)

    assert broken.gpu_util_percent >= 90
    assert broken.mfu <= 0.7 * before.mfu
    assert broken.data_wait > before.data_wait + 0.03
    assert broken.collective_wait > before.collective_wait + 0.1
    assert broken.power_watts < 0.95 * before.power_watts
    assert twin.mfu == pytest.approx(before.mfu, rel=0.01), "nothing but the fault moved MFU"

    stage.film.clear_fault("slow-storage")
    recent = (
        f'rate(training_model_flops_total{{run="{run}"}}[20s]) / rate(training_step_seconds_sum{{run="{run}"}}[20s])'
        f' / training_peak_flops_per_second{{run="{run}"}}'
    )
    eventually(
        "MFU is back within a minute",
        lambda: stage.prometheus.value(recent) > 0.98 * before.mfu or None,
        within=MINUTE,
    )


def test_exploding_gradients_move_the_model_and_no_device(stage: Stage) -> None:
    run = stage.film.state()["run"]["run"]
    norm, loss = f'training_grad_norm{{run="{run}"}}', f'training_loss{{run="{run}"}}'
    started = time.time()
    settled = statistics.median(value for _, value in stage.prometheus.samples(norm, at=started, seconds=MINUTE))
    highest = max(value for _, value in stage.prometheus.samples(loss, at=started, seconds=MINUTE))

    stage.film.put_fault("explosion", kind="gradient_explosion", open_ended=True)
    end = time.time() + MARGIN + MINUTE
    broken, twin = (minute(stage.prometheus, name, end=end) for name in (run, "twin"))

    seconds = round(end - started)
    norms = stage.prometheus.samples(norm, at=end, seconds=seconds)
    exploded = [moment for moment, value in norms if not value < 100 * settled]
    risen = [
        moment
        for moment, value in stage.prometheus.samples(loss, at=end, seconds=seconds)
        if math.isnan(value) or value > 1.1 * highest
    ]
    assert exploded, "the gradient norm grew a hundredfold"
    assert risen, "the loss rose"
    assert risen[0] >= exploded[0], "the loss rose with the norm or after it"
    for name in ("gpu_util_percent", "mfu", "step_seconds", "power_watts"):
        assert getattr(broken, name) == pytest.approx(getattr(twin, name), rel=0.01), f"{name} tells nothing"
    stage.film.reset()
