"""The case of 64 H100: what it was found at, what each cause cost, what it ends at, at its own and at honest rates."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from faults.parse import parse_fault
from simulator.headless import simulate
from simulator.presets import CASE_CAUSES, preset
from tests.simulator.jobs import run_with, small

JOBS = ("case-64xh100", "honest-64xh100")
STEPS = 300


@cache
def seen(name: str, causes: tuple[str, ...] = (), seed: int = 1) -> dict[str, Any]:
    return simulate(preset(name), steps=STEPS, seed=seed, faults=[parse_fault(cause) for cause in causes])


def rate(*args: Any) -> float:
    found: float = seen(*args)["tokens_per_second_per_gpu"]
    return found


@pytest.mark.parametrize("seed", [1, 2])
def test_the_case_as_found_and_as_it_ends(seed: int) -> None:
    assert rate("case-64xh100", CASE_CAUSES, seed) == pytest.approx(1_840, rel=0.02)
    assert rate("case-64xh100", (), seed) == pytest.approx(3_110, rel=0.02)
    found = seen("case-64xh100", CASE_CAUSES, seed)
    assert np.mean([rank["gpu_util"] for rank in found["ranks"]]) == pytest.approx(99.4, abs=0.3)
    bubble = found["phases"]["collective"] + found["phases"]["collective_wait"]
    assert bubble == pytest.approx(0.38, abs=0.02)
    assert 0.44 <= seen("case-64xh100", (), seed)["mfu"] <= 0.47


@pytest.mark.parametrize("name", JOBS)
def test_each_cause_that_is_cleared_brings_something_and_the_last_one_all_the_rest(name: str) -> None:
    path = [rate(name, CASE_CAUSES[cleared:]) for cleared in range(len(CASE_CAUSES) + 1)]
    assert path == sorted(path)
    assert all(after > 1.01 * before for before, after in pairwise(path))


def test_the_same_causes_cost_the_honest_job_as_much() -> None:
    lost = [1 - rate(name, CASE_CAUSES) / rate(name) for name in JOBS]
    assert lost[1] == pytest.approx(lost[0], abs=0.03)
    assert 1_000 <= rate("honest-64xh100") <= 1_060


@pytest.mark.parametrize("name", JOBS)
def test_utilization_shows_nothing_of_it(name: str) -> None:
    for causes in ((), CASE_CAUSES):
        assert all(rank["gpu_util"] >= 95.0 for rank in seen(name, causes)["ranks"])
    ranks = seen(name, CASE_CAUSES)["ranks"]
    late = [rank["rank"] for rank in ranks if rank["phases"]["h2d"] > 0.0]
    assert late == [8, 9, 10, 11]


def test_the_case_says_how_its_rates_are_to_be_read() -> None:
    warnings = " ".join(seen("case-64xh100")["warnings"])
    assert "frozen weights" in warnings
    assert "69 %" in warnings
    assert preset("case-64xh100").flops_label == "palm, frozen weights"
    assert seen("honest-64xh100")["warnings"] == []


def test_if_all_weights_were_trained_the_rates_would_be_impossible() -> None:
    job = preset("case-64xh100")
    parameters, h100 = job.model.parameters, job.cluster.gpu.dense_peak_flops
    assert 3_110 * 6 * parameters / h100["bf16"] == pytest.approx(1.32, abs=0.01)
    assert 3_110 * 6 * parameters / h100["fp8"] == pytest.approx(0.66, abs=0.01)
    assert 3_110 * 4 * parameters / h100["fp8"] == pytest.approx(0.44, abs=0.01)


def test_frozen_weights_need_no_weight_gradients() -> None:
    trained, frozen = (small(strategy="fsdp", nodes=2, frozen_weights=frozen) for frozen in (False, True))
    counted = trained.model.parameters - trained.model.embedding_parameters
    assert trained.flops_per_token - frozen.flops_per_token == pytest.approx(2.0 * counted)
    attention = 4.0 * trained.model.layers * trained.model.hidden * trained.model.sequence
    assert frozen.flops_per_token / frozen.flops_over_forward == pytest.approx(2.0 * counted + attention)
    assert trained.flops_over_forward == 3.0
    chains = [run_with(spec).model.chain for spec in (trained, frozen)]
    assert len(chains[1].seconds) == 2 * frozen.model.layers
    assert chains[1].bus_bytes == pytest.approx(chains[0].bus_bytes * 2 / 3)
