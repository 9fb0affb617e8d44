"""A training job as Prometheus would have stored it: recorders' reports, through a job source on every node.

The job is a few lines: a step is over when the slowest rank's gradients have arrived, and a rank cannot tell waiting
for them from their transfer. So what the rules find in it is known by hand.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from exporter.render import Format
from exporter.sources.job.source import JobSource
from rulebook.profile import WORKSHOP
from simulator.names import STEP_SECONDS_BUCKETS
from tests.prometheus.simulated import Stored, of_target

JOB = "gpu-nodes"
"""Not the lab's: whoever runs Prometheus chooses the label."""
START = 1_700_000_000.0
FORWARD, BACKWARD, TRANSFER, OPTIMIZER, LOADED = 0.075, 0.12, 0.03, 0.024, 0.001
"""Seconds of a step on a healthy rank; together 0.25."""
FLOPS_PER_STEP, PEAK = 4e14, 1e15
RANKS, RANKS_PER_NODE = 8, 4
HEALTHY_MFU = FLOPS_PER_STEP / 0.25 / (RANKS * PEAK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mood:
    """How the job does from some second on."""

    slowdown: Mapping[int, float] = field(default_factory=dict)
    """Of forward and backward, by rank."""
    late: Mapping[int, float] = field(default_factory=dict)
    """Seconds by which each batch is late, by rank."""
    hangs: bool = False
    """All ranks are in a collective that never ends."""
    gone: bool = False
    """Nobody reports any more."""
    final: bool = False
    """Closed its recorders: the last that is heard."""
    starts_anew: bool = False
    """Other processes, of the same run: their totals begin at nothing."""
    loss: float | str = 2.5
    spikes: int = 0


class TinyJob:
    """Advances by a second at a time; `reports` are what its recorders then send."""

    def __init__(self, run: str, *, started: float = START) -> None:
        self.run = run
        self.started = started
        self.second = 0
        self.steps = 0.0
        self.step_seconds = 0.0
        self.last_step = started
        self.counts = [0] * (len(STEP_SECONDS_BUCKETS) + 1)
        self.phases = [
            dict.fromkeys(("data_wait", "forward", "backward", "collective", "optimizer"), 0.0) for _ in range(RANKS)
        ]

    def advance(self, mood: Mood) -> None:
        """One second."""
        self.second += 1
        if mood.hangs:
            for phases in self.phases:
                phases["collective"] += 1.0
            return
        spent = []
        for rank in range(RANKS):
            slower = mood.slowdown.get(rank, 1.0)
            late = LOADED + mood.late.get(rank, 0.0)
            spent.append({"data_wait": late, "forward": slower * FORWARD, "backward": slower * BACKWARD})
        arrived = max(sum(own.values()) for own in spent)
        step = arrived + TRANSFER + OPTIMIZER
        for phases, own in zip(self.phases, spent, strict=True):
            own |= {"collective": arrived - sum(own.values()) + TRANSFER, "optimizer": OPTIMIZER}
            for name, seconds in own.items():
                phases[name] += seconds / step
        before = int(self.steps)
        self.steps += 1.0 / step
        ended = int(self.steps) - before
        self.counts[bisect_left(STEP_SECONDS_BUCKETS, step)] += ended
        self.step_seconds += ended * step
        self.last_step = self.started + self.second

    def reports(self, mood: Mood) -> Iterator[tuple[int, bytes]]:
        """Rank and datagram."""
        steps = int(self.steps)
        for rank, phases in enumerate(self.phases):
            report = {
                "v": 1,
                "run": self.run,
                "rank": rank,
                "world_size": RANKS,
                "local_rank": rank % RANKS_PER_NODE,
                "session": f"{self.started} {rank}",
                "started": self.started,
                "time": self.started + self.second,
                "seq": self.second,
                "final": mood.final,
                "peak_flops_per_second": PEAK,
                "phases": phases,
                "collective_seconds": phases["collective"],
                "collective_bytes": 1e9 * steps,
                "steps": steps,
                "tokens": 4096 * steps,
                "model_flops": FLOPS_PER_STEP * steps,
                "step_seconds": {"sum": self.step_seconds, "counts": self.counts},
                "skipped_steps": 0,
                "nonfinite_steps": 0,
                "grad_norm_spikes": mood.spikes,
                "loss": mood.loss,
                "last_step_time": self.last_step,
            }
            yield rank, json.dumps(report).encode()


def scraped_job(moods: Mapping[int, Mood], *, seconds: int, runs: tuple[str, ...] = ("real",)) -> Stored:
    """Every run in the same moods, each from its second on, scraped all along with the workshop's interval.

    Nodes are scraped seconds apart, and every node has an exporter with the address `node-<number>:9401`.
    """
    stored = Stored(WORKSHOP.scrape)
    now = [START]
    nodes = [
        JobSource(socket_path="/unused", hostname=f"node-{node}", gpus=list, peak=lambda *_: None, clock=lambda: now[0])
        for node in range(RANKS // RANKS_PER_NODE)
    ]
    jobs = [TinyJob(run) for run in runs]
    mood, pages = Mood(), [b""] * len(nodes)
    for second in range(seconds):
        mood = moods.get(second, mood)
        if second in moods and mood.starts_anew:
            jobs = [TinyJob(run, started=now[0]) for run in runs]
        for job in jobs:
            if not mood.gone:
                for rank, datagram in job.reports(mood):
                    nodes[rank // RANKS_PER_NODE].take(datagram, 1000)
            job.advance(mood)
        for node, source in enumerate(nodes):
            if (second + node) % stored.interval == 0:
                pages[node] = _page(source)
        if second % stored.interval == 0:
            stored.scrape(
                sample
                for node, page in enumerate(pages)
                for sample in of_target(f"node-{node}:9401", page or _page(nodes[node]), job=JOB)
            )
        now[0] += 1.0
    assert not any(sum(source.status().dropped.values()) for source in nodes), "a report was not believed"
    return stored


def _page(source: JobSource) -> bytes:
    """Of an exporter with two sources; only the job's has readings."""
    own = (
        f'exporter_last_success_timestamp_seconds{{source="job"}} {source.status().last_success}\n'
        'exporter_last_success_timestamp_seconds{source="nvml"} 0.0\n'
        'exporter_source_up{source="job"} 1\nexporter_source_up{source="nvml"} 1\n'
        'exporter_gpus_expected{source="nvml"} 0\nexporter_gpus_present{source="nvml"} 0\n'
    )
    return ("".join(source.families(Format.TEXT)) + own).encode()
