"""A process on the wrong NUMA node: its copies to the device are slow, and its device waits for it."""

from __future__ import annotations

from collections.abc import Sequence

from diagnosis import thresholds as limit
from diagnosis.cause import Case, Cause
from diagnosis.compare import lead, persistent, standing_out, sure
from diagnosis.verdict import Evidence, Finding
from diagnosis.window import H2D, high, middle


class NumaMisaffinity(Cause):
    """Time to the device that stands out from the peers', with compute as ever."""

    name = "numa_misaffinity"
    title = "Processes run on the wrong NUMA node, and their GPUs wait for their hosts"
    confirm = "numactl -H; nvidia-smi topo -m; taskset -cp <pid> of the trainer"
    remedy = "Pin each rank to its GPU's local node: numactl --cpunodebind and --membind, or the launcher's option."
    takes = "work"

    def find(self, case: Case) -> Sequence[Finding]:
        """Ranks whose copies take longer than those of their peers."""
        now, step = case.now, case.step_seconds
        if not step > 0:
            return ()
        copies = now.phases[H2D]
        least = limit.H2D_EXCESS_HIGH * step
        pieces = [piece.phases[H2D] - middle(piece.phases[H2D]) for piece in case.pieces]
        ranks = persistent(pieces, standing_out(copies, least=least), least=least / 2)
        if not len(ranks):
            return ()
        worst = high(copies[ranks])
        evidence = (
            Evidence("copies to the device per step", worst, middle(copies), "s"),
            Evidence("compute per step of those ranks", middle(now.compute[ranks]), middle(now.compute), "s"),
        )
        return (
            self.finding(
                evidence,
                seconds=max(lead(now.work, ranks), 0.5 * (worst - middle(copies))),
                confidence=sure(worst - middle(copies), least),
                culprit=case.culprit(ranks, "node" if case.whole_nodes(ranks) else "rank"),
                urgency=0.05,
            ),
        )


CAUSES = (NumaMisaffinity(),)
