from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from faults import change
from faults.record import FaultRecord, validate_name
from faults.registry import kinds
from faults.spec import FIELDS, FaultSpec
from stepscope.api import schema
from tests.api.conftest import STRAGGLER, Bench, pointers, problem


def test_the_catalogue_lists_every_kind_with_its_parameters(bench: Bench) -> None:
    found = bench.get("/v1/kinds")["kinds"]
    assert [kind["kind"] for kind in found] == sorted(kinds())
    slowdown = next(kind for kind in found if kind["kind"] == "straggler")["params"]["properties"]["slowdown"]
    assert (slowdown["minimum"], slowdown["maximum"], slowdown["default"]) == (1.05, 4.0, 1.5)
    assert slowdown["x-unit"] == "ratio"


def test_one_kind(bench: Bench) -> None:
    found = bench.get("/v1/kinds/io_starvation")
    assert found["look_at"]
    assert found["default_target"] == {"mode": "all", "value": None}
    assert "straggler" in problem(bench.client.get("/v1/kinds/stragler"), 404)["detail"]


def test_put_creates_replaces_and_repeats(bench: Bench) -> None:
    created = bench.put_fault("slow")
    assert created.status_code == 201
    assert created.json()["resolved_targets"] == [2]
    assert created.json()["params"] == {"slowdown": 1.5}
    again = bench.put_fault("slow")
    assert (again.status_code, again.json()) == (200, created.json())
    replaced = bench.put_fault("slow", STRAGGLER | {"intensity": 0.5})
    assert replaced.status_code == 200
    assert replaced.json()["intensity"] == 0.5


def test_a_fault_acts_from_the_step_that_the_answer_names(bench: Bench) -> None:
    healthy = bench.get("/v1/step")["duration_seconds"]
    named = bench.put_fault("slow").json()["effective_from_step"]
    assert named == bench.get("/v1/state")["position"]["next_step"]
    bench.turn(1)
    assert bench.get("/v1/step")["step"] < named + 4
    bench.turn(2)
    assert bench.get("/v1/step")["duration_seconds"] > 1.3 * healthy


def test_a_fault_that_starts_later_names_no_step_yet(bench: Bench) -> None:
    found = bench.put_fault("later", STRAGGLER | {"start_after_seconds": 2}).json()
    assert (found["state"], found["effective_from_step"], found["effective_intensity"]) == ("pending", None, 0.0)
    bench.turn(3)
    found = bench.get("/v1/faults/later")
    assert found["state"] == "active"
    assert found["effective_from_step"] > 0


def test_a_fault_expires(bench: Bench) -> None:
    body = {"kind": "straggler", "duration_seconds": 2}
    assert bench.put_fault("short", body).json()["expires_at"] is not None
    bench.turn(4)
    assert bench.get("/v1/faults/short")["state"] == "expired"


@pytest.mark.parametrize("immediate", [False, True])
def test_clearing_follows_the_ramp_unless_immediate(bench: Bench, immediate: bool) -> None:
    bench.put_fault("slow", STRAGGLER | {"ramp_down_seconds": 10})
    bench.turn(2)
    query = {"immediate": "true"} if immediate else {}
    answer = bench.client.delete("/v1/faults/slow", params=query)
    assert (answer.status_code, answer.content) == (204, b"")
    bench.turn(1)
    assert bench.get("/v1/faults/slow")["state"] == ("cleared" if immediate else "recovering")
    assert bench.client.delete("/v1/faults/slow").status_code == 204


def test_a_name_never_seen_is_404(bench: Bench) -> None:
    problem(bench.client.get("/v1/faults/nobody"), 404)
    problem(bench.client.delete("/v1/faults/nobody"), 404)


@pytest.mark.parametrize("name", ["Slow", "-a", "a-", "a b", "ä", "a" * 65, "a%00", "."])
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_a_bad_name_is_refused_by_its_place(bench: Bench, method: str, name: str) -> None:
    answer = bench.client.request(method, f"/v1/faults/{name}", json=STRAGGLER if method == "PUT" else None)
    if name == ".":  # A client resolves it away: it then asks for the list.
        assert answer.status_code in (200, 404, 405)
        return
    assert pointers(problem(answer, 422)) == [("path", "/name")]


