"""Faults of boards and of the monitoring: what is, what is seen of it, and what must not be mixed up."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from faults import registry
from faults.effects import Effects, Topology
from faults.kind import Application
from faults.parse import parse_fault
from simulator.journal import Journal
from simulator.monitoring import MonitoringPath
from simulator.names import PHASES
from simulator.observation import Counters, Devices, Tick
from simulator.presets import preset
from simulator.run import Run
from tests.simulator.jobs import run_with, small, workshop

ANATOMY = preset("anatomy-32gpu")
MONITORING = ("telemetry_stale", "prof_fields_zero", "node_unreachable", "ecc_error:intensity=mild")
"""Faults that the job must not notice."""


def from_second_ten(fault: str, *, seconds: int = 30, run: Run | None = None) -> tuple[Run, list[Tick]]:
    """A run that a fault hits at second 10, and its ticks."""
    run = workshop() if run is None else run
    separator = "," if ":" in fault else ":"
    spec = parse_fault(f"{fault}{separator}start_after_seconds=10")
    run.faults.put("f", spec, at_seconds=0.0, next_step=0)
    return run, [run.advance() for _ in range(seconds)]


def assert_same(one: object, other: object, *, but: tuple[str, ...] = ()) -> None:
    """Every field of two `Devices` or `Counters`, to the last bit."""
    for field in fields(one):  # type: ignore[arg-type]
        if field.name not in but:
            np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name), err_msg=field.name)


@pytest.mark.parametrize("fault", MONITORING)
def test_the_job_and_its_devices_do_not_notice(fault: str) -> None:
    rows = ("xid", "correctable_remapped_rows")
    calm = workshop()
    for tick in from_second_ten(fault)[1]:
        healthy = calm.advance()
        assert_same(tick.devices, healthy.devices)
        assert_same(tick.counters, healthy.counters, but=rows if fault.startswith("ecc") else ())
        assert tick.learning == healthy.learning or tick.counters.steps == 0
        assert tick.last_step_timestamp == healthy.last_step_timestamp
        np.testing.assert_array_equal(tick.queue_batches, healthy.queue_batches)


def test_a_lost_gpu_gives_no_readings_and_its_rank_never_arrives() -> None:
    run, ticks = from_second_ten("gpu_lost:ranks=2")
    assert ticks[9].monitoring is None
    assert run.stands_still
    seen = ticks[-1].monitored().devices
    for field in fields(Devices):
        if field.name != "throttle_reasons":
            assert np.isnan(getattr(seen, field.name)).tolist() == [False, False, True, False], field.name
    assert ticks[-1].devices.gpu_util_percent.tolist() == [100, 100, 0, 100], "nothing runs on it, the others spin"
    assert ticks[-1].counters.xid.tolist() == [0, 0, 79, 0]
    assert ticks[-1].counters.steps == ticks[12].counters.steps
    grown = ticks[-1].counters.phase_seconds - ticks[-11].counters.phase_seconds
    np.testing.assert_allclose(grown[PHASES.index("stall")], [0, 0, 10, 0], atol=1e-5)
    np.testing.assert_allclose(grown.sum(axis=0), 10.0)
    (line,) = run.drain_kernel_log()
    assert line.text == "node-00 kernel: NVRM: Xid (PCI:0000:3A:00): 79, GPU has fallen off the bus"
    assert line.seconds == 10.0


def test_of_many_gpus_that_are_lost_at_once_the_log_names_the_first() -> None:
    run, _ = from_second_ten("gpu_lost:percent=100", seconds=12, run=run_with(ANATOMY))
    lines = run.drain_kernel_log()
    assert len(lines) == 17
    assert lines[-1].text == "and 16 more GPUs with Xid 79"


@pytest.mark.parametrize(
    ("word", "xid", "rows", "stops"),
    [("mild", 63, (2, 0), False), ("moderate", 94, (0, 2), True), ("severe", 48, (0, 2), True)],
)
def test_an_ecc_error_is_reported_once_and_stays(word: str, xid: int, rows: tuple[int, int], stops: bool) -> None:
    run, ticks = from_second_ten(f"ecc_error:ranks=1,rows=2,intensity={word}")
    counters = ticks[-1].counters
    assert counters.xid.tolist() == [0, xid, 0, 0]
    assert counters.correctable_remapped_rows.tolist() == [0, rows[0], 0, 0]
    assert counters.uncorrectable_remapped_rows.tolist() == [0, rows[1], 0, 0]
    assert run.stands_still is stops
    assert ticks[-1].devices.gpu_util_percent[1] == (0.0 if stops else pytest.approx(99.9, abs=0.2))
    assert ticks[-1].monitoring is None, "every reading is there"
    assert len(run.drain_kernel_log()) == 1
    run.faults.clear("f", at_seconds=run.seconds)
    later = [run.advance() for _ in range(20)][-1].counters
    assert later.steps > counters.steps
    assert (later.xid.tolist(), later.correctable_remapped_rows.tolist()) == ([0, xid, 0, 0], [0, rows[0], 0, 0])
    run.faults.put("again", parse_fault(f"ecc_error:ranks=1,intensity={word}"), at_seconds=run.seconds, next_step=0)
    again = run.advance().counters
    assert again.correctable_remapped_rows[1] + again.uncorrectable_remapped_rows[1] == 3, "rows add up"


@pytest.mark.parametrize("fault", ["gpu_lost:ranks=2", "ecc_error:ranks=2", *MONITORING])
def test_cleared_equals_never_injected_but_for_what_stays(fault: str) -> None:
    spec = small()
    broken, calm = run_with(spec, seed=5), run_with(spec, seed=5)
    phases: tuple[dict[int, np.ndarray], dict[int, np.ndarray]] = {}, {}
    broken.faults.put("f", parse_fault(fault), at_seconds=0.0, next_step=0)
    for second in range(60):
        if second == 10:
            broken.faults.clear("f", at_seconds=broken.seconds)
        for found, run in zip(phases, (broken, calm), strict=True):
            tick = run.advance()
            if second >= 25:
                found |= {block.first_step: block.phases[0] for block, _ in run.ended}
                assert tick.monitoring is None
    shared = sorted(phases[0].keys() & phases[1].keys())
    assert len(shared) > 500
    for step in shared:
        np.testing.assert_array_equal(phases[0][step], phases[1][step])


def test_a_late_source_repeats_its_last_reading_until_the_next_is_due() -> None:
    _, ticks = from_second_ten("telemetry_stale:ranks=1,refresh_seconds=8", seconds=40)
    watts = np.array([tick.monitored().devices.power_watts for tick in ticks])
    joules = np.array([tick.monitored().counters.energy_joules for tick in ticks])
    assert [index for index in range(10, 40) if watts[index, 1] != watts[index - 1, 1]] == [10, 18, 26, 34]
    assert (np.diff(joules[10:18, 1]) == 0).all()
    true = np.array([tick.counters.energy_joules for tick in ticks])
    np.testing.assert_array_equal(joules[[10, 18, 26, 34], 1], true[[10, 18, 26, 34], 1])
    others = [0, 2, 3]
    np.testing.assert_array_equal(joules[:, others], true[:, others])
    np.testing.assert_array_equal(
        [tick.monitored().counters.phase_seconds for tick in ticks], [tick.counters.phase_seconds for tick in ticks]
    )


def test_a_source_that_repeats_itself_hides_that_a_gpu_is_gone() -> None:
    run = workshop("telemetry_stale")
    _, ticks = from_second_ten("gpu_lost:ranks=2", run=run)
    assert not np.isnan(ticks[-1].monitored().devices.power_watts).any()
    assert ticks[-1].counters.xid[2] == 79
    assert ticks[-1].monitored().counters.xid[2] == 0, "its XID is not read either"


@pytest.mark.parametrize("order", [1, -1])
def test_what_is_seen_does_not_depend_on_the_order_of_faults(order: int) -> None:
    texts = ("telemetry_stale:ranks=1", "prof_fields_zero:ranks=2", "gpu_lost:ranks=3", "node_unreachable", "ecc_error")
    runs = [workshop(), workshop()]
    for run, names in zip(runs, (texts, texts[::order]), strict=True):
        for text in names:
            run.faults.put(text[:3], parse_fault(text), at_seconds=0.0, next_step=0)
    for _ in range(15):
        one, other = (run.advance() for run in runs)
        assert one.monitoring is not None
        assert other.monitoring is not None
        assert_same(one.monitoring.devices, other.monitoring.devices)
        assert_same(one.monitoring.counters, other.monitoring.counters)
        np.testing.assert_array_equal(one.monitoring.profiled, other.monitoring.profiled)
        np.testing.assert_array_equal(one.monitoring.reachable, other.monitoring.reachable)


def test_profiling_counters_are_held_and_nothing_else() -> None:
    _, ticks = from_second_ten("prof_fields_zero:ranks=2")
    seen = ticks[-1].monitoring
    assert seen is not None
    assert seen.profiled.tolist() == [True, True, False, True]
    assert seen.reachable.all()
    assert_same(seen.devices, ticks[-1].devices)


@pytest.mark.parametrize(
    ("fault", "field", "stretch"), [("prof_fields_zero", "profiled", 60), ("node_unreachable", "reachable", 10)]
)
def test_a_share_of_the_time_comes_in_stretches_and_from_the_seed(fault: str, field: str, stretch: int) -> None:
    calm = workshop().advance()
    topology = Topology(4, 4)
    kind = registry.kind(fault)

    def gone(seed: int) -> list[bool]:
        path = MonitoringPath(ranks=4, gpus_per_node=4)
        application = Application("f", seed, np.arange(4), 0.25, {}, topology)
        found = []
        for second in range(12_000):
            effects = Effects.neutral(topology)
            kind.apply(effects, application)
            seen = path.see(calm.devices, calm.counters, effects, seconds=float(second))
            found.append(seen is not None and not getattr(seen, field).any())
        return found

    first = gone(1)
    assert first == gone(1)
    assert first != gone(2)
    assert np.mean(first) == pytest.approx(0.25, abs=0.12)
    changes = np.flatnonzero(np.diff(first)) + 1
    assert set((changes % stretch).tolist()) == {0}, "a stretch begins at its own seconds"


def test_a_node_that_does_not_answer_is_one_of_several() -> None:
    _, ticks = from_second_ten("node_unreachable:nodes=2", run=run_with(ANATOMY), seconds=12)
    seen = ticks[-1].monitoring
    assert seen is not None
    assert seen.reachable.tolist() == [True, True, False, True]
    assert seen.profiled.all()


def test_what_is_seen_cannot_be_changed_by_its_readers() -> None:
    _, ticks = from_second_ten("telemetry_stale", seconds=12)
    seen = ticks[-1].monitoring
    assert seen is not None
    for array in (seen.devices.power_watts, seen.counters.energy_joules):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_the_kernels_log_is_in_the_journal() -> None:
    run = workshop("gpu_lost:ranks=1")
    run.advance()
    journal = Journal(now=lambda: 0.0)
    for line in run.drain_kernel_log():
        journal.add(run, "kernel_log", detail=line.text)
    (entry,) = journal.after(0)
    assert (entry.event, entry.kind) == ("kernel_log", None)
    assert "Xid (PCI:0000:2A:00): 79" in entry.detail


def test_counters_of_a_calm_run_say_that_nothing_broke() -> None:
    counters: Counters = workshop().advance().counters
    for values in (counters.xid, counters.correctable_remapped_rows, counters.uncorrectable_remapped_rows):
        assert values.tolist() == [0, 0, 0, 0]
