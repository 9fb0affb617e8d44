"""Sources fail, hang and come back in any order: no false 0, no value past its age, no series twice, no growth."""

from __future__ import annotations

import gc
import logging
import tracemalloc
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exporter.catalogue import DCGM_FAMILIES
from exporter.collector import Pace
from exporter.reading import Reading
from exporter.source import SourceError
from tests.exporter.exposition import read
from tests.exporter.nodes import Clock, FakeJob, Scripted, Stage, board, reading

MAX_AGE = 4.0
VALUES = {family.name: 1 for family in DCGM_FAMILIES}
NVML_UTIL, DCGM_TENSOR = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"


@dataclass
class Device:
    """A source whose readings say when they were taken: the value is the second, and never 0."""

    name: str
    clock: Clock
    mood: str = "well"
    gpus: tuple[int, ...] = (0, 1)
    taken: dict[int, float] = field(default_factory=dict)

    def act(self, _: float) -> Reading:
        now = self.clock.now
        if self.mood == "dead":
            raise SourceError("unknown", "dead")
        if self.mood == "wild":
            raise RuntimeError("wild")
        if self.mood == "slow":
            self.clock.now += 3.0
        if self.mood == "partial":
            gpus = [board(n, reason="" if place else "gpu_lost") for place, n in enumerate(self.gpus)]
        else:
            gpus = [board(n, index=place) for place, n in enumerate(self.gpus)]
        return reading(*gpus, values=dict.fromkeys(VALUES, 1.0 + now))


moves = st.lists(
    st.tuples(
        st.sampled_from(["nvml", "dcgm", "job"]),
        st.sampled_from(["well", "dead", "wild", "slow", "partial", "swap", "fewer"]),
        st.floats(0.1, 9.0),
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(moves=moves, auto=st.booleans())
def test_in_any_order(moves: list[tuple[str, str, float]], auto: bool) -> None:
    devices: dict[str, Device] = {}
    sources = tuple(Scripted(lambda deadline, name=name: devices[name].act(deadline), name=name)  # type: ignore[misc]
                    for name in ("nvml", "dcgm"))  # fmt: skip
    job = FakeJob()
    stage = Stage(sources, asked=() if auto else ("nvml", "dcgm"), auto=auto, job=job, pace=Pace(max_age=MAX_AGE))
    devices.update({name: Device(name, stage.clock) for name in ("nvml", "dcgm")})
    counters: dict[tuple[str, frozenset[tuple[str, str]]], float] = {}
    for name, mood, seconds in moves:
        if name == "job":
            job.failure = None if mood == "well" else RuntimeError(mood)
        elif mood in ("swap", "fewer"):
            devices[name].gpus = devices[name].gpus[::-1] if mood == "swap" else devices[name].gpus[:1]
        else:
            devices[name].mood = mood
        stage.run_until(stage.clock.now + seconds)
        seen = read(stage.pages.page().body)  # which refuses a series that stands twice
        now = stage.clock.now
        for line in (line for line in seen.samples if line.name.startswith("DCGM_")):
            assert now - (line.value - 1.0) <= MAX_AGE + 1.0, "a value is never older than its age, an int is rounded"
            assert line.value != 0
        for line in seen.samples:
            if line.name.startswith("exporter_") and line.name.endswith("_total"):
                key = (line.name, frozenset(line.labels))
                assert line.value >= counters.get(key, 0.0), "a count never goes back"
                counters[key] = line.value
        states = [dict(line.labels)["UUID"] for line in seen.of("exporter_gpu_up")]
        assert len(set(states)) == len(states)
        shown = {dict(line.labels)["UUID"] for line in seen.samples if line.name.startswith("DCGM_")}
        assert shown == {dict(line.labels)["UUID"] for line in seen.of("exporter_gpu_up") if line.value == 1}


def test_memory_is_flat_over_many_cycles_of_trouble(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, logger="exporter")  # what the test keeps of the log is not ours
    stage_clock: list[Clock] = []

    def act(_: float) -> Reading:
        second = int(stage_clock[0].now)
        if second % 7 == 0:
            raise SourceError("unknown", f"at {second}")
        return reading(*(board(n) for n in range(second % 9)), values=VALUES)

    stage = Stage((Scripted(act), Scripted(act, name="dcgm")), auto=True, job=FakeJob())
    stage_clock.append(stage.clock)

    def after(rounds: int) -> int:
        # Every 63 s the same number of GPUs, and of failures.
        stage.run_until(63.0 * rounds + 8.5)
        stage.pages.page()
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        first, last = after(1), after(4)
    finally:
        tracemalloc.stop()
    assert last - first < 100_000, "what one reading weighs; 378 were made in between"
