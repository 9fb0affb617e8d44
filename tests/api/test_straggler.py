"""The calculator: what the simulator says, to the digit, at a bounded cost."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from simulator.straggler import DISTRIBUTIONS, table
from stepscope.api import calculator
from stepscope.api.calculator import MOST_COUNTS, MOST_GPUS, MOST_WAITING, Calculator, Question
from stepscope.api.problems import ProblemError
from stepscope.api.routes.straggler import _COUNT
from tests.api.conftest import Bench, pointers, problem


@pytest.mark.parametrize(
    ("query", "gpus", "keys"),
    [
        ("gpus=8,64", [8, 64], {}),
        ("gpus=8,64&slowdown=1.1", [8, 64], {"slowdown": 1.1}),
        ("gpus=64&communication=0.4&overlap=0.5", [64], {"communication": 0.4, "overlap": 0.5}),
        ("gpus=64&slowdown=1.5&ranks=3&jitter=0.01", [64], {"slowdown": 1.5, "slow_ranks": 3, "jitter": 0.01}),
        ("gpus=32&jitter=1e-2&distribution=lognormal", [32], {"jitter": 0.01, "distribution": "lognormal"}),
        ("gpus=64&stall_factor=2.5&stall_rate=0.005", [64], {"stall_factor": 2.5, "stall_rate": 0.005}),
        ("gpus=16&jitter=0.01&seed=9", [16], {"jitter": 0.01, "seed": 9}),
        ("gpus=8,8", [8, 8], {}),
    ],
)
def test_is_the_table_of_the_simulator(bench: Bench, query: str, gpus: list[int], keys: dict[str, Any]) -> None:
    answer = bench.client.get(f"/v1/straggler?{query}")
    assert answer.status_code == 200, answer.text
    assert answer.json() == table(gpus, **keys)


def test_left_out_is_a_healthy_job_of_every_size(bench: Bench) -> None:
    rows: Any = bench.get("/v1/straggler")
    assert [row["gpus"] for row in rows] == [8, 64, 1_024, 16_384, 131_072]
    assert {row["efficiency"] for row in rows} == {1.0}


def test_the_pattern_in_the_document_is_the_limit() -> None:
    pattern = re.compile(_COUNT)
    assert all(pattern.fullmatch(str(count)) for count in [*range(1, MOST_GPUS, 97), MOST_GPUS])
    assert not any(pattern.fullmatch(str(count)) for count in [0, *range(MOST_GPUS + 1, 3 * MOST_GPUS, 97)])


def test_needs_no_run(idle: Bench) -> None:
    assert idle.client.get("/v1/straggler?gpus=8").status_code == 200


@pytest.mark.parametrize(
    ("query", "at"),
    [
        ("gpus=", "gpus"),
        ("gpus=0", "gpus"),
        ("gpus=08", "gpus"),
        ("gpus=8,", "gpus"),
        ("gpus=8, 64", "gpus"),
        ("gpus=8;64", "gpus"),
        (f"gpus={MOST_GPUS + 1}", "gpus"),
        ("gpus=9999999", "gpus"),
        ("gpus=" + ",".join(["8"] * (MOST_COUNTS + 1)), "gpus"),
        ("slowdown=0.99", "slowdown"),
        ("slowdown=101", "slowdown"),
        ("slowdown=nan", "slowdown"),
        ("slowdown=1_0", "slowdown"),
        ("slowdown=%201", "slowdown"),
        ("ranks=-1", "ranks"),
        ("ranks=1.5", "ranks"),
        ("gpus=64,8&ranks=9", "ranks"),
        ("jitter=1.01", "jitter"),
        ("jitter=-0.1", "jitter"),
        ("distribution=gamma", "distribution"),
        ("stall_factor=0", "stall_factor"),
        ("stall_factor=1001", "stall_factor"),
        ("stall_rate=2", "stall_rate"),
        ("seed=4294967296", "seed"),
        ("slow_ranks=1", "slow_ranks"),
        ("gpus=8&gpus=64", "gpus"),
    ],
)
def test_a_bad_question_names_its_parameter(bench: Bench, query: str, at: str) -> None:
    assert pointers(problem(bench.client.get(f"/v1/straggler?{query}"), 422)) == [("query", f"/{at}")]


@pytest.mark.parametrize(
    ("key", "low", "high"),
    [("slowdown", 1, 100), ("jitter", 0, 1), ("stall_factor", 1, 1_000), ("stall_rate", 0, 1), ("overlap", 0, 1)],
)
def test_the_documented_ranges_are_those_of_the_calculator(bench: Bench, key: str, low: float, high: float) -> None:
    parameters = bench.get("/openapi.json")["paths"]["/v1/straggler"]["get"]["parameters"]
    schemas = {parameter["name"]: parameter["schema"] for parameter in parameters}
    assert (schemas[key]["minimum"], schemas[key]["maximum"]) == (low, high)
    assert schemas["distribution"]["enum"] == list(DISTRIBUTIONS)
    for value in (low, high):
        table([8], **causes(key, value))
    for value in (low - 0.01, high + 0.01):
        with pytest.raises(ValueError, match=f"^{key}: "):
            table([8], **causes(key, value))


def causes(key: str, value: float) -> dict[str, Any]:
    return {key: value}


def question(gpus: int = 8) -> Question:
    return Question((gpus,), 1.1, 1, 0.0, "normal", 1.0, 0.0, 1)


def test_one_at_a_time_and_no_endless_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once: list[int] = []
    running = 0

    def slow(asked: Question) -> list[dict[str, Any]]:
        nonlocal running
        running += 1
        at_once.append(running)
        running -= 1
        return [{"gpus": asked.gpus[0]}]

    monkeypatch.setattr(calculator, "_table", slow)

    async def ask() -> list[Any]:
        one = Calculator()
        return await asyncio.gather(
            *(one.answer(question(gpus)) for gpus in range(1, MOST_WAITING + 3)), return_exceptions=True
        )

    found = asyncio.run(ask())
    assert found[:MOST_WAITING] == [[{"gpus": gpus}] for gpus in range(1, MOST_WAITING + 1)]
    assert [error.status for error in found[MOST_WAITING:] if isinstance(error, ProblemError)] == [503, 503]
    assert at_once == [1] * MOST_WAITING


def test_the_same_question_is_calculated_once() -> None:
    calculator._table.cache_clear()
    for _ in range(3):
        asyncio.run(Calculator().answer(question()))
    assert calculator._table.cache_info().misses == 1