@pytest.mark.parametrize("name", ["a", "0", "a.b_c-d", "a" * 64])
def test_a_good_name_is_good_for_the_book_too(bench: Bench, name: str) -> None:
    assert bench.put_fault(name).status_code == 201
    assert validate_name(name) == name


def test_the_list_can_be_narrowed(bench: Bench) -> None:
    bench.put_fault("slow")
    bench.put_fault("io", {"kind": "io_starvation", "open_ended": True})
    bench.put_fault("later", STRAGGLER | {"start_after_seconds": 99})

    def names(query: str) -> list[str]:
        return [fault["name"] for fault in bench.get(f"/v1/faults?{query}")["faults"]]

    assert names("") == ["io", "later", "slow"]
    assert names("kind=straggler") == ["later", "slow"]
    assert names("rank=0") == ["io"]
    assert names("rank=99") == []
    assert names("state=pending") == ["later"]
    assert names("state=active&kind=straggler&rank=2") == ["slow"]


@pytest.mark.parametrize("query", ["kind=stragler", "rank=-1", "rank=1.0", "rank=01", "rank=", "state=broken"])
def test_a_bad_filter_is_refused(bench: Bench, query: str) -> None:
    assert pointers(problem(bench.client.get(f"/v1/faults?{query}"), 422)) == [("query", "/" + query.split("=")[0])]


def test_a_dry_run_predicts_and_applies_nothing(bench: Bench) -> None:
    answer = bench.put_fault("slow", dry_run="true")
    assert answer.status_code == 200
    found = answer.json()
    assert found["dry_run"] is True
    assert found["fault"]["resolved_targets"] == [2]
    predicted = found["predicted"]
    assert predicted["mfu"]["after"] < 0.8 * predicted["mfu"]["before"]
    assert predicted["step_seconds"]["after"] > 1.3 * predicted["step_seconds"]["before"]
    assert predicted["gpu_util_percent"]["after"] > 98
    assert bench.get("/v1/faults") == {"faults": []}
    problem(bench.put_fault("slow", {"kind": "nothing"}, dry_run="true"), 422)


def test_an_unknown_kind_lists_the_valid_ones(bench: Bench) -> None:
    found = problem(bench.put_fault("a", {"kind": "stragler", "open_ended": True}), 422)
    assert pointers(found) == [("body", "/kind")]
    assert all(kind in found["errors"][0]["detail"] for kind in kinds())


def test_every_error_of_a_body_is_named_at_once(bench: Bench) -> None:
    body = {"kind": "straggler", "params": {"slowdown": 9}, "target": {"mode": "percent", "value": 101}, "intensity": 2}
    found = pointers(problem(bench.put_fault("a", body), 422))
    assert set(found) == {
        ("body", f"/{at}") for at in ("params/slowdown", "target/value", "intensity", "duration_seconds")
    }


def test_the_number_of_live_faults_is_capped(bench: Bench) -> None:
    answers = [bench.put_fault(f"f{number}", {"kind": "none", "open_ended": True}) for number in range(65)]
    assert [answer.status_code for answer in answers[:64]] == [201] * 64
    assert problem(answers[64], 409)["type"].endswith("too-many-faults")


def test_reset_clears_everything_and_restores_the_model(bench: Bench) -> None:
    bench.put_fault("slow", STRAGGLER | {"ramp_down_seconds": 100})
    bench.put_fault("boom", {"kind": "gradient_explosion", "open_ended": True})
    bench.turn(10)
    exploded = bench.get("/v1/state")["learning"]["grad_norm"]
    answer = bench.client.post("/v1/reset")
    assert answer.status_code == 200
    assert answer.json() == {"effective_from_step": bench.engine.next_step}
    assert {fault["state"] for fault in bench.get("/v1/faults")["faults"]} == {"cleared"}
    bench.turn(3)
    assert bench.get("/v1/state")["learning"]["grad_norm"] < exploded / 100


def test_the_schema_of_a_body_knows_every_field_and_kind() -> None:
    found = schema.components()
    assert set(found.pop("FaultChange")["properties"]) == set(change.FIELDS)  # type: ignore[call-overload]
    assert set(found) == {"FaultWrite"} | {f"FaultWrite_{kind}" for kind in kinds()}
    for name, kind in found.items():
        properties: Any = kind.get("properties", dict.fromkeys(FIELDS))
        assert set(properties) == set(FIELDS), name


