"""One step in the form that Chrome's tracing and Perfetto read: a process per node, a thread per rank."""

from __future__ import annotations

from collections.abc import Iterator

from simulator.names import PHASES
from simulator.observation import Collectives, RunInfo, StepTrace
from simulator.traced import buckets
from stepscope.api.models.state import TraceEvent, TraceView

_MICRO = 1e6
_CATEGORIES = {"collective_wait": "waiting", "data_wait": "waiting", "stall": "waiting", "collective": "communication"}


def trace_view(step: StepTrace, info: RunInfo, ranks: range, *, healthy: bool) -> TraceView:
    """The phases of these ranks, and the collectives on a process of their own behind all nodes."""
    events = list(_names(info, ranks))
    events += [event for rank in ranks for event in _phases(step, info, rank)]
    if step.collectives is not None:
        events += _transfers(step.collectives, info)
    what = {"run": info.run, "preset": info.preset, "step": str(step.step), "healthy": str(healthy).lower()}
    return TraceView(traceEvents=events, displayTimeUnit="ms", otherData=what)


def _names(info: RunInfo, ranks: range) -> Iterator[TraceEvent]:
    for node in sorted({info.gpus[rank].node for rank in ranks}):
        yield _meta("process_name", node, 0, info.hostnames[node])
    for rank in ranks:
        yield _meta("thread_name", info.gpus[rank].node, rank, f"rank {rank}, GPU {info.gpus[rank].gpu}")
    yield _meta("process_name", info.nodes, 0, "collectives")


def _meta(name: str, pid: int, tid: int, value: str) -> TraceEvent:
    return TraceEvent(name=name, ph="M", pid=pid, tid=tid, args={"name": value})


def _phases(step: StepTrace, info: RunInfo, rank: int) -> Iterator[TraceEvent]:
    for index, phase in enumerate(PHASES):
        seconds = float(step.seconds[index, rank])
        if seconds > 0.0:
            yield TraceEvent(
                name=phase,
                cat=_CATEGORIES.get(phase, "work"),
                ph="X",
                ts=float(step.starts[index, rank]) * _MICRO,
                dur=seconds * _MICRO,
                pid=info.gpus[rank].node,
                tid=rank,
                args={"rank": rank},
            )


def _transfers(found: Collectives, info: RunInfo) -> Iterator[TraceEvent]:
    for bucket in buckets(found):
        last = bucket.first + bucket.count - 1
        yield TraceEvent(
            name=f"{found.kind} {bucket.first}" + (f" to {last}" if bucket.count > 1 else ""),
            cat="communication",
            ph="X",
            ts=bucket.start_seconds * _MICRO,
            dur=(bucket.end_seconds - bucket.start_seconds) * _MICRO,
            pid=info.nodes,
            tid=0,
            args={"ready_us": bucket.ready_seconds * _MICRO, "transfer_us": bucket.busy_seconds * _MICRO},
        )
    barrier = float(found.arrivals.max()) * _MICRO
    yield TraceEvent(name="last rank arrives", cat="waiting", ph="i", ts=barrier, pid=info.nodes, tid=0, s="g")
