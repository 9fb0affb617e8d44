"""The case of 64 H100, played: three causes, the remedy of each, and what each is worth."""

from __future__ import annotations

import pytest

from faults.scenario_files import scenarios
from faults.treatment import RemedySpec
from simulator.headless import start
from simulator.presets import preset
from simulator.run import Run

DOWN = 40
BEGINS = 60
REMEDIES = (("numa_pin", None), ("NCCL_BUFFSIZE", 4_194_304), ("NCCL_NET_GDR_LEVEL", 5))


def played(scenario: str) -> Run:
    """The run of a scenario a minute after its faults began."""
    found = scenarios()[scenario]
    run = start(preset(found.preset), seed=found.seed)
    for name, spec in found.faults().items():
        run.faults.put(name, spec, at_seconds=0.0, next_step=0)
    for _ in range(BEGINS + 60):
        run.advance()
    return run


def apply(run: Run, name: str, value: object) -> None:
    spec = RemedySpec.from_mapping({"remedy": name, "value": value})
    treatment, _ = run.faults.treat(
        spec, at_seconds=run.seconds, next_step=run.next_step, restart_seconds=run.spec.training.restart_seconds
    )
    run.restart(treatment.restart_seconds)
    for _ in range(DOWN + 10):
        run.advance()


def rate(run: Run) -> float:
    """Tokens per second and GPU over whole steps of the next two minutes."""
    first = run.advance().counters
    for _ in range(120):
        last = run.advance().counters
    steps, seconds = last.steps - first.steps, last.step_seconds_sum - first.step_seconds_sum
    return run.spec.tokens_per_step * steps / seconds / run.spec.ranks


def test_from_1840_to_3110_by_three_remedies() -> None:
    run = played("sixty-four")
    rates = [rate(run)]
    for name, value in REMEDIES:
        apply(run, name, value)
        rates.append(rate(run))
    assert rates[0] == pytest.approx(1_840, rel=0.02)
    assert rates[-1] == pytest.approx(3_110, rel=0.02)
    assert rates == sorted(rates), "each helps, whatever the others still cost"
    assert rates[-1] / rates[0] == pytest.approx(1.69, abs=0.03), "+69 %, not 35 %"
    assert [record.told for record in run.faults.list()] == ["cleared"] * 3


def test_the_order_does_not_matter_for_the_end() -> None:
    run = played("sixty-four")
    for name, value in reversed(REMEDIES):
        apply(run, name, value)
    assert rate(run) == pytest.approx(3_110, rel=0.02)


def test_at_published_rates_the_same_causes_cost_the_same() -> None:
    run = played("sixty-four-honest")
    ill = rate(run)
    for name, value in REMEDIES:
        apply(run, name, value)
    assert 1_000 < rate(run) < 1_060
    assert ill / rate(run) == pytest.approx(1_840 / 3_110, abs=0.03)


def test_what_does_not_help() -> None:
    run = played("sixty-four")
    ill = rate(run)
    for name, value in (
        ("NCCL_ALGO", "auto"),
        ("NCCL_CROSS_NIC", 1),
        ("cache_on_nvme", None),
        ("NCCL_BUFFSIZE", 524_288),
    ):
        apply(run, name, value)
        assert rate(run) == pytest.approx(ill, rel=0.02), name
