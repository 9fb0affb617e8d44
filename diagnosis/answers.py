"""Feeder: the answers of a Prometheus to range queries, as series.

What is asked for is written here, since it decides what the answers mean; how it is asked is the caller's affair
(`stepscope.watching`). Only public series are asked for. Prometheus puts every target's newest sample on one grid of
times, so that the arrays line up although nodes are scraped seconds apart.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from diagnosis.series import (
    COMPARED_FAMILIES,
    GPU_FAMILIES,
    LINK_FAMILIES,
    NODE_FAMILIES,
    RANK_FAMILIES,
    RUN_FAMILIES,
    Link,
    Member,
    Series,
)
from exporter.catalogue import BY_NAME, find
from simulator.names import PHASES, STEP_SECONDS_BUCKETS
from simulator.observation import Floats

MOST_RANKS = 200_000
"""A run with more is not believed."""

Result = Mapping[str, object]
"""One element of `data.result` of a matrix: `metric` and `values`."""

Points = tuple[list[int], list[float]]
"""Places on the grid of times, and the values there."""


def run_query(run: str) -> str:
    """Everything of which a run has one: small, and enough to find its better times."""
    names = "|".join((*RUN_FAMILIES, "training_step_seconds_bucket", "training_run_info"))
    return f'{{__name__=~"{names}",run={quoted(run)}}}'


def member_query(run: str) -> str:
    """Which ranks there are, and where."""
    return f"training_rank_info{{run={quoted(run)}}}"


def up_query(run: str) -> str:
    """Whether the targets of a run's nodes answer; of a target that is gone the rank is known from before."""
    return f"up and on (instance, job) last_over_time(training_rank_info{{run={quoted(run)}}}[15m])"


def queries(run: str, *, earlier: bool = False) -> tuple[str, ...]:
    """Everything about ranks, nodes and boards of a run; of an `earlier` stretch what a later one is compared with."""
    of_run = f"run={quoted(run)}"
    ranks = "|".join(("training_phase_seconds_total", *RANK_FAMILIES, *NODE_FAMILIES, *LINK_FAMILIES))
    families = COMPARED_FAMILIES if earlier else GPU_FAMILIES
    boards = "|".join(name for family in families for name in (family, *BY_NAME[family].aliases))
    mine = f"on (UUID) training_rank_info{{{of_run}}}"
    return (
        f'{{__name__=~"{ranks}",{of_run}}}',
        f'{{__name__=~"{boards}"}} and {mine}',
        f"exporter_gpu_up and {mine}",
    )


