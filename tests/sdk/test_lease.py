"""The file of leases."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from stepscope.stack.errors import StackError
from stepscope.stack.lease import Lease, LeaseFile, state_file

LEASE = Lease(
    id="1", engine="e", project="p", service="simulator", action="pause", container="c", memory={"a": [1, None]},
    began=1e9, until=1e9 + 30, process=7,
)  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> LeaseFile:
    return LeaseFile(tmp_path / "state" / "chaos.json")


def test_no_file_is_no_lease(file: LeaseFile) -> None:
    assert file.leases(engine="e", project="p") == []
    assert not file.holds("1")
    file.remove("1")


def test_a_lease_is_kept_until_it_is_removed(file: LeaseFile) -> None:
    file.add(LEASE)
    assert LeaseFile(file.path).leases(engine="e", project="p") == [LEASE]
    assert file.holds("1")
    file.remove("1")
    assert not file.holds("1")


def test_leases_are_by_engine_and_project(file: LeaseFile) -> None:
    others = [replace(LEASE, id="2", engine="other"), replace(LEASE, id="3", project="other")]
    for lease in (LEASE, *others):
        file.add(lease)
    assert file.leases(engine="e", project="p") == [LEASE]


def test_a_service_is_leased_once(file: LeaseFile) -> None:
    file.add(LEASE)
    with pytest.raises(StackError, match=r"^simulator is broken already: pause until .* by process 7; .*chaos reset"):
        file.add(replace(LEASE, id="2", action="stop"))
    file.add(replace(LEASE, id="3", service="prometheus"))
    assert [lease.id for lease in file.leases(engine="e", project="p")] == ["1", "3"]


def test_nothing_of_a_change_is_left_beside_the_file(file: LeaseFile) -> None:
    file.add(LEASE)
    assert sorted(path.name for path in file.path.parent.iterdir()) == ["chaos.json", "chaos.lock"]


def test_changes_at_the_same_time_are_all_kept(file: LeaseFile) -> None:
    leases = [replace(LEASE, id=str(number), service=f"service-{number}") for number in range(8)]
    threads = [threading.Thread(target=file.add, args=(lease,)) for lease in leases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {lease.id for lease in file.leases(engine="e", project="p")} == {lease.id for lease in leases}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"leases": [1]}', '{"leases": [{"id": "1"}]}', '{"leases": 1}'])
def test_a_file_of_something_else_is_named_and_kept(file: LeaseFile, text: str) -> None:
    file.path.parent.mkdir()
    file.path.write_text(text)
    for act in (lambda: file.leases(engine="e", project="p"), lambda: file.add(LEASE)):
        with pytest.raises(StackError, match=r"chaos\.json is not a file of leases"):
            act()
    assert file.path.read_text() == text


def test_what_a_newer_version_adds_is_no_obstacle(file: LeaseFile) -> None:
    file.add(LEASE)
    content = json.loads(file.path.read_text())
    content["leases"][0]["colour"] = "blue"
    file.path.write_text(json.dumps(content))
    assert file.leases(engine="e", project="p") == [LEASE]


def test_a_folder_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "chaos.json").mkdir()
    with pytest.raises(StackError, match=r"chaos\.json cannot be read \(Is a directory\)"):
        LeaseFile(tmp_path / "chaos.json").holds("1")
    (tmp_path / "state").write_text("")
    with pytest.raises(StackError, match=r"cannot be written"):
        LeaseFile(tmp_path / "state" / "chaos.json").add(LEASE)


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, "/home/x/.local/state/stepscope/chaos.json"),
        ({"XDG_STATE_HOME": ""}, "/home/x/.local/state/stepscope/chaos.json"),
        ({"XDG_STATE_HOME": "relative"}, "/home/x/.local/state/stepscope/chaos.json"),
        ({"XDG_STATE_HOME": "/state"}, "/state/stepscope/chaos.json"),
    ],
)
def test_where_it_is(environ: dict[str, str], expected: str) -> None:
    assert state_file(environ, home=Path("/home/x")) == Path(expected)
