"""The numbers in the answers are those of the simulator, in both languages."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pytest

from faults.scenario_files import scenarios
from simulator.straggler import table
from stepscope.cli.main import main
from tests.api.conftest import Bench
from tests.workbook.pages import page

NUMA, BUFFERS, GDR = "numa_misaffinity:ranks=3+17+34+51", "nccl_small_buffer", "gdr_disabled"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    """`stepscope simulate`, as JSON."""

    @cache
    def simulated(*words: str) -> dict[str, Any]:
        capsys.readouterr()
        assert main(["simulate", "--json", *words]) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    return simulated


def faulty(*faults: str) -> list[str]:
    return [word for fault in faults for word in ("--fault", fault)]


def says(name: str, *numbers: str) -> None:
    """Both languages say these numbers, each in its own way of writing them."""
    english, french = page("en", name).answers, page("fr", name).answers
    for number in numbers:
        assert number in english, number
        written = number.replace(",", " ").replace(".", ",")
        assert written in french, written


def percent(ratio: float, digits: int = 1) -> str:
    return f"{100 * ratio:.{digits}f} %"


def util(found: dict[str, Any]) -> str:
    return f"{np.mean([rank['gpu_util'] for rank in found['ranks']]):.1f} %"


def test_is_99_good(run: Any) -> None:
    small, large = ["--steps", "200", "--seed", "7"], ["--preset", "honest-64xh100", "--steps", "60", "--seed", "7"]
    tail = faulty("io_starvation:mode=tail")
    runs = [run(*small), run(*small, *tail), run(*large), run(*large, *tail)]
    says("1-is-99-good.md", *map(util, runs), *(percent(found["mfu"]) for found in runs))
    assert runs[1]["mfu"] / runs[0]["mfu"] == pytest.approx(2 / 3, abs=0.02)


def test_one_slow_gpu(run: Any) -> None:
    ranks = run("--steps", "200", "--seed", "7", *faulty("straggler:ranks=2,slowdown=1.5"))["ranks"]
    waits = [rank["phases"]["collective_wait"] for rank in ranks]
    assert waits[2] == 0
    assert all(wait == pytest.approx(0.1, abs=0.003) for number, wait in enumerate(waits) if number != 2)
    assert all(rank["power_watts"] == pytest.approx(512, abs=3) for rank in ranks if rank["rank"] != 2)
    assert len({percent(rank["tensor_active"]) for rank in ranks}) == 1
    says("2-one-slow-gpu.md", f"{ranks[2]['power_watts']:.0f} W", "512 W", percent(ranks[0]["tensor_active"]), "100 ms")
    slow = table((8, 64, 1024), slowdown=1.5, slow_ranks=1, jitter=0.0, distribution="normal", stall_factor=1.0,
                 stall_rate=0.0, seed=1)  # fmt: skip
    assert {percent(1 - row["efficiency"]) for row in slow} == {"33.3 %"}
    shaky = table((8, 1024), slowdown=1.0, slow_ranks=0, jitter=0.01, distribution="normal", stall_factor=1.0,
                  stall_rate=0.0, seed=1)  # fmt: skip
    says("2-one-slow-gpu.md", "33.3 %", *(percent(1 - row["efficiency"]) for row in shaky))


def test_the_late_batch(run: Any) -> None:
    phases = run("--steps", "200", "--seed", "7", *faulty("io_starvation:mode=tail"))["phases"]
    says("3-the-late-batch.md", percent(phases["data_wait"]), percent(phases["collective_wait"]))
    assert phases["collective_wait"] / phases["data_wait"] == pytest.approx(3, abs=0.1)


def test_in_one_step_the_late_rank_alone_waits_for_data_and_for_nobody() -> None:
    bench = Bench()
    bench.engine.pump()
    bench.put_fault("late", {"kind": "io_starvation", "params": {"mode": "tail"}, "open_ended": True})
    late = set()
    for _ in range(12):
        bench.turn(1)
        step = bench.get("/v1/step")
        waits = [rank["seconds"]["data_wait"] for rank in step["ranks"]]
        (culprit,) = [rank for rank, wait in enumerate(waits) if wait > 0.05 * step["duration_seconds"]]
        others = [rank["seconds"]["collective_wait"] for rank in step["ranks"]]
        assert others.pop(culprit) < 0.01 * step["duration_seconds"] < min(others)
        late.add(culprit)
    assert len(late) > 1


def test_busy_with_talking(run: Any) -> None:
    found = run("--preset", "trap-87", "--steps", "40", "--seed", "1")
    phases = found["phases"]
    shown = [percent(phases[name]) for name in ("forward", "backward", "collective", "optimizer", "data_wait")]
    says("4-busy-with-talking.md", *shown, percent(found["mfu"]), percent(phases["forward"] + phases["backward"], 0))
    slow = run("--preset", "honest-64xh100", "--steps", "60", "--seed", "7", *faulty("network_tail_latency"))
    well = run("--preset", "honest-64xh100", "--steps", "60", "--seed", "7")
    assert slow["phases"]["collective"] > 3 * well["phases"]["collective"]
    waits = [[rank["phases"]["collective_wait"] for rank in one["ranks"]] for one in (well, slow)]
    assert float(np.corrcoef(np.array(waits))[0, 1]) > 0.9, "the same ranks wait as before"


def test_green_and_lost(run: Any) -> None:
    small = ["--steps", "200", "--seed", "7"]
    well, lost = run(*small), run(*small, *faulty("gradient_explosion"))
    for key in ("mfu", "tokens_per_second_per_gpu", "step_seconds", "phases", "ranks"):
        assert well[key] == lost[key]
    shown = [util(lost), percent(lost["mfu"]), f"{lost['tokens_per_second_per_gpu']:,.0f}"]
    says("5-green-and-lost.md", *shown, f"{lost['grad_norm']['max']:,.0f}", f"{well['grad_norm']['max']:.4g}")
    assert lost["grad_norm"]["max"] > 1000 * well["grad_norm"]["max"]


def test_the_case_of_64_gpus(run: Any) -> None:
    base = ["--preset", "case-64xh100", "--steps", "40", "--seed", "7"]
    rates = [
        run(*base, *faulty(*faults))["tokens_per_second_per_gpu"]
        for faults in ([], [NUMA], [BUFFERS], [GDR], [NUMA, BUFFERS, GDR])
    ]
    says("6-sixty-four-gpus.md", *(f"{rate:,.0f}" for rate in rates))
    losses = [round(100 * (1 - rate / rates[0])) for rate in rates[1:]]
    assert losses == [5, 3, 16, 41]
    says("6-sixty-four-gpus.md", "41 %", "69 %", "35 %", "1.69", "0.66", "136 %", "0.44", "0.47")
    assert (round(100 * (3110 / 1840 - 1)), f"{3110 / 1840:.2f}", round(100 * (1 - 1840 / 3110))) == (69, "1.69", 41)


def test_the_causes_are_those_of_the_scenario_that_is_played() -> None:
    scenario = scenarios()["sixty-four"]
    assert {spec.kind for spec in scenario.timeline} == {"numa_misaffinity", BUFFERS, GDR}
    for answer in scenario.answers:
        assert answer.remedy.split(",")[0] in page("en", "6-sixty-four-gpus.md").answers