def quoted(text: str) -> str:
    """A PromQL string."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


@dataclass(slots=True)
class Answers:
    """Collects results and turns them into series. `times` is the grid of Unix seconds that was asked for, rising."""

    run: str
    times: Floats
    _members: dict[str, tuple[str, str, str, str]] = field(default_factory=dict)
    """(hostname, gpu, uuid, instance) by rank."""
    _rows: list[tuple[Mapping[str, str], Points]] = field(default_factory=list)
    gpu_model: str = ""

    def add_members(self, results: Iterable[Result]) -> None:
        """The results of `member_query`, before any others. ValueError for one that is no result, or too many."""
        for labels, _ in self._read(results):
            host = labels.get("Hostname", labels.get("hostname", ""))
            place = (host, labels.get("gpu", ""), labels.get("UUID", ""), labels.get("instance", ""))
            self._members[labels.get("rank", "")] = place
            if len(self._members) > MOST_RANKS:
                raise ValueError(f"run {self.run}: more than {MOST_RANKS} ranks")

    def add(self, results: Iterable[Result]) -> None:
        """Results of any other query."""
        for labels, values in self._read(results):
            self._rows.append((labels, values))
            if labels.get("__name__") == "training_run_info":
                self.gpu_model = labels.get("gpu_model", "")

    def _read(self, results: Iterable[Result]) -> Iterable[tuple[Mapping[str, str], Points]]:
        # Plain numbers and lists: a large job has tens of thousands of rows of a few points, most at the same times.
        place_of = self._places()
        moments: list[float] = []
        places: list[int] = []
        for result in results:
            labels, values = result.get("metric"), result.get("values")
            if not isinstance(labels, dict) or not isinstance(values, list):
                raise ValueError("no matrix: a result lacks its labels or its values")
            try:
                own = [time for time, _ in values]
                if own != moments:
                    moments, places = own, [place_of(time) for time in own]
                numbers = [float(value) for _, value in values]
            except (TypeError, ValueError):
                raise ValueError("no matrix: a value is no pair of a time and a number") from None
            if -1 in places:
                kept = [index for index, place in enumerate(places) if place >= 0]
                yield labels, ([places[index] for index in kept], [numbers[index] for index in kept])
            else:
                yield labels, (places, numbers)

    def _places(self) -> Callable[[float], int]:
        """The nearest place on the grid for a time, -1 for one beside it."""
        times = self.times.tolist()
        gap = min((later - time for time, later in itertools.pairwise(times)), default=1.0)
        known = {time: place for place, time in enumerate(times)}

        def place_of(time: float) -> int:
            if time in known:
                return known[time]
            after = bisect_left(times, time)
            around = [at for at in (after - 1, after) if 0 <= at < len(times) and abs(times[at] - time) <= gap / 2]
            known[time] = min(around, key=lambda at: abs(times[at] - time), default=-1)
            return known[time]

        return place_of

    def series(self) -> Series:
        """The series. ValueError when the run has no ranks."""
        if not self._members:
            raise ValueError(f"run {self.run!r}: Prometheus knows no rank of it at that time")
        return _Table(self).series()

    @property
    def members(self) -> Mapping[str, tuple[str, str, str, str]]:
        """(hostname, gpu, uuid, instance) by rank."""
        return self._members

    @property
    def rows(self) -> Sequence[tuple[Mapping[str, str], Points]]:
        """Labels and values of everything added."""
        return self._rows


class _Table:
    """Empty arrays for a run, and where each sample belongs."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        members = answers.members
        count, self._ranks = len(answers.times), sorted(members, key=_in_order)
        hosts = sorted({members[rank][0] for rank in self._ranks}, key=_in_order)
        self._rank_at = {rank: index for index, rank in enumerate(self._ranks)}
        self._node_at = {host: index for index, host in enumerate(hosts)}
        self._board_at = {members[rank][2]: index for rank, index in self._rank_at.items() if members[rank][2]}
        self._target_at = {members[rank][3]: self._node_at[members[rank][0]] for rank in self._ranks}
        self._hosts = tuple(hosts)
        named = [labels for labels, _ in answers.rows if labels.get("__name__") in LINK_FAMILIES]
        links = sorted(
            {(self._node_at[_host(row)], row.get("device", "")) for row in named if _host(row) in self._node_at}
        )
        self._link_at = {link: index for index, link in enumerate(links)}
        self._links = tuple(Link(node, device) for node, device in links)
        ranks, nodes = len(self._ranks), len(hosts)
        self._phases = _nothing(count, len(PHASES), ranks)
        self._gpu = {name: _nothing(count, ranks) for name in GPU_FAMILIES}
        self._rank = {name: _nothing(count, ranks) for name in RANK_FAMILIES}
        self._node = {name: _nothing(count, nodes) for name in NODE_FAMILIES}
        self._link = {name: _nothing(count, len(links)) for name in LINK_FAMILIES}
        self._single = {name: _nothing(count) for name in RUN_FAMILIES}
        self._buckets = _nothing(count, len(STEP_SECONDS_BUCKETS) + 1)
        self._up, self._gpu_up = _nothing(count, nodes), _nothing(count, ranks)

    def series(self) -> Series:
        """Everything in its place."""
        for labels, values in self._answers.rows:
            self._place(labels, values)
        members = self._answers.members
        return Series(
            run=self._answers.run,
            gpu_model=self._answers.gpu_model,
            members=tuple(
                Member(rank, self._node_at[members[rank][0]], members[rank][1], members[rank][2])
                for rank in self._ranks
            ),
            nodes=self._hosts,
            links=self._links,
            times=self._answers.times,
            phase_seconds=self._phases,
            gpu=self._gpu,
            rank=self._rank,
            node=self._node,
            link=self._link,
            single=self._single,
            buckets=self._buckets,
            up=self._up,
            run_up=np.where(np.isfinite(self._single["training_steps_total"]), 1.0, np.nan),
            gpu_up=self._gpu_up,
        )

    def _place(self, labels: Mapping[str, str], values: Points) -> None:
        name = labels.get("__name__", "")
        rank = self._rank_at.get(labels.get("rank", ""))
        if name == "training_phase_seconds_total":
            if rank is not None and labels.get("phase") in PHASES:
                _put(self._phases[:, PHASES.index(labels["phase"])], rank, values)
        elif name in self._rank:
            _put(self._rank[name], rank, values)
        elif name in self._single:
            self._single[name][values[0]] = values[1]
        elif name == "training_step_seconds_bucket":
            _put(self._buckets, _bucket(labels.get("le", "")), values)
        elif name in self._node:
            _put(self._node[name], self._node_at.get(_host(labels)), values)
        elif name in self._link:
            link = (self._node_at.get(_host(labels), -1), labels.get("device", ""))
            _put(self._link[name], self._link_at.get(link), values)
        elif name == "up":
            _put(self._up, self._target_at.get(labels.get("instance", "")), values)
        elif name == "exporter_gpu_up":
            _put(self._gpu_up, self._board_at.get(labels.get("UUID", "")), values)
        elif (family := find(name)) is not None and family.name in self._gpu:
            _put(self._gpu[family.name], self._board_at.get(labels.get("UUID", "")), values)


def _nothing(*shape: int) -> Floats:
    return np.full(shape, np.nan)


def _put(table: Floats, column: int | None, points: Points) -> None:
    """Values into their column; what other stretches, or other series of the same thing, have put there stays."""
    if column is not None:
        table[points[0], column] = points[1]


def _host(labels: Mapping[str, str]) -> str:
    return labels.get("Hostname", labels.get("hostname", ""))


def _bucket(bound: str) -> int | None:
    try:
        value = float(bound)
    except ValueError:
        return None
    place = int(np.searchsorted(STEP_SECONDS_BUCKETS, value * (1 - 1e-9)))
    return place if place == len(STEP_SECONDS_BUCKETS) or STEP_SECONDS_BUCKETS[place] == value else None


def _in_order(text: str) -> tuple[int, int | str]:
    """Numbers as numbers, before words."""
    return (0, int(text)) if text.isascii() and text.isdigit() and len(text) < 19 else (1, text)
