"""What the pages show when the monitoring shows less than there is."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from exporter.pages import NodeUnreachableError, Pages
from simulator.observation import Monitoring
from tests.exporter.ticks import StubClock, StubEngine, run_info, tick


def hidden(*, nodes: int = 3, **changes: object) -> Pages:
    """Pages of a run of four GPUs per node whose monitoring shows less than there is."""
    source = tick(run_info(ranks=4 * nodes, nics=2))
    whole = Monitoring(source.devices, source.counters, np.ones(4 * nodes, dtype=bool), np.ones(nodes, dtype=bool))
    seen = replace(source, monitoring=replace(whole, **changes))  # type: ignore[arg-type]
    return Pages(StubEngine(tick=seen), clock=StubClock(source.timestamp))


def test_a_node_that_does_not_answer_has_no_page_and_all_others_have_theirs() -> None:
    pages = hidden(reachable=np.array([True, False, True]))
    with pytest.raises(NodeUnreachableError):
        pages.node("node-01")
    with pytest.raises(KeyError):
        pages.node("node-09")
    assert b'rank="11"' in pages.node("node-02").body
    assert b"training_steps_total" in pages.run().body


def test_the_page_for_people_leaves_out_the_node_that_does_not_answer() -> None:
    whole = hidden().all().body.decode().splitlines()
    page = hidden(reachable=np.array([True, False, True])).all().body.decode().splitlines()
    gone = set(whole) - set(page)
    about = [line for line in gone if not line.startswith(("exporter_", "process_", "python_"))]
    assert about
    assert all('node-01"' in line or re.search(r'rank="[4-7]"', line) for line in about)
    assert not [line for line in page if 'Hostname="node-01"' in line]
    assert [line for line in page if 'rank="8"' in line] == [line for line in whole if 'rank="8"' in line]


def test_profiling_fields_are_0_where_somebody_else_holds_the_counters() -> None:
    pages = hidden(nodes=1, profiled=np.array([True, True, False, True]))
    values: dict[str, list[float]] = {}
    for line in pages.node("node-00").body.decode().splitlines():
        if line.startswith("DCGM_FI_"):
            values.setdefault(line.partition("{")[0], []).append(float(line.rpartition(" ")[2]))
    profiling = {name for name in values if name.startswith("DCGM_FI_PROF_") and "FP64" not in name}
    assert len(profiling) == 11
    for name, (first, _, third, _) in values.items():
        assert (third == 0.0) is (name in profiling or first == 0.0), name
    assert values["DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL"][2] > 0, "a device field goes on"


def test_what_is_seen_of_boards_is_what_their_source_repeats() -> None:
    old = tick(run_info(ranks=4), index=7)
    now = tick(run_info(ranks=4), index=60)
    counters = replace(now.counters, energy_joules=old.counters.energy_joules)
    seen = Monitoring(old.devices, counters, np.ones(4, dtype=bool), np.ones(1, dtype=bool))
    late = Pages(StubEngine(tick=replace(now, monitoring=seen)), clock=StubClock(now.timestamp))
    fresh = Pages(StubEngine(tick=now), clock=StubClock(now.timestamp))
    before = Pages(StubEngine(tick=old), clock=StubClock(old.timestamp))

    def chosen(pages: Pages, beginning: str) -> list[str]:
        return [line for line in pages.node("node-00").body.decode().splitlines() if line.startswith(beginning)]

    for name in ("DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_DEV_TOTAL_ENERGY"):
        assert chosen(late, name) == chosen(before, name) != chosen(fresh, name)
    assert chosen(late, "training_phase") == chosen(fresh, "training_phase")
    assert chosen(late, "training_dataloader_queue") == chosen(fresh, "training_dataloader_queue")


def test_errors_of_boards_are_in_their_families() -> None:
    source = tick(run_info())
    counters = replace(
        source.counters,
        xid=np.array([0, 48, 0, 0]),
        correctable_remapped_rows=np.array([0, 0, 3, 0]),
        uncorrectable_remapped_rows=np.array([0, 2, 0, 0]),
    )
    source = replace(source, counters=counters)
    page = Pages(StubEngine(tick=source), clock=StubClock(source.timestamp)).node("node-00").body.decode()
    for name, expected in (
        ("DCGM_FI_DEV_XID_ERRORS", ["0", "48", "0", "0"]),
        ("DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", ["0", "0", "3", "0"]),
        ("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", ["0", "2", "0", "0"]),
    ):
        assert [line.rpartition(" ")[2] for line in page.splitlines() if line.startswith(name + "{")] == expected
