"""What the hosts add to steps: slow copies, pauses of the process, uneven batches, slow checkpoints.

Each is drawn from the stream of its own fault by the index of the step, so that it is the same however many steps are
computed at once. Shapes: n = steps, R = ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from faults.effects import (
    MOST_LATENESS_STEPS,
    MOST_SLOWDOWN,
    Effects,
    HostPath,
    Pause,
    SlowCheckpoint,
    Unevenness,
)
from simulator.observation import Floats
from simulator.streams import FaultStreams, uniform_rows

_JITTER = 0.25
"""Half-width of the uniform jitter of copies and starts on a misplaced process."""
_FASTEST_WRITE = 0.7
"""Of the slowest: ranks write their parts of a checkpoint to the same storage, and finish one after the other."""


@dataclass(frozen=True, slots=True)
class HostShare:
    """The hosts' part in consecutive steps; a plain number, or None, where it is the same for all of them."""

    copying: Floats | float
    """(n, R) seconds in which a rank waits for its copy to the device, or to be started at all."""
    work: Floats | float = 1.0
    """(n, R) factor on the work of each rank's batch; its mean over steps is 1."""
    pauses: Floats | None = None
    """(n, R) seconds in which a rank's process launches nothing."""
    writes: Floats | None = None
    """(n, R) seconds that a rank writes a checkpoint which the job does not write by itself."""


class Hosts:
    """The host side of all ranks. Holds no state of the run."""

    def __init__(self, *, ranks: int, copy_seconds: float) -> None:
        self._ranks = ranks
        self.calm = HostShare(copy_seconds)
        """Without a fault."""
        self._copy = copy_seconds
        self._paths = FaultStreams("host path", uniform_rows)
        self._pauses = FaultStreams("pause", uniform_rows)
        self._uneven = FaultStreams("uneven batch", uniform_rows)
        self._writes = FaultStreams("checkpoint write", uniform_rows)

    def share(self, effects: Effects, first: int, count: int, *, healthy_step_seconds: float) -> HostShare:
        """The part in steps first … first + count - 1; delays are in healthy steps of this length."""
        if not (effects.unevennesses or effects.host_paths or effects.pauses or effects.slow_checkpoints):
            return self.calm
        most = MOST_LATENESS_STEPS * healthy_step_seconds
        return HostShare(
            self._copying(effects.host_paths, first, count, step=healthy_step_seconds, most=most),
            self._work(effects.unevennesses, first, count),
            self._pausing(effects.pauses, first, count, most=most),
            self._writing(effects.slow_checkpoints, first, count, step=healthy_step_seconds, most=most),
        )

    def _work(self, unevennesses: Sequence[Unevenness], first: int, count: int) -> Floats | float:
        if not unevennesses:
            return 1.0
        factor = np.ones((count, self._ranks))
        for uneven in unevennesses:
            draws = self._uneven.rows(uneven.fault, uneven.seed, first, count, width=len(uneven.ranks))
            # Many batches cost a little less than the mean, few cost a lot more: at most 1 + excess.
            factor[:, uneven.ranks] *= 1.0 + uneven.excess * (1.5 * draws**2 - 0.5)
        return factor

    def _copying(
        self, paths: Sequence[HostPath], first: int, count: int, *, step: float, most: float
    ) -> Floats | float:
        if not paths:
            return self._copy
        factor, delay = np.ones((count, self._ranks)), np.zeros((count, self._ranks))
        for path in paths:
            draws = self._paths.rows(path.fault, path.seed, first, count, width=len(path.ranks))
            jitter = 1.0 + _JITTER * (2.0 * draws - 1.0)
            factor[:, path.ranks] *= 1.0 + (path.copy_factor - 1.0) * jitter
            delay[:, path.ranks] += path.delay_steps * step * jitter
        return self._copy * np.minimum(factor, MOST_SLOWDOWN) + np.minimum(delay, most)

    def _pausing(self, pauses: Sequence[Pause], first: int, count: int, *, most: float) -> Floats | None:
        if not pauses:
            return None
        seconds = np.zeros((count, self._ranks))
        for pause in pauses:
            seconds[:, pause.ranks] += np.where(self._falls(pause, first, count), pause.seconds, 0.0)
        return np.minimum(seconds, most)

    def _falls(self, pause: Pause, first: int, count: int) -> NDArray[np.bool_]:
        """(n, targets) whose pause falls on which step: one in each cycle of steps, at a place of its own."""
        cycle, place = np.divmod(np.arange(first, first + count), pause.every_steps)
        cycles = int(cycle[-1] - cycle[0]) + 1
        draws = self._pauses.rows(pause.fault, pause.seed, int(cycle[0]), cycles, width=len(pause.ranks))
        chosen = (draws * pause.every_steps).astype(np.int64)
        falls: NDArray[np.bool_] = chosen[cycle - cycle[0]] == place[:, None]
        return falls

    def _writing(
        self, checkpoints: Sequence[SlowCheckpoint], first: int, count: int, *, step: float, most: float
    ) -> Floats | None:
        if not checkpoints:
            return None
        seconds = np.zeros((count, self._ranks))
        for slow in checkpoints:
            ordinal, place = np.divmod(np.arange(first + 1, first + count + 1), slow.every_steps)
            due = np.flatnonzero(place == 0)
            if len(due):
                draws = self._writes.rows(slow.fault, slow.seed, int(ordinal[due[0]]), len(due), width=self._ranks)
                seconds[due] += slow.block_steps * step * (1.0 - (1.0 - _FASTEST_WRITE) * draws)
        return np.minimum(seconds, most)
