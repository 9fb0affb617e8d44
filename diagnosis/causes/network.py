"""Collectives whose transfer takes longer: on all ranks alike, and nobody waits longer for anybody.

What tells the causes apart: a latency tail differs from step to step and a setting does not; a degraded link carries
less than its neighbours; without GPUDirect every byte crosses PCIe twice; a storm shows in the frames themselves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from diagnosis import thresholds as limit
from diagnosis.cause import Case, Cause
from diagnosis.compare import rise, sure
from diagnosis.pipeline import staged
from diagnosis.standing import stands
from diagnosis.verdict import Evidence, Finding
from diagnosis.window import COLLECTIVE, high, low, middle


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


def _tells(case: Case) -> bool:
    """Whether something more telling than the transfer's time is there: a slow link, a storm."""
    return bool(len(slow_links(case))) or bool(len(stormy(case)))


def stormy(case: Case) -> NDArray[np.int64]:
    """Interfaces that receive pause frames or send again."""
    frames = case.now.link("training_network_pause_frames_total")
    again = case.now.link("training_network_retransmits_total")
    with np.errstate(invalid="ignore"):
        return np.flatnonzero(
            (frames > limit.PAUSE_FRAMES_PER_SECOND_HIGH) | (again > limit.RETRANSMITS_PER_SECOND_HIGH)
        )


class NetworkTailLatency(Cause):
    """Transfers that take longer, in each step by another amount."""

    name = "network_tail_latency"
    title = "Messages between nodes have a latency tail and every collective waits for the slowest"
    confirm = "nsys profile -t cuda,nvtx,osrt python train.py; look at the overlap of the communication stream"
    remedy = "Look for congestion on the fabric's paths (ECN marks, ECMP collisions); keep the job within fewer pods."
    takes = "transfer"

    def find(self, case: Case) -> Sequence[Finding]:
        """The tail."""
        slow = slowness(case)
        if slow is None or not slow.cv > limit.TRANSFER_CV_TAIL or _tells(case):
            return ()
        return (_finding(self, case, slow),)


class PfcStorm(Cause):
    """Pause frames and retransmits on a fabric that should have none."""

    name = "pfc_storm"
    title = "Pause frames and retransmits take the fabric over"
    confirm = "dmesg -T; ethtool -S <if> | grep -E 'pfc|pause|drop|discard' on the nodes named"
    remedy = (
        "Lower the ECN thresholds, check the PFC headroom of the switches, isolate the interface that sends pauses."
    )
    takes = "transfer"
    explains = ("network_tail_latency", "hang", "sequence_imbalance", "gc_pause")

    def find(self, case: Case) -> Sequence[Finding]:
        """The storm, and the nodes whose interfaces see it where others do not."""
        links = stormy(case)
        if not len(links):
            return ()
        now = case.now
        frames, again = now.link("training_network_pause_frames_total"), now.link("training_network_retransmits_total")
        slow = slowness(case)
        evidence = (
            Evidence("pause frames, worst interface", high(frames), limit.PAUSE_FRAMES_PER_SECOND_HIGH, "1/s"),
            Evidence("retransmits, worst interface", high(again), limit.RETRANSMITS_PER_SECOND_HIGH, "1/s"),
            *(slow.evidence(case)[:1] if slow else ()),
        )
        nodes = {now.series.links[int(link)].node for link in links}
        ranks = np.flatnonzero(np.isin(now.series.node_of, list(nodes)))
        culprit = case.culprit(ranks, "node") if len(nodes) < len(now.series.nodes) else None
        seconds = slow.seconds if slow else 0.0
        stopped = not now.step_seconds > 0
        return (
            self.finding(
                evidence,
                seconds=seconds,
                confidence=0.95,
                culprit=culprit,
                urgency=1.0 if stopped else 0.3,
                stands_still=stands(case),
            ),
        )


class LinkDegraded(Cause):
    """An interface that carries less than the others of its node, while every ring waits for it."""

    name = "link_degraded"
    title = "A network interface runs at a fraction of its rate"
    confirm = "ibstat or ethtool <if> on that node: rate and lanes; ib_write_bw to a neighbour over that interface"
    remedy = "Reseat or replace cable and transceiver, or disable the interface; until then cordon the node."
    takes = "transfer"

    def find(self, case: Case) -> Sequence[Finding]:
        """The slow interfaces, by the ranks beside them."""
        links = slow_links(case)
        if not len(links):
            return ()
        slow = slowness(case)
        share = low(case.now.link_share[links])
        names = ", ".join(_named(case, int(link)) for link in links[:4])
        evidence = (
            Evidence(f"bytes of {names} over the node's median", share, limit.LINK_SHARE_LOW, "ratio"),
            *(slow.evidence(case) if slow else ()),
        )
        ranks = np.unique([rank for link in links for rank in _beside(case, int(link))])
        return (
            self.finding(
                evidence,
                seconds=slow.seconds if slow else 0.0,
                confidence=sure(1.0 - share, 1.0 - limit.LINK_SHARE_LOW),
                culprit=case.culprit(ranks) if len(ranks) else None,
                urgency=0.15,
                detail=names,
            ),
        )


