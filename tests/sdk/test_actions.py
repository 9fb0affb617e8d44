"""Each way to break a container, and back."""

from __future__ import annotations

from typing import Any

import pytest

from stepscope.stack.actions import ACTIONS, DEFAULT_CPU_PERCENT
from stepscope.stack.errors import StackError
from tests.sdk.fake import FakeContainer, FakeEngine, stack


@pytest.fixture
def engine() -> FakeEngine:
    return stack()


def seen(container: FakeContainer) -> Any:
    """All that an action may change, a quota of none under one name."""
    return container.status, container.attrs["NetworkSettings"], max(0, container.cpu_quota)


def remember(name: str, container: FakeContainer, cpu_percent: int = DEFAULT_CPU_PERCENT) -> Any:
    return ACTIONS[name].remember(container, cpu_percent=cpu_percent)


@pytest.mark.parametrize("name", ACTIONS)
def test_undoing_restores_what_was_there_and_may_be_repeated(name: str, engine: FakeEngine) -> None:
    action, container = ACTIONS[name], engine.there["simulator"]
    before = seen(container)
    memory = remember(name, container)
    action.undo(engine, container, memory)
    assert seen(container) == before, "nothing was broken yet"
    action.do(engine, container, memory)
    assert seen(container) != before
    for _ in range(2):
        action.undo(engine, container, memory)
        assert seen(container) == before


@pytest.mark.parametrize("name", ["stop", "kill"])
@pytest.mark.parametrize("status", ["running", "restarting"])
def test_what_the_engine_started_again_is_left_alone(name: str, status: str, engine: FakeEngine) -> None:
    container = engine.there["simulator"]
    container.status = status
    ACTIONS[name].undo(engine, container, {})
    assert container.calls == []


def test_what_somebody_thawed_is_left_alone(engine: FakeEngine) -> None:
    container = engine.there["simulator"]
    ACTIONS["pause"].undo(engine, container, {})
    assert container.calls == []


def test_an_endpoint_comes_back_with_all_that_it_had(engine: FakeEngine) -> None:
    container = engine.there["simulator"]
    endpoint = engine.network.members[container.id]
    endpoint |= {
        "Aliases": ["lab", "simulator", container.id[:12]],
        "IPAMConfig": {"IPv4Address": "172.20.0.9"},
        "Links": ["stepscope-other-1:other"],
        "DriverOpts": {"option": "value"},
    }
    before, memory = dict(endpoint), remember("disconnect", container)
    ACTIONS["disconnect"].do(engine, container, memory)
    assert container.id not in engine.network.members
    ACTIONS["disconnect"].undo(engine, container, memory)
    assert engine.network.members[container.id] == before


def test_what_is_on_no_network_cannot_be_disconnected(engine: FakeEngine) -> None:
    container = engine.there["simulator"]
    engine.network.members.clear()
    with pytest.raises(StackError, match="is on no network"):
        remember("disconnect", container)


@pytest.mark.parametrize(
    ("quota", "period", "percent", "during", "after"),
    [
        (0, 0, 1, 1_000, -1),
        (-1, 0, 5, 5_000, -1),
        (0, 50_000, 10, 5_000, -1),
        (0, 50_000, 1, 1_000, -1),
        (40_000, 0, 1, 1_000, 40_000),
        (2_000, 0, 50, 2_000, 2_000),
    ],
    ids=["no limit", "-1 is no limit", "its own period", "the kernel's least", "a limit", "a limit that is lower"],
)
def test_the_quota_and_what_it_was(
    engine: FakeEngine, quota: int, period: int, percent: int, during: int, after: int
) -> None:
    container = engine.there["simulator"]
    container.cpu_quota, container.cpu_period = quota, period
    memory = remember("throttle", container, percent)
    ACTIONS["throttle"].do(engine, container, memory)
    assert container.cpu_quota == during
    ACTIONS["throttle"].undo(engine, container, memory)
    assert container.cpu_quota == after


def test_a_limit_in_cpus_cannot_be_throttled(engine: FakeEngine) -> None:
    """The engine refuses a quota beside it, and would leave the container with neither."""
    container = engine.there["simulator"]
    container.nano_cpus = 10**9
    with pytest.raises(StackError, match="cpus:"):
        remember("throttle", container)


@pytest.mark.parametrize("name", ACTIONS)
def test_what_must_be_remembered_is_json(name: str, engine: FakeEngine) -> None:
    import json

    memory = remember(name, engine.there["simulator"])
    assert json.loads(json.dumps(memory)) == memory
