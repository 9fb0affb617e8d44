"""Collectives whose transfer takes longer: on all ranks alike, and nobody waits longer for anybody.

What tells the causes apart: a latency tail differs from step to step and a setting does not; a degraded link carries
less than its neighbours; without GPUDirect every byte crosses PCIe twice; a storm shows in the frames themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diagnosis import thresholds as limit
from diagnosis.cause import Case, Cause
from diagnosis.compare import rise, sure
from diagnosis.verdict import Evidence, Finding
from diagnosis.window import COLLECTIVE, middle


@dataclass(frozen=True, slots=True)
class Slowness:
    """How slow the transfer itself is."""

    factor: float
    """Against the better window."""
    cv: float
    """Spread of the transfer from step to step, estimated from the intervals; NaN with fewer than three."""
    seconds: float
    """Exposed communication per step that it costs."""

    def evidence(self, case: Case) -> tuple[Evidence, ...]:
        """The numbers."""
        bandwidth = None if case.before is None else case.before.bus_bandwidth
        return (
            Evidence("transfer in collectives against the better window", self.factor, limit.TRANSFER_SLOWER, "ratio"),
            Evidence("its spread from step to step", self.cv, limit.TRANSFER_CV_TAIL, "ratio"),
            Evidence("bus bandwidth", case.now.bus_bandwidth, bandwidth, "bytes/s"),
        )


def slowness(case: Case) -> Slowness | None:
    """Slow transfers of a job that leaves its node; None when they are as fast as before, or nobody knows."""
    now, before = case.now, case.before
    if before is None or not now.series.links or not before.transfer > 0:
        return None
    factor = now.transfer / before.transfer
    if not factor > limit.TRANSFER_SLOWER:
        return None
    # Kernels of collectives hold SMs, so that long ones lengthen what is computed beside them too.
    exposed = rise(
        case, middle(now.phases[COLLECTIVE] + now.compute), middle(before.phases[COLLECTIVE] + before.compute)
    )
    grown = rise(case, now.step_seconds, before.step_seconds)
    return Slowness(factor, _spread(case), min(exposed, grown))


def _spread(case: Case) -> float:
    """Intervals average over their steps, so that their spread times the root of that number is that of one step."""
    pieces = [piece for piece in case.pieces if piece.transfer > 0]
    if len(pieces) < 3:
        return float("nan")
    values = np.array([piece.transfer for piece in pieces])
    steps = np.array([piece.steps for piece in pieces])
    return float(values.std(ddof=1) / values.mean() * np.sqrt(steps.mean()))


def slow_links(case: Case) -> NDArray[np.int64]:
    """Interfaces that carry much less than the others of their node."""
    with np.errstate(invalid="ignore"):
        return np.flatnonzero(case.now.link_share < limit.LINK_SHARE_LOW)


class NetworkTailLatency(Cause):
    """Transfers that take longer, in each step by another amount."""

    name = "network_tail_latency"
    title = "Messages between nodes have a latency tail and every collective waits for the slowest"
    confirm = "nsys profile -t cuda,nvtx,osrt python train.py; look at the overlap of the communication stream"
    remedy = "Look for congestion on the fabric's paths (ECN marks, ECMP collisions); keep the job within fewer pods."

    def find(self, case: Case) -> Sequence[Finding]:
        """The tail."""
        slow = slowness(case)
        if slow is None or not slow.cv > limit.TRANSFER_CV_TAIL or len(slow_links(case)):
            return ()
        confidence = sure(slow.factor - 1.0, limit.TRANSFER_SLOWER - 1.0)
        return (self.finding(slow.evidence(case), seconds=slow.seconds, confidence=confidence, urgency=0.1),)


CAUSES = (NetworkTailLatency(),)