class GdrDisabled(Cause):
    """PCIe bytes of the GPUs beyond what their nodes send."""

    name = "gdr_disabled"
    title = "GPUDirect is off, and what leaves a GPU for the network is staged in host memory"
    confirm = "NCCL_DEBUG=INFO: look for GDRDMA in the channel lines; lsmod | grep nvidia_peermem"
    remedy = "Set NCCL_NET_GDR_LEVEL=5, load nvidia-peermem, check that ACS is off on the PCIe switches."
    takes = "transfer"

    def find(self, case: Case) -> Sequence[Finding]:
        """The staging."""
        ratio = staged(case.now)
        if not ratio > limit.STAGED_RATIO_HIGH:
            return ()
        slow = slowness(case)
        evidence = (
            Evidence("PCIe bytes sent by GPUs over bytes sent to the network", ratio, 1.0, "ratio"),
            *(slow.evidence(case) if slow else ()),
        )
        seconds = slow.seconds if slow else 0.0
        confidence = sure(ratio - 1.0, limit.STAGED_RATIO_HIGH - 1.0)
        return (self.finding(evidence, seconds=seconds, confidence=confidence, urgency=0.15),)


class NcclSmallBuffer(Cause):
    """Transfers that take longer by the same factor in every step, more than latency could add."""

    name = "nccl_small_buffer"
    title = "NCCL's buffers are too small for this network"
    confirm = "stepscope nccl-test, or all_reduce_perf -b 8 -e 8G -f 2: large messages slow, small ones as ever"
    remedy = "Unset NCCL_BUFFSIZE, or set it to 4194304."
    takes = "transfer"

    def find(self, case: Case) -> Sequence[Finding]:
        """The setting."""
        slow = _steadily(case)
        if slow is None:
            return ()
        share = _of_ring(case, slow)
        return (_finding(self, case, slow, confidence=0.85 if share > 1.0 else _either(share < limit.RING_SHARE)),)


class NcclAlgo(Cause):
    """The same, and no more than the latency of a ring over so many ranks adds."""

    name = "nccl_algo"
    title = "NCCL is told to use an algorithm that this many ranks do not bear"
    confirm = "stepscope nccl-test, or all_reduce_perf -b 8 -e 8G -f 2: small messages slow, large ones as ever"
    remedy = "Unset NCCL_ALGO: NCCL chooses by size and cluster."
    takes = "transfer"

    def find(self, case: Case) -> Sequence[Finding]:
        """The setting."""
        slow = _steadily(case)
        share = _of_ring(case, slow) if slow is not None else math.inf
        if slow is None or share > 1.0:
            return ()
        return (_finding(self, case, slow, confidence=_either(share >= limit.RING_SHARE)),)


def _either(likelier: bool) -> float:
    """Confidence where one number has two explanations."""
    return 0.65 if likelier else 0.45


def _steadily(case: Case) -> Slowness | None:
    slow = slowness(case)
    if slow is None or slow.cv > limit.TRANSFER_CV_TAIL or _tells(case):
        return None
    # Staged bytes take as much longer as they cross PCIe more often; what is left has another reason.
    left = slow.factor / max(1.0, staged(case.now)) if staged(case.now) > limit.STAGED_RATIO_HIGH else slow.factor
    return replace(slow, factor=left) if left > limit.TRANSFER_SLOWER else None


def _of_ring(case: Case, slow: Slowness) -> float:
    """What was added, over what the latency of a ring instead of NCCL's own choice adds to every collective of a step.

    Above 1 latency cannot be all of it. What no computing hides of a healthy step is about one collective, which tells
    how many a step has. Constants: fits of published nccl-tests tables.
    """
    before, series = case.before, case.now.series
    assert before is not None, "transfers are compared with a better window"
    one = max(middle(before.phases[COLLECTIVE]), limit.LEAST_COLLECTIVE_SECONDS)
    ring = 2.0 * (series.ranks - 1) * limit.RING_HOP_SECONDS
    own = limit.ALL_REDUCE_DOUBLING_SECONDS * math.log2(max(2, len(series.nodes)))
    most = 1.1 * max(0.0, ring - own) * before.transfer / one
    return (slow.factor - 1.0) * before.transfer / most if most > 0 else math.inf


def _finding(cause: Cause, case: Case, slow: Slowness, *, confidence: float | None = None) -> Finding:
    certainty = sure(slow.factor - 1.0, limit.TRANSFER_SLOWER - 1.0) if confidence is None else confidence
    return cause.finding(slow.evidence(case), seconds=slow.seconds, confidence=certainty, urgency=0.1)


def _named(case: Case, link: int) -> str:
    series = case.now.series
    return f"{series.nodes[series.links[link].node]}/{series.links[link].device}"


def _beside(case: Case, link: int) -> list[int]:
    """Ranks whose GPUs an interface serves: in order of their indices, as the slots of a node are laid out."""
    series = case.now.series
    node = series.links[link].node
    devices = sorted(other.device for other in series.links if other.node == node)
    ranks = [rank for rank in range(series.ranks) if series.members[rank].node == node]
    ranks.sort(key=lambda rank: _number(series.members[rank].gpu))
    place = devices.index(series.links[link].device)
    return [rank for local, rank in enumerate(ranks) if local * len(devices) // len(ranks) == place]


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0


CAUSES = (NetworkTailLatency(), PfcStorm(), LinkDegraded(), GdrDisabled(), NcclSmallBuffer(), NcclAlgo())
