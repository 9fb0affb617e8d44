"""Reads per-rank step times: CSV, long or wide.

Long: columns `step`, `rank`, `phase`, `seconds`, and optionally `dp_rank` and `stage`. One row per step, rank and
phase. Phases are those of a step (`simulator.names.PHASES`) or the operations of PIPELINE_OPERATIONS; the phase `step`
is the duration of the whole step, with or without a rank. Wide: a column `step` and one column per rank with the
seconds that the rank worked in that step. Rows may come in any order, other columns are ignored.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from simulator.names import PHASES
from simulator.observation import Floats

MOST_ROWS = 20_000_000
MOST_CELLS = 50_000_000
"""Steps times ranks at most."""
MOST_LINE = 10_000_000
STEP = "step"

COMPUTE, INPUT, HOST, WAITING, OTHER = range(5)
"""What kind of time a phase is: work at the rank's own pace, waiting for a batch, pauses of the process, time with
other ranks, and what lasts equally on all."""
KINDS = ("compute", "data wait", "pauses", "communication", "other")

PIPELINE_OPERATIONS: Mapping[str, int] = {
    "forward-compute": COMPUTE,
    "backward-compute": COMPUTE,
    "forward-recv": WAITING,
    "forward-send": WAITING,
    "backward-recv": WAITING,
    "backward-send": WAITING,
    "grads-reduce-scatter": WAITING,
    "grads-all-reduce": WAITING,
    "params-all-gather": WAITING,
    "embedding-grads-all-reduce": WAITING,
    "layernorm-grads-all-reduce": WAITING,
    "optimizer-clip-main-grad": WAITING,
    "gc": HOST,
}
"""Names of operations that traces of Megatron jobs use, beside the phases."""

_PHASE_KINDS: Mapping[str, int] = {
    "data_wait": INPUT,
    "h2d": COMPUTE,
    "forward": COMPUTE,
    "backward": COMPUTE,
    "collective_wait": WAITING,
    "collective": WAITING,
    "optimizer": OTHER,
    "checkpoint": OTHER,
    "stall": HOST,
    **PIPELINE_OPERATIONS,
}
assert set(PHASES) <= set(_PHASE_KINDS)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a rank stands in the job; None where the file does not say."""

    rank: str
    dp_rank: str | None = None
    stage: str | None = None


@dataclass(frozen=True, slots=True)
class RankTimes:
    """Seconds per step and rank. Shapes: S steps, R ranks."""

    steps: tuple[str, ...]
    places: tuple[Place, ...]
    seconds: Floats
    """(5, S, R) by kind of time; NaN where a rank has no row of a step."""
    step_seconds: Floats
    """(S,) duration of each step."""


def read_ranks(lines: Iterable[str]) -> RankTimes:
    """The times in a CSV file. ValueError that begins with `line N:` for the first thing wrong with it."""
    rows = _rows(lines)
    try:
        number, header = next(rows)
    except StopIteration:
        raise ValueError("line 1: the file is empty; it needs a header") from None
    names = [name.strip().lower() for name in header]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"line {number}: the column {name!r} comes twice")
    if {"step", "rank", "phase", "seconds"} <= set(names):
        return _long(names, rows)
    if STEP in names and len(names) > 1 and not {"rank", "phase", "seconds"} & set(names):
        return _wide(names, rows)
    raise ValueError(
        f"line {number}: needs the columns step, rank, phase and seconds (long), or step and one column per rank (wide)"
    )


