"""Break, wait, put back: whatever happens in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from stepscope.stack.actions import ACTIONS
from stepscope.stack.chaos import Chaos, Order
from stepscope.stack.errors import StackError, StackInputError
from stepscope.stack.lease import Lease, LeaseFile
from stepscope.stack.project import Project
from tests.sdk.fake import ENGINE, PROJECT, FakeEngine, Refused, stack

PAUSE = Order("pause", "simulator", 30)


@dataclass
class FakeTime:
    """A clock that only waiting moves; `hooks` run at the times that they are kept under."""

    at: float = 1e9
    stop_at: float | None = None
    hooks: dict[float, Callable[[], None]] = field(default_factory=dict)

    def now(self) -> float:
        return self.at

    def wait(self, seconds: float) -> bool:
        self.at += seconds
        for moment in [moment for moment in self.hooks if 1e9 + moment <= self.at]:
            self.hooks.pop(moment)()
        return self.stop_at is not None and self.at >= 1e9 + self.stop_at


@dataclass
class Bench:
    """Chaos on a stack in memory."""

    leases: LeaseFile
    engine: FakeEngine = field(default_factory=stack)
    time: FakeTime = field(default_factory=FakeTime)
    told: list[Lease] = field(default_factory=list)

    @property
    def chaos(self) -> Chaos:
        project = Project(self.engine, PROJECT)
        return Chaos(project, ENGINE, self.leases, clock=self.time.now, now=self.time.now)

    def run(self, order: Order = PAUSE) -> object:
        return self.chaos.run(order, self.time, began=self.told.append)

    @property
    def status(self) -> str:
        return self.engine.there["simulator"].status

    def held(self) -> list[str]:
        return [lease.action for lease in self.leases.leases(engine=ENGINE, project=PROJECT)]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(LeaseFile(tmp_path / "chaos.json"))


@pytest.mark.parametrize("action", ACTIONS)
def test_it_lasts_as_long_as_was_asked_for(bench: Bench, action: str) -> None:
    halfway: list[tuple[list[str], list[Lease]]] = []
    bench.time.hooks[15] = lambda: halfway.append((bench.held(), list(bench.told)))
    outcome = bench.chaos.run(Order(action, "simulator", 30), bench.time, began=bench.told.append)
    assert (outcome.ended, outcome.left, outcome.seconds) == ("time", "undone", 30)
    assert halfway[0][0] == [action], "leased while it lasts"
    assert halfway[0][1] == [outcome.lease], "told once it is broken"
    assert bench.held() == []
    assert bench.status == "running"
    assert bench.engine.there["simulator"].id in bench.engine.network.members


def test_a_signal_ends_it_early_and_all_is_put_back(bench: Bench) -> None:
    bench.time.stop_at = 5
    outcome = bench.chaos.run(PAUSE, bench.time, began=bench.told.append)
    assert (outcome.ended, outcome.left, outcome.seconds) == ("signal", "undone", 5)
    assert bench.status == "running"
    assert bench.held() == []


def test_a_reset_elsewhere_ends_it_early(bench: Bench) -> None:
    bench.time.hooks[5] = lambda: assert_reset(bench)
    outcome = bench.chaos.run(PAUSE, bench.time, began=bench.told.append)
    assert (outcome.ended, outcome.seconds) == ("reset", 5)
    assert bench.engine.there["simulator"].calls == ["pause", "unpause"], "put back once"


def assert_reset(bench: Bench) -> None:
    done, failed = bench.chaos.reset()
    assert [outcome.lease.action for outcome in done] == ["pause"]
    assert failed == []


def test_whoever_reset_it_may_break_it_anew(bench: Bench) -> None:
    """The first process must not undo what the second one does."""

    def again() -> None:
        bench.chaos.reset()
        bench.leases.add(Lease("2", ENGINE, PROJECT, "simulator", "pause", "c", {}, 0, 0, 1))
        bench.engine.there["simulator"].pause()

    bench.time.hooks[5] = again
    bench.run()
    assert bench.status == "paused"
    assert bench.held() == ["pause"]


def test_the_lease_is_written_before_anything_is_broken(bench: Bench) -> None:
    simulator = bench.engine.there["simulator"]
    held: list[list[str]] = []
    simulator.on_pause = lambda: held.append(bench.held())
    bench.run()
    assert held == [["pause"]]


def test_after_a_crash_reset_puts_back_what_is_broken(bench: Bench) -> None:
    class PowerCutError(BaseException):
        pass

    simulator = bench.engine.there["simulator"]

    def crash() -> None:
        simulator.fails["unpause"] = PowerCutError()
        raise PowerCutError

    bench.time.hooks[5] = crash
    with pytest.raises(PowerCutError):
        bench.run()
    assert (bench.status, bench.held()) == ("paused", ["pause"])
    simulator.fails.clear()
    assert_reset(bench)
    assert (bench.status, bench.held()) == ("running", [])


def test_an_engine_that_refuses_leaves_nothing_behind(bench: Bench) -> None:
    bench.engine.there["simulator"].fails["pause"] = Refused("cgroup freezer is not there")
    with pytest.raises(StackError, match="refuses: cgroup freezer is not there"):
        bench.run()
    assert bench.held() == []
    assert bench.told == []


def test_half_of_a_breaking_is_put_back(bench: Bench) -> None:
    bench.engine.network.fails["disconnect"] = Refused("no")
    with pytest.raises(StackError):
        bench.run(Order("disconnect", "simulator", 30))
    assert bench.engine.there["simulator"].id in bench.engine.network.members
    assert bench.held() == []


def test_what_cannot_be_put_back_keeps_its_lease_and_says_so(bench: Bench) -> None:
    simulator = bench.engine.there["simulator"]
    simulator.fails["unpause"] = Refused("not now")
    with pytest.raises(StackError, match=r"simulator could not be put back \(.*not now\); try again: stepscope chaos"):
        bench.run()
    assert bench.held() == ["pause"]
    done, failed = bench.chaos.reset()
    assert done == []
    assert "not now" in failed[0].reason
    simulator.fails.clear()
    assert_reset(bench)


def test_one_failure_does_not_keep_reset_from_the_others(bench: Bench) -> None:
    for number, (service, action) in enumerate((("simulator", "pause"), ("prometheus", "stop"))):
        container = bench.engine.there[service]
        bench.leases.add(Lease(str(number), ENGINE, PROJECT, service, action, container.id, {}, 1e9 - 5, 1e9, 1))
    bench.engine.there["simulator"].status = "paused"
    bench.engine.there["simulator"].fails["unpause"] = Refused("no")
    bench.engine.there["prometheus"].status = "exited"
    done, failed = bench.chaos.reset()
    assert [(outcome.lease.service, outcome.seconds) for outcome in done] == [("prometheus", 5)]
    assert [failure.lease.service for failure in failed] == ["simulator"]
    assert bench.engine.there["prometheus"].status == "running"


def test_an_action_of_another_version_is_a_failure_of_its_own(bench: Bench) -> None:
    bench.leases.add(Lease("1", ENGINE, PROJECT, "simulator", "melt", "c", {}, 0, 0, 1))
    _, (failure,) = bench.chaos.reset()
    assert "melt" in failure.reason
    assert bench.held() == ["melt"]


def test_a_container_that_is_gone_needs_nothing(bench: Bench) -> None:
    bench.time.hooks[5] = lambda: bench.engine.there.clear()
    outcome = bench.chaos.run(PAUSE, bench.time, began=bench.told.append)
    assert outcome.left == "container gone"
    assert bench.held() == []


def test_a_container_that_was_made_anew_is_not_touched(bench: Bench) -> None:
    def make_anew() -> None:
        bench.engine.add("simulator", id="another", status="exited")

    bench.time.hooks[5] = make_anew
    outcome = bench.chaos.run(Order("stop", "simulator", 30), bench.time, began=bench.told.append)
    assert outcome.left == "container gone"
    assert bench.engine.there["simulator"].calls == []


def test_a_network_that_is_gone_is_named(bench: Bench) -> None:
    def remove() -> None:
        bench.engine.networks_gone = True

    bench.time.hooks[5] = remove
    with pytest.raises(StackError, match=r"could not be put back \(network network-id not found\)"):
        bench.run(Order("disconnect", "simulator", 30))
    assert bench.held() == ["disconnect"]


@pytest.mark.parametrize("status", ["paused", "exited", "created", "restarting"])
def test_only_what_runs_can_be_broken(bench: Bench, status: str) -> None:
    bench.engine.there["simulator"].status = status
    with pytest.raises(StackError, match=f"simulator is {status}"):
        bench.run()
    assert bench.held() == []


def test_a_service_is_broken_in_one_way_at_a_time(bench: Bench) -> None:
    def second() -> None:
        with pytest.raises(StackError, match="broken already: throttle"):
            bench.chaos.run(Order("disconnect", "simulator", 30), FakeTime(), began=bench.told.append)

    bench.time.hooks[5] = second
    bench.run(Order("throttle", "simulator", 30))
    assert len(bench.told) == 1


@pytest.mark.parametrize(
    ("service", "why"),
    [("grafana", "has not opted in (label stepscope.chaos)"), ("nginx", "is not a service of project 'stepscope'")],
)
def test_only_what_opted_in_can_be_broken(bench: Bench, service: str, why: str) -> None:
    with pytest.raises(StackInputError) as caught:
        bench.run(Order("kill", service, 30))
    assert str(caught.value) == f"SERVICE: '{service}' {why}; those that may be broken: prometheus, simulator"
    assert not [container.calls for container in bench.engine.there.values() if container.calls]
