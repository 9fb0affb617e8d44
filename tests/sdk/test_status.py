"""The state of the stack, and what of it is a problem."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.error import URLError

import pytest
from docker.errors import DockerException

from stepscope.stack.errors import StackError
from stepscope.stack.lease import Lease
from stepscope.stack.project import Project
from stepscope.stack.prometheus import MFU, Watched, ask
from stepscope.stack.status import Service, Status, look
from tests.sdk.fake import ENGINE, MIB, PROJECT, FakeEngine, Missing, stack

ROOT = Path(__file__).parents[2]


def well(url: str) -> Watched:
    return Watched(url, reachable=True, targets=3, targets_up=3, mfu={"run-1": 0.42})


def status_of(engine: FakeEngine, watched: Watched | None = None, leases: tuple[Lease, ...] = ()) -> Status:
    return look(Project(engine, PROJECT), leases, watch=lambda url: watched or well(url))


def service(status: Status, name: str) -> Service:
    return next(each for each in status.services if each.service == name)


def test_a_healthy_stack_has_no_problems() -> None:
    status = status_of(stack())
    assert status.problems == ()
    assert service(status, "simulator") == Service(
        service="simulator", container="stepscope-simulator-1", state="running", health="healthy",
        ports=("127.0.0.1:8000->8000/tcp",), image="simulator:1", restarts=0, memory_bytes=50 * MIB, chaos="",
    )  # fmt: skip
    assert service(status, "grafana").ports == ()
    assert status.prometheus is not None
    assert status.prometheus.url == "http://127.0.0.1:9090"


@pytest.mark.parametrize(
    ("state", "health", "problem"),
    [
        ("running", "unhealthy", "simulator is unhealthy"),
        ("running", "starting", "simulator is starting"),
        ("exited", None, "simulator is exited"),
        ("running", None, ""),
        ("running", "none", ""),
    ],
)
def test_what_is_not_well(state: str, health: str | None, problem: str) -> None:
    engine = stack()
    engine.there["simulator"].status, engine.there["simulator"].health = state, health
    assert status_of(engine).problems == ((problem,) if problem else ())


def test_what_is_frozen_is_so_whatever_its_last_healthcheck_said() -> None:
    engine = stack()
    engine.there["simulator"].status = "paused"
    assert status_of(engine).problems == ("simulator is paused",)


def test_what_is_broken_on_purpose_says_so() -> None:
    engine = stack()
    lease = Lease("1", ENGINE, PROJECT, "simulator", "pause", engine.there["simulator"].id, {}, 1e9, 1e9 + 30, 7)
    status = status_of(engine, leases=(lease,))
    assert service(status, "simulator").chaos.startswith("pause until ")
    assert service(status, "prometheus").chaos == ""


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        ({"usage": 60 * MIB, "stats": {"inactive_file": 10 * MIB}}, 50 * MIB),
        ({"usage": 60 * MIB, "stats": {"inactive_file": MIB, "total_inactive_file": 20 * MIB}}, 40 * MIB),
        ({"usage": 60 * MIB}, 60 * MIB),
        ({"usage": MIB, "stats": {"inactive_file": 2 * MIB}}, MIB),
        ({}, None),
    ],
    ids=["cgroup 2", "cgroup 1", "no detail", "more cache than use", "not counted"],
)
def test_memory_is_without_the_cache(memory: dict[str, object], expected: int | None) -> None:
    engine = stack()
    engine.there["simulator"].memory = memory
    assert service(status_of(engine), "simulator").memory_bytes == expected


def test_an_engine_without_one_shot_readings_is_asked_for_a_slow_one() -> None:
    engine = stack()
    engine.there["simulator"].one_shot = False
    assert service(status_of(engine), "simulator").memory_bytes == 50 * MIB
    assert engine.there["simulator"].calls == ["stats", "stats"]


def test_what_does_not_run_has_no_memory_and_what_vanishes_neither() -> None:
    engine = stack()
    engine.there["grafana"].status = "exited"
    engine.there["simulator"].fails["stats"] = Missing("No such container")
    status = status_of(engine)
    assert service(status, "grafana").memory_bytes is None
    assert engine.there["grafana"].calls == []
    assert service(status, "simulator").memory_bytes is None


def test_an_engine_that_goes_away_meanwhile_is_an_error() -> None:
    engine = stack()
    engine.there["simulator"].fails["stats"] = DockerException("gone")
    with pytest.raises(StackError, match="does not answer: gone"):
        status_of(engine)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("0.0.0.0", "http://127.0.0.1:9090"),
        ("::", "http://127.0.0.1:9090"),
        ("192.0.2.7", "http://192.0.2.7:9090"),
        ("2001:db8::7", "http://[2001:db8::7]:9090"),
    ],
)
def test_where_prometheus_is_asked(host: str, url: str) -> None:
    engine = stack()
    engine.there["prometheus"].ports = {"9090/tcp": [{"HostIp": host, "HostPort": "9090"}]}
    watched = status_of(engine).prometheus
    assert watched is not None
    assert watched.url == url


def test_without_a_published_prometheus_nothing_is_asked() -> None:
    engine = stack()
    engine.there["prometheus"].ports = {}
    status = status_of(engine)
    assert status.prometheus is None
    assert status.problems == ("no Prometheus of this project publishes its port",)


@pytest.mark.parametrize(
    ("watched", "problems"),
    [
        (Watched("http://p", reachable=False, detail="refused"), ("Prometheus at http://p does not answer: refused",)),
        (Watched("http://p", True, targets=3, targets_up=1, mfu={"r": 0.4}), ("2 of 3 targets are down",)),
        (Watched("http://p", True, targets=3, targets_up=3, mfu={}), ("no MFU is stored yet",)),
    ],
)
def test_what_prometheus_tells_can_be_a_problem(watched: Watched, problems: tuple[str, ...]) -> None:
    assert status_of(stack(), watched).problems == problems


def vector(*samples: tuple[dict[str, str], str]) -> bytes:
    result = [{"metric": metric, "value": [1e9, value]} for metric, value in samples]
    return json.dumps({"status": "success", "data": {"resultType": "vector", "result": result}}).encode()


def test_prometheus_is_asked_for_targets_and_mfu() -> None:
    answers = {
        "up": vector(({"instance": "a"}, "1"), ({"instance": "b"}, "0")),
        "run": vector(({"run": "r-1"}, "0.42"), ({"run": "r-2"}, "NaN")),
    }
    watched = ask("http://p", fetch=lambda url: answers[url.partition("query=")[2][:3].removesuffix("%")])
    assert watched == Watched("http://p", reachable=True, targets=2, targets_up=1, mfu={"r-1": 0.42})


@pytest.mark.parametrize(
    ("error", "detail"),
    [
        (URLError(ConnectionRefusedError(111, "Connection refused")), "connection refused"),
        (TimeoutError("timed out"), "timed out"),
        (ValueError("not JSON"), "what answers there is no Prometheus"),
        (KeyError("data"), "what answers there is no Prometheus"),
    ],
)
def test_a_prometheus_that_does_not_answer(error: Exception, detail: str) -> None:
    def fetch(_: str) -> bytes:
        raise error

    assert ask("http://p", fetch=fetch) == Watched("http://p", reachable=False, detail=detail)


def test_nobody_listens() -> None:
    assert ask("http://127.0.0.1:9").detail == "connection refused"


def test_mfu_is_a_series_that_the_rules_record() -> None:
    rules = "".join(path.read_text() for path in (ROOT / "prometheus" / "rules").glob("*.yml"))
    assert f"record: {MFU}\n" in rules