def _rows(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(_bounded(lines), strict=True)
    try:
        for row in reader:
            if reader.line_num > MOST_ROWS:
                raise ValueError(f"line {reader.line_num}: more than {MOST_ROWS} lines")
            if row and any(cell.strip() for cell in row):
                yield reader.line_num, row
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from None
    except UnicodeDecodeError:
        raise ValueError(f"line {reader.line_num + 1}: is not UTF-8 text") from None


def _bounded(lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        if len(line) > MOST_LINE:
            raise ValueError(f"line {number}: is longer than {MOST_LINE} characters")
        yield line.removeprefix("\ufeff") if number == 1 else line


def _long(names: list[str], rows: Iterator[tuple[int, list[str]]]) -> RankTimes:
    at = {name: names.index(name) for name in ("step", "rank", "phase", "seconds", "dp_rank", "stage") if name in names}
    collected: dict[tuple[str, str], list[float]] = {}
    durations: dict[str, float] = {}
    places: dict[str, Place] = {}
    seen: set[tuple[str, str, str]] = set()
    for number, row in rows:
        cells = {name: _cell(row, column, name, number) for name, column in at.items()}
        step, rank, phase = cells["step"], cells["rank"], cells["phase"].lower()
        seconds = _seconds(cells["seconds"], number, "seconds")
        if not step:
            raise ValueError(f"line {number}: step: is empty")
        if phase == STEP:
            durations[step] = max(seconds, durations.get(step, 0.0))
            continue
        if phase not in _PHASE_KINDS:
            known = ", ".join((STEP, *_PHASE_KINDS))
            raise ValueError(f"line {number}: phase: {phase[:80]!r} is not one of {known}")
        if not rank:
            raise ValueError(f"line {number}: rank: is empty")
        if (step, rank, phase) in seen:
            raise ValueError(f"line {number}: step {step} of rank {rank} has two rows of phase {phase}")
        seen.add((step, rank, phase))
        place = Place(rank, cells.get("dp_rank") or None, cells.get("stage") or None)
        if places.setdefault(rank, place) != place:
            raise ValueError(f"line {number}: rank {rank} has another dp_rank or stage than in the rows before")
        collected.setdefault((step, rank), [0.0] * len(KINDS))[_PHASE_KINDS[phase]] += seconds
    return _gathered(collected, places, durations)


def _wide(names: list[str], rows: Iterator[tuple[int, list[str]]]) -> RankTimes:
    step_at = names.index(STEP)
    ranks = {column: name.removeprefix("rank").strip("_ ") or name for column, name in enumerate(names)}
    del ranks[step_at]
    collected: dict[tuple[str, str], list[float]] = {}
    for number, row in rows:
        step = _cell(row, step_at, STEP, number)
        for column, rank in ranks.items():
            if (step, rank) in collected:
                raise ValueError(f"line {number}: step {step} has two rows")
            times = [0.0] * len(KINDS)
            times[COMPUTE] = _seconds(_cell(row, column, names[column], number), number, names[column])
            collected[step, rank] = times
    return _gathered(collected, {rank: Place(rank) for rank in ranks.values()}, {})


def _cell(row: list[str], column: int, name: str, number: int) -> str:
    if column >= len(row):
        raise ValueError(f"line {number}: {name}: is missing")
    return row[column].strip()


def _seconds(text: str, number: int, name: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < 1e9:
        raise ValueError(f"line {number}: {name}: {text[:40]!r} is not a number of seconds")
    return value


def _gathered(
    collected: Mapping[tuple[str, str], list[float]], places: Mapping[str, Place], durations: Mapping[str, float]
) -> RankTimes:
    if not collected:
        raise ValueError("line 2: no row with the time of a rank")
    steps = sorted({step for step, _ in collected}, key=_in_order)
    ranks = sorted(places, key=_in_order)
    if len(steps) * len(ranks) > MOST_CELLS:
        raise ValueError(f"{len(steps)} steps of {len(ranks)} ranks are more than {MOST_CELLS} times")
    step_at = {step: index for index, step in enumerate(steps)}
    rank_at = {rank: index for index, rank in enumerate(ranks)}
    seconds = np.full((len(KINDS), len(steps), len(ranks)), np.nan)
    for (step, rank), times in collected.items():
        seconds[:, step_at[step], rank_at[rank]] = times
    totals = seconds.sum(axis=0)
    own = totals - seconds[WAITING]
    # Operations of a pipeline run side by side, so that their sum can pass the step; no rank is busy for longer than
    # the step, and the rank with the least sum has least of that.
    guess = np.fmax(np.fmin.reduce(totals, axis=1), np.fmax.reduce(own, axis=1))
    said = np.array([durations.get(step, np.nan) for step in steps])
    return RankTimes(
        tuple(steps), tuple(places[rank] for rank in ranks), seconds, np.where(np.isfinite(said), said, guess)
    )


def _in_order(text: str) -> tuple[int, int | str]:
    return (0, int(text)) if text.isascii() and text.isdigit() and len(text) < 19 else (1, text)
