"""When the norm of a gradient counts as a spike: one definition for the simulated job and for real ones.

Standard library only: a training process imports this.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterable

SPIKE_FACTOR = 10.0
"""A step whose norm is more than this many times the running median is a spike."""
MEDIAN_STEPS = 201
"""Steps that the running median looks back on."""
_LEAST_STEPS = 10
"""With fewer there is nothing yet to compare with."""


class Spikes:
    """The running median of the steps that were no spikes, so that a long explosion stays one."""

    def __init__(self, known: Iterable[float] = ()) -> None:
        """`known` are norms before the first step, the oldest first."""
        self._recent = deque(known, maxlen=MEDIAN_STEPS)
        self._sorted = sorted(self._recent)

    def is_spike(self, norm: float) -> bool:
        """Judge the next step. A norm that is not finite is a spike; none else is among the first ten."""
        if len(self._sorted) < _LEAST_STEPS:
            spike = not math.isfinite(norm)
        else:
            spike = not norm <= SPIKE_FACTOR * self._sorted[len(self._sorted) // 2]
        if not spike:
            self._remember(norm)
        return spike

    def _remember(self, norm: float) -> None:
        if len(self._recent) == MEDIAN_STEPS:
            del self._sorted[bisect_left(self._sorted, self._recent[0])]
        self._recent.append(norm)
        insort(self._sorted, norm)
