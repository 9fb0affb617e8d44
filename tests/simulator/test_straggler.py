"""The straggler calculator: exact and drawn answers agree, and each cause costs what theory says."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.straggler import MOST_COUNTS, efficiency, expected_max, monte_carlo, table

COUNTS = (1, 8, 64, 1_024, 16_384, 131_072)


@pytest.mark.parametrize("factor", [1.05, 1.5, 1.97])
@pytest.mark.parametrize("slow_ranks", [1, 8])
def test_a_persistent_factor_costs_the_same_at_every_n(factor: float, slow_ranks: int) -> None:
    for gpus in (8, 64, 1_024, 131_072, 1_000_000):
        assert efficiency(gpus, slowdown=factor, slow_ranks=slow_ranks).step_factor == factor
    jittered = [efficiency(gpus, slowdown=factor, jitter=0.003).step_factor for gpus in (8, 131_072)]
    assert jittered[1] - jittered[0] < 0.002


def test_jitter_of_one_percent_costs_little_from_8_to_1024_gpus() -> None:
    factors = {gpus: efficiency(gpus, jitter=0.01).step_factor for gpus in (8, 1_024)}
    assert factors[1_024] / factors[8] - 1.0 == pytest.approx(0.018, abs=0.0005)


def test_the_usual_formula_is_15_to_40_percent_too_high() -> None:
    for n in (10, 64, 1_024):
        assert 1.14 <= math.sqrt(2.0 * math.log(n)) / expected_max(n) <= 1.41


def test_one_rank_waits_for_nobody() -> None:
    assert efficiency(1, jitter=0.2, slow_ranks=0).step_factor == pytest.approx(1.0, abs=1e-9)
    assert efficiency(1, jitter=0.2, slow_ranks=0, distribution="lognormal").step_factor == pytest.approx(1.0, abs=1e-9)
    assert efficiency(1, jitter=0.2, slowdown=1.5).step_factor == pytest.approx(1.5, abs=1e-9)


def test_stalls_multiply_and_efficiency_is_the_inverse() -> None:
    calm, stalling = efficiency(64, jitter=0.01), efficiency(64, jitter=0.01, stall_factor=3.0, stall_rate=0.004)
    assert stalling.step_factor == pytest.approx(calm.step_factor * 1.008, rel=1e-12)
    assert stalling.efficiency * stalling.step_factor == pytest.approx(1.0, rel=1e-12)


def test_a_slow_rank_hides_behind_much_jitter() -> None:
    """A rank 1 % slow in a job whose slowest of 1,024 is 30 % late anyway costs next to nothing."""
    calm, slow = (efficiency(1_024, jitter=0.1, slowdown=factor).step_factor for factor in (1.0, 1.01))
    assert calm < slow < calm + 1e-4


@pytest.mark.parametrize("distribution", ["normal", "lognormal"])
@pytest.mark.parametrize("slowness", [{}, {"slowdown": 1.02}, {"slowdown": 1.5, "slow_ranks": 4}])
@pytest.mark.parametrize("jitter", [0.0, 0.01, 0.3])
def test_drawing_agrees_with_the_exact_answer(distribution: str, slowness: dict[str, Any], jitter: float) -> None:
    for gpus in (8, 1_024):
        keys = {**slowness, "jitter": jitter, "distribution": distribution, "stall_factor": 2.5, "stall_rate": 0.004}
        exact, drawn = efficiency(gpus, **keys), monte_carlo(gpus, **keys)
        assert abs(drawn.step_factor - exact.step_factor) <= 4.0 * drawn.standard_error
        assert 0.0 < drawn.standard_error < 0.01 * exact.step_factor


def test_without_chance_the_draw_is_the_answer() -> None:
    drawn = monte_carlo(8, slowdown=1.5)
    assert (drawn.step_factor, drawn.standard_error) == (1.5, 0.0)


def test_the_seed_fixes_the_draw() -> None:
    first, again, other = (monte_carlo(64, jitter=0.01, seed=seed).step_factor for seed in (1, 1, 2))
    assert first == again != other


@settings(max_examples=60, deadline=None)
@given(
    gpus=st.integers(1, 1_000_000),
    slowdown=st.floats(1.0, 100.0),
    slow_ranks=st.integers(0, 3),
    jitter=st.floats(0.0, 1.0),
    distribution=st.sampled_from(["normal", "lognormal"]),
)
def test_the_step_lasts_at_least_as_long_as_any_rank(
    gpus: int, slowdown: float, slow_ranks: int, jitter: float, distribution: str
) -> None:
    slow = min(slow_ranks, gpus)
    keys: dict[str, Any] = {"jitter": jitter, "distribution": distribution, "slow_ranks": slow}
    factor = efficiency(gpus, slowdown=slowdown, **keys).step_factor
    assert math.isfinite(factor)
    assert factor >= (slowdown if slow else 1.0) * (1.0 - 1e-6)
    assert factor >= efficiency(gpus, **keys).step_factor * (1.0 - 1e-6)


def test_the_table_has_exactly_the_keys_that_are_printed() -> None:
    rows = table([8, 64], slowdown=1.1, jitter=0.01)
    assert [row["gpus"] for row in rows] == [8, 64]
    for row in rows:
        assert list(row) == ["gpus", "efficiency", "step_factor", "monte_carlo"]
        assert list(row["monte_carlo"]) == ["step_factor", "standard_error"]
    assert rows[1]["step_factor"] == efficiency(64, slowdown=1.1, jitter=0.01).step_factor


@pytest.mark.parametrize(
    ("gpus", "keys", "message"),
    [
        (0, {}, "gpus: 0 is not a whole number from 1 to 1,000,000"),
        (1_000_001, {}, "gpus: 1000001 is not"),
        (True, {}, "gpus: True is not"),
        (8, {"slowdown": 0.9}, "slowdown: 0.9 is not a number from 1 to 100"),
        (8, {"slowdown": math.nan}, "slowdown: nan is not"),
        (8, {"jitter": 1.5}, "jitter: 1.5 is not a number from 0 to 1"),
        (8, {"distribution": "gamma"}, "distribution: 'gamma' is not one of normal, lognormal"),
        (8, {"stall_rate": 2.0}, "stall_rate: 2.0 is not a number from 0 to 1"),
        (8, {"stall_factor": 0.5}, "stall_factor: 0.5 is not a number from 1 to 1000"),
        (8, {"slow_ranks": 9}, "slow_ranks: 9 is not a whole number from 0 to 8"),
    ],
)
def test_errors_name_the_key_and_its_range(gpus: int, keys: dict[str, Any], message: str) -> None:
    for ask in (efficiency, monte_carlo):
        with pytest.raises(ValueError, match=message):
            ask(gpus, **keys)
    with pytest.raises(ValueError, match=message):
        table([gpus], **keys)


def test_a_table_of_no_or_too_many_counts_is_refused() -> None:
    for counts in ([], [8] * (MOST_COUNTS + 1)):
        with pytest.raises(ValueError, match=f"gpus: {len(counts)} counts are not 1 to {MOST_COUNTS}"):
            table(counts)
    with pytest.raises(ValueError, match="n: 0 is not a whole number"):
        expected_max(0)


def test_efficiency_falls_with_every_gpu_that_is_added() -> None:
    factors = [efficiency(gpus, jitter=0.005).step_factor for gpus in COUNTS]
    assert factors == sorted(factors)


def test_communication_in_the_open_is_added_to_every_step_and_hidden_one_is_not() -> None:
    keys: dict[str, Any] = {"slowdown": 1.5, "stall_factor": 3.0, "stall_rate": 0.01}
    for gpus in (2, 1_024):
        assert efficiency(gpus, **keys, communication=0.4).step_factor == pytest.approx(1.9 * 1.02)
        assert efficiency(gpus, **keys, communication=0.4, overlap=0.75).step_factor == pytest.approx(1.6 * 1.02)
        assert efficiency(gpus, **keys, communication=0.4, overlap=1.0).step_factor == pytest.approx(1.5 * 1.02)
    assert efficiency(1, communication=1.0).step_factor == 1.0, "one GPU has nobody to talk to"


def test_drawn_steps_talk_as_the_exact_ones_do() -> None:
    keys: dict[str, Any] = {"slowdown": 1.1, "jitter": 0.02, "communication": 0.3, "overlap": 0.5}
    exact, drawn = efficiency(64, **keys), monte_carlo(64, **keys)
    assert drawn.step_factor == pytest.approx(exact.step_factor, abs=4 * drawn.standard_error)


def test_what_is_in_the_open_makes_a_slow_rank_cost_less_of_the_whole() -> None:
    def cost(**keys: Any) -> float:
        return efficiency(64, slowdown=1.5, **keys).step_factor / efficiency(64, **keys).step_factor

    assert cost() > cost(communication=0.5, overlap=0.5) > cost(communication=0.5)
