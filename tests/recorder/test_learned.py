"""What the script logs, and the definition of a spike that it shares with the simulated job."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.spikes import MEDIAN_STEPS, SPIKE_FACTOR, Spikes
from tests.recorder.parts import Bench


def test_the_last_values_are_reported_also_those_that_are_no_numbers(bench: Bench) -> None:
    bench.rec.log(loss=2.0, grad_norm=0.5, lr=1e-4, loss_scale=65536)
    bench.rec.log(loss=math.nan, grad_norm=math.inf)
    report = bench.report()
    shown = [report[name] for name in ("loss", "grad_norm", "learning_rate", "loss_scale")]
    assert shown == ["NaN", "+Inf", 1e-4, 65536.0]


def test_a_step_counts_once_however_often_it_is_logged(bench: Bench) -> None:
    for _ in range(3):
        with bench.rec.step():
            bench.rec.log(loss=math.nan)
            bench.rec.log(grad_norm=math.nan, skipped=True)
            bench.rec.log(grad_norm=math.nan, skipped=True)
    report = bench.report()
    counted = [report[name] for name in ("nonfinite_steps", "skipped_steps", "grad_norm_spikes")]
    assert counted == [3, 3, 3]


def test_an_explosion_between_two_reports_is_counted(bench: Bench) -> None:
    for norm in [0.3] * 20 + [0.9, 3.1, 9.0, 27.0] + [0.3] * 5:
        with bench.rec.step():
            bench.rec.log(grad_norm=norm)
    report = bench.report()
    assert report["grad_norm"] == 0.3
    assert report["grad_norm_spikes"] == 3


@pytest.mark.parametrize("value", ["2.5", object(), [1.0, 2.0], 10**400])
def test_what_is_no_number_is_said_once_and_left_out(
    bench: Bench, value: object, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(3):
        bench.rec.log(loss=value, lr=0.1)
    report = bench.report()
    assert "loss" not in report
    assert report["learning_rate"] == 0.1
    (record,) = caplog.records
    assert record.getMessage().startswith("log(loss=…): ")


@given(st.lists(st.floats(0.0, 100.0), min_size=1, max_size=500))
def test_a_spike_is_ten_times_the_median_of_the_steps_that_were_none(norms: list[float]) -> None:
    spikes, usual = Spikes(), list[float]()
    for norm in norms:
        recent = sorted(usual[-MEDIAN_STEPS:])
        expected = len(recent) >= 10 and norm > SPIKE_FACTOR * recent[len(recent) // 2]
        assert spikes.is_spike(norm) == expected
        if not expected:
            usual.append(norm)


@pytest.mark.parametrize("norm", [math.nan, math.inf])
def test_a_norm_that_is_not_finite_is_a_spike_from_the_first_step(norm: float) -> None:
    spikes = Spikes()
    assert spikes.is_spike(norm)
    assert not spikes.is_spike(1.0)
    assert spikes.is_spike(norm)
