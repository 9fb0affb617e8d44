"""Exact time averages over sampling windows, however long or short steps are against them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.names import PHASES
from simulator.observation import Floats
from simulator.timeline import BACKWARD, DATA_WAIT, FORWARD, StepBlock


@dataclass(frozen=True, slots=True)
class Window:
    """What one block of steps contributes to one window. Shapes: P phases, R ranks."""

    exact_seconds: Floats
    """(P, R) time in the activity of each phase inside the window, cut where the window cuts it: what gauges see."""
    accrued_seconds: Floats
    """(P, R) phase time accrued pro rata inside each step, so that a long step is smooth: what counters see."""
    resident_seconds: Floats
    """(P, R) the same by activity, as in `exact_seconds`: a gap in forward counts as the idling that it is."""
    matmul_seconds: Floats
    """(R,) exact tensor-core time."""
    kernel_seconds: Floats
    """(R,) time inside collective kernels, pro rata."""
    steps: float
    """Share of steps, summed, that falls into the window."""


def integrate(block: StepBlock, begin: float, end: float) -> Window:
    """The part of `block` that lies in [begin, end); seconds since the run began."""
    low = np.clip(begin - block.starts, 0.0, block.durations)
    high = np.clip(end - block.starts, 0.0, block.durations)
    share = (high - low) / block.durations
    accrued = np.tensordot(share, block.phases, axes=1)
    kernels = share @ block.kernel_seconds
    whole = (low == 0.0) & (high == block.durations)
    if whole.all():
        exact, matmul = accrued, block.matmul_seconds.sum(axis=(0, 1))
        gaps = 0.0 if block.gaps is None else block.gaps.sum(axis=0)
    else:
        exact = block.phases[whole].sum(axis=0)
        matmul = block.matmul_seconds[whole].sum(axis=(0, 1))
        gaps = 0.0 if block.gaps is None else block.gaps[whole].sum(axis=0)
        for index in np.flatnonzero(~whole & (high > low)):
            part = _cut(block.phases[index], float(low[index]), float(high[index]))
            exact = exact + part
            for row, phase in enumerate((FORWARD, BACKWARD)):
                length = block.phases[index, phase]
                # A job that is down has a step without any work.
                done = np.divide(part[phase], length, out=np.zeros_like(length), where=length > 0.0)
                matmul = matmul + block.matmul_seconds[index, row] * done
            if block.gaps is not None:
                gaps = gaps + block.gaps[index] * part[FORWARD] / block.phases[index, FORWARD]
    resident = accrued
    if block.gaps is not None:
        resident = _idling(accrued, share @ block.gaps)
        exact = _idling(exact, gaps)
    return Window(exact, accrued, resident, matmul, kernels, float(share.sum()))


def _idling(seconds: Floats, gaps: Floats | float) -> Floats:
    """Phase seconds (P, R) with these of forward (R,) moved to where no kernel runs."""
    moved = seconds.copy()
    moved[FORWARD] -= gaps
    moved[DATA_WAIT] += gaps
    return moved


def _cut(phases: Floats, low: float, high: float) -> Floats:
    """Time in each phase between two moments of one step; (P, R) in and out."""
    bounds = np.zeros((len(PHASES) + 1, phases.shape[1]))
    np.cumsum(phases, axis=0, out=bounds[1:])
    # The last phase ends with the step, whatever rounding made of the sum.
    bounds[-1] = np.maximum(bounds[-1], high)
    cut: Floats = np.diff(np.clip(bounds, low, high), axis=0)
    return cut
