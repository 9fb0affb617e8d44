"""Dry runs, which simulate, beside everything else, which must not wait for them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import anyio
import pytest

from stepscope.api.dry_runs import MOST_AT_ONCE, DryRuns
from stepscope.api.problems import ProblemError
from tests.api.conftest import STRAGGLER, Bench, problem

PATIENCE = 20
"""Seconds after which a hung test fails; none passes by waiting for it."""


@contextmanager
def held_up(bench: Bench, monkeypatch: pytest.MonkeyPatch, number: int) -> Iterator[list[Future[Any]]]:
    """So many dry runs that do not end before the block does."""
    begun, go_on = threading.Semaphore(0), threading.Event()
    preview = bench.engine.preview_fault

    def slowly(*arguments: Any) -> Any:
        begun.release()
        assert go_on.wait(PATIENCE)
        return preview(*arguments)

    monkeypatch.setattr(bench.engine, "preview_fault", slowly)
    with ThreadPoolExecutor(number) as pool:
        answers = [pool.submit(bench.put_fault, f"f{index}", dry_run="true") for index in range(number)]
        try:
            assert all(begun.acquire(timeout=PATIENCE) for _ in answers)
            yield answers
        finally:
            go_on.set()


def test_only_so_many_go_on_at_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    with held_up(bench, monkeypatch, MOST_AT_ONCE) as answers:
        for refused in (
            bench.put_fault("more", dry_run="true"),
            bench.client.post("/v1/faults", json=STRAGGLER, params={"dry_run": "true"}),
        ):
            assert problem(refused, 503)["type"].endswith("dry-runs-busy")
            assert refused.headers["retry-after"] == "5"
    assert [answer.result().status_code for answer in answers] == [200] * MOST_AT_ONCE
    assert bench.put_fault("more", dry_run="true").status_code == 200


def test_everything_else_goes_on_beside_them(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    with held_up(bench, monkeypatch, MOST_AT_ONCE):
        assert bench.put_fault("real").status_code == 201
        for path in ("/v1/state", "/metrics", "/v1/faults", "/healthz"):
            assert bench.client.get(path).status_code == 200
        assert bench.client.post("/v1/reset").status_code == 200
        bench.turn(1)


def test_they_take_no_thread_from_the_pool_of_the_routes() -> None:
    async def main() -> None:
        runs, shared = DryRuns(), anyio.to_thread.current_default_thread_limiter()
        free = shared.available_tokens
        assert await runs.run(lambda: shared.available_tokens) == free

    anyio.run(main)


def test_one_that_fails_gives_its_turn_back() -> None:
    async def main() -> None:
        runs = DryRuns(most=1)
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                await runs.run(lambda: 1 // 0)
        assert await runs.run(lambda: 1) == 1

    anyio.run(main)


def test_a_lab_that_stops_does_not_wait_and_the_turn_ends_with_the_work() -> None:
    async def main() -> None:
        runs, begun, go_on, over = DryRuns(most=1), anyio.Event(), threading.Event(), threading.Event()

        def work() -> None:
            anyio.from_thread.run_sync(begun.set)
            go_on.wait(PATIENCE)
            over.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(runs.run, work)
            await begun.wait()
            tasks.cancel_scope.cancel()
        with pytest.raises(ProblemError):
            await runs.run(lambda: 1)
        go_on.set()
        assert over.wait(PATIENCE)

    anyio.run(main)
