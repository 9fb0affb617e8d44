"""Whatever can be had without the token during an exam, the answer is not in it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from faults.registry import kinds
from stepscope.api.access import is_for_participants, is_hidden_in_exam, is_secret
from stepscope.api.routes.page import WEB
from tests.api.conftest import STRAGGLER, Bench, problem
from tests.api.exam_room import BEARER, Room

DOCUMENT: dict[str, Any] = json.loads((WEB.parents[1] / "openapi.json").read_text(encoding="utf-8"))
VALUES = {"kind": "straggler", "scenario": "film", "node": "node-00", "name": "cause-1", "playback": "film-1"}
STATIC = ("/v1/kinds", "/v1/scenarios", "/v1/presets", "/openapi.json", "/docs", "/web/", "/v1/straggler")
"""The same with and without an exam, which is tested by comparing."""
READS = sorted(path for path, operations in DOCUMENT["paths"].items() if "get" in operations)
PAGES = ["/", "/docs", "/openapi.json", *(f"/web/{path.name}" for path in sorted(WEB.iterdir()))]
STREAM = "/v1/events/stream"


def filled(path: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: VALUES.get(match[1], "1"), path)


def seen(bench: Bench) -> dict[str, str]:
    """Every body that can be had without the token."""
    found = {}
    for path in [*map(filled, READS), *PAGES, "/nothing", "/v1/faults/nothing", "/metrics/nodes/nothing"]:
        if path == STREAM:
            continue
        answer = bench.client.get(path)
        if answer.status_code == 200:
            found[path] = answer.text
    return found


@pytest.fixture
def room(bench: Bench) -> Room:
    return Room(bench)


CASES = [
    ("power_cap", "workshop-4gpu"),
    ("straggler", "workshop-4gpu"),
    ("hang", "workshop-4gpu"),
    ("node_unreachable", "anatomy-32gpu"),
    ("gradient_explosion", "workshop-4gpu"),
    ("pfc_storm", "anatomy-32gpu"),
]


@pytest.mark.parametrize(("kind", "preset"), CASES)
def test_nothing_that_is_open_holds_the_answer(room: Room, kind: str, preset: str) -> None:
    before = seen(room.bench)
    room.start(onset_within_seconds=8, kinds=[kind], decoys=True, preset=preset)
    room.join("Ada")
    room.bench.turn(20)
    truth = room.truth()
    during = seen(room.bench)
    for path, text in during.items():
        if path.startswith(STATIC) or path == "/":
            assert text == before[path], path
            continue
        if path == "/v1/exam":
            # The names of all causes stand there; which one it is, does not.
            shown = json.loads(text)
            assert shown.pop("truth") is None
            assert [name in shown["causes"] for name in kinds() if name != "none"] == [True] * len(shown["causes"][:-1])
            text = json.dumps({**shown, "causes": [], "remedies": []})
        for word in (kind, "cause-1", "decoy-", str(truth["seed"]), *truth["hints"]):
            assert word not in text, (path, word)
        for remedy in set(truth["truth"][0]["remedies"]) - {"none"}:
            assert remedy not in text, (path, remedy)


def test_what_everybody_sees_of_the_exam_is_the_same_whatever_is_wrong(bench: Bench) -> None:
    room = Room(bench)
    shown = []
    for options in ({"kinds": ["power_cap"]}, {"kinds": ["hang"]}, {"causes": 0}, {"causes": 2}):
        room.start(**options)
        ada = room.join("Ada")
        room.answer(ada, room.right())
        view = room.bench.get("/v1/exam")
        assert view.pop("exam") == room.bench.get("/v1/job")["run"]["run"] == room.bench.get("/v1/state")["run"]["run"]
        shown.append(json.dumps(view))
        room.control("forget")
    assert len(set(shown)) == 1


def test_the_seed_that_a_run_shows_is_not_its_own(room: Room) -> None:
    room.start()
    seed = room.truth()["seed"]
    assert seed >= 2**32, "drawn from too few to be looked through"
    assert room.bench.get("/v1/job")["run"]["seed"] == 0
    assert room.bench.get("/v1/state")["run"]["seed"] == 0
    room.control("forget")
    room.start()
    assert room.truth()["seed"] != seed


def test_the_run_is_not_that_of_the_seed_that_it_shows(room: Room) -> None:
    def powers() -> list[float]:
        room.bench.turn(3)
        return [rank["power_watts"] for rank in room.bench.get("/v1/state")["ranks"]]

    room.start(causes=0, decoys=False)
    in_exam = powers()
    room.control("forget")
    room.client.put("/v1/job", json={"preset": "workshop-4gpu", "seed": 0})
    assert powers() != in_exam


def test_the_healthy_step_beside_it_is_not_the_runs_own_without_its_faults(room: Room) -> None:
    room.start(causes=0, decoys=False)
    room.bench.turn(3)
    assert room.bench.get("/v1/step")["ranks"] != room.bench.get("/v1/step?healthy=true")["ranks"]
    room.control("forget")
    room.bench.turn(3)
    room.client.put("/v1/job", json={"preset": "workshop-4gpu", "seed": 5})
    room.bench.turn(3)
    shown, healthy = room.bench.get("/v1/step")["ranks"], room.bench.get("/v1/step?healthy=true")["ranks"]
    differences = [
        abs(one["seconds"][phase] - other["seconds"][phase])
        for one, other in zip(shown, healthy, strict=True)
        for phase in one["seconds"]
    ]
    assert max(differences) < 1e-9, "outside an exam it is, which is why an exam's seed is secret"


HIDDEN = [path for path in READS if is_hidden_in_exam(path, "GET") and not is_secret(path)]


def test_these_are_the_paths_that_an_exam_hides() -> None:
    assert {"/v1/faults", "/v1/faults/{name}", "/v1/events", STREAM, "/v1/remedies", "/v1/playbacks"} <= set(HIDDEN)
    for path in ("/v1/diagnosis", "/v1/diagnosis/pipeline", "/v1/anything/new", "/v1/exam/other"):
        assert is_hidden_in_exam(path, "GET")
    assert not any(path.startswith("/metrics") for path in HIDDEN)


@pytest.mark.parametrize("path", HIDDEN)
def test_a_hidden_path_needs_the_token_until_the_exam_is_revealed(room: Room, path: str) -> None:
    where = filled(path)
    if path != STREAM:
        assert room.client.get(where).status_code in (200, 404)
    room.start()
    for _ in range(2):
        problem(room.client.get(where), 401)
        assert room.client.head(where).status_code == 401
        if path != STREAM:
            assert room.client.get(where, headers=BEARER).status_code in (200, 404)
        if room.bench.get("/v1/exam")["state"] == "running":
            room.control("stop")
    room.control("reveal")
    if path != STREAM:
        assert room.client.get(where).status_code in (200, 404)


WRITES = sorted(
    (method.upper(), path)
    for path, operations in DOCUMENT["paths"].items()
    for method in operations
    if method.upper() in ("PUT", "POST", "PATCH", "DELETE") and not is_for_participants(path)
)


@pytest.mark.parametrize(("method", "path"), WRITES)
def test_no_write_goes_without_the_token_during_an_exam(room: Room, method: str, path: str) -> None:
    room.start()
    ada = room.join("Ada")
    for query in ("", "?dry_run=true"):
        problem(room.client.request(method, filled(path) + query, json={}), 401)
        problem(room.client.request(method, filled(path) + query, json={}, headers=ada), 401)


def test_the_document_says_which_paths_need_what() -> None:
    for path, operations in DOCUMENT["paths"].items():
        for method, operation in operations.items():
            security = operation.get("security", [])
            if is_secret(path):
                assert security == [{"token": []}], path
            elif path.startswith("/v1/exam/me"):
                assert security == [{"participant": []}], path
            elif is_hidden_in_exam(path, method.upper()):
                assert security == [{}, {"token": []}], path
            else:
                assert security == [], path
            assert not security or "401" in operation["responses"], path


def test_the_number_of_events_is_not_told_during_an_exam(room: Room) -> None:
    room.bench.put_fault("a", STRAGGLER)
    room.bench.turn(1)
    assert room.bench.get("/v1/state")["position"]["last_event"] > 0
    room.start(onset_within_seconds=8)
    counts = set()
    for _ in range(12):
        room.bench.turn(1)
        counts.add(room.bench.get("/v1/state")["position"]["last_event"])
    assert counts == {0}