def test_the_examples_of_the_schema_are_faults() -> None:
    for example in schema.EXAMPLES.values():
        assert isinstance(example, dict)
        FaultSpec.from_mapping(example["value"])
    for example in schema.CHANGES.values():
        assert isinstance(example, dict)
        change.FaultChange.from_mapping(example["value"])


def test_faults_are_put_into_words_while_the_engine_goes_on(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.put_fault("slow")
    mapped, free = FaultRecord.to_mapping, []

    def noted(record: FaultRecord, at_seconds: float) -> dict[str, object]:
        with ThreadPoolExecutor(1) as engine:
            free.append(engine.submit(bench.engine._lock.acquire, blocking=False).result())
            engine.submit(bench.engine._lock.release).result()
        return mapped(record, at_seconds)

    monkeypatch.setattr(FaultRecord, "to_mapping", noted)
    bench.get("/v1/faults")
    bench.get("/v1/faults/slow")
    assert free == [True, True]


def test_the_ranks_of_a_fault_are_listed_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.put_fault("slow")
    before = bench.get("/v1/faults")
    monkeypatch.setattr("faults.record.listing", None)
    assert bench.get("/v1/faults") == before


@pytest.mark.parametrize("rank", [0, 2, 3, 999])
def test_a_rank_is_hit_or_not(bench: Bench, rank: int) -> None:
    bench.put_fault("slow", STRAGGLER | {"target": {"mode": "ranks", "value": [0, 2]}})
    assert len(bench.get(f"/v1/faults?rank={rank}")["faults"]) == (rank in (0, 2))


def test_a_fault_that_ended_long_ago_is_gone_and_still_cleared(bench: Bench) -> None:
    for index in range(300):
        bench.put_fault(f"f{index}", {"kind": "none", "open_ended": True})
        bench.client.delete(f"/v1/faults/f{index}")
    assert problem(bench.client.get("/v1/faults/f0"), 410)["type"].endswith("gone")
    assert bench.client.delete("/v1/faults/f0").status_code == 204
    problem(bench.client.get("/v1/faults/never"), 404)
    problem(bench.client.delete("/v1/faults/never"), 404)


@pytest.mark.parametrize("intensity", [1e-320, 0.0009])
def test_a_fault_too_weak_to_be_seen_is_refused(bench: Bench, intensity: float) -> None:
    found = problem(bench.put_fault("slow", STRAGGLER | {"intensity": intensity}), 422)
    assert pointers(found) == [("body", "/intensity")]
    assert "at least 0.001" in found["detail"]
    assert bench.put_fault("slow", STRAGGLER | {"intensity": 0.001}).status_code == 201
    changed = bench.client.patch("/v1/faults/slow", json={"intensity": intensity})
    assert pointers(problem(changed, 422)) == [("body", "/intensity")]


def test_a_reset_is_logged_after_what_it_clears(bench: Bench) -> None:
    bench.put_fault("slow")
    bench.client.post("/v1/reset")
    assert [event["event"] for event in bench.get("/v1/events")["events"]][-2:] == ["cleared", "reset"]


@pytest.mark.parametrize("late", [0.0, 0.3, 0.9])
def test_no_fault_expires_before_the_time_that_it_was_told(bench: Bench, late: float) -> None:
    bench.clock.turn(late)
    told = bench.put_fault("slow", {"kind": "straggler", "duration_seconds": 2.5}).json()
    assert told["created_at"] <= bench.get("/v1/events")["events"][-1]["time"]
    for _ in range(5):
        bench.turn(1)
    found = next(event for event in bench.get("/v1/events")["events"] if event["event"] == "expired")
    assert found["time"] >= told["expires_at"] == bench.get("/v1/faults/slow")["expires_at"]


def test_times_follow_a_wall_clock_that_was_set(bench: Bench) -> None:
    bench.clock.set_wall(7_200.0)
    bench.turn(1)
    told = bench.put_fault("slow").json()["created_at"]
    assert told == bench.get("/v1/state")["position"]["time"]
