"""Many incidents over all cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

from stepscope.evaluation.play import Played, play

Progress = Callable[[int, int], None]
"""Called with (incidents done, incidents asked)."""


def play_all(
    incidents: int,
    *,
    seed: int,
    kinds: Sequence[str] | None = None,
    processes: int | None = None,
    progress: Progress | None = None,
) -> list[Played]:
    """The first `incidents` of a seed, in their order, whatever the number of processes."""
    workers = min(incidents, processes or len(os.sched_getaffinity(0)))
    one = partial(play, seed=seed, kinds=kinds)
    if workers <= 1:
        return _collected(map(one, range(incidents)), incidents, progress)
    # Spawned, not forked: a fork would copy the locks of whatever threads there are.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        try:
            return _collected(pool.map(one, range(incidents), chunksize=4), incidents, progress)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _collected(results: Iterator[Played], total: int, progress: Progress | None) -> list[Played]:
    played = []
    for one in results:
        played.append(one)
        if progress is not None:
            progress(len(played), total)
    return played
