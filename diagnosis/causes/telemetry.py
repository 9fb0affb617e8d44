"""The monitoring itself fails: a telemetry fault is called one, and no fault of a GPU."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diagnosis import thresholds as limit
from diagnosis.cause import Case, Cause
from diagnosis.verdict import Culprit, Evidence, Finding
from diagnosis.window import Window


class TelemetryStale(Cause):
    """Energy counters that stand still: no powered board's does."""

    name = "telemetry_stale"
    title = "GPU readings are old ones repeated; nothing is known of the GPUs, and nothing is wrong with them"
    confirm = "nvidia-smi --query-gpu=power.draw,timestamp --format=csv -l 1 beside the exporter's page"
    remedy = "Restart the exporter and its host engine (nv-hostengine); watch fewer fields or update them less often."

    def find(self, case: Case) -> Sequence[Finding]:
        """The boards whose readings do not move."""
        ranks, share = _standing(case.now)
        if not len(ranks):
            return ()
        evidence = (Evidence("intervals in which the energy counter stood still", share, 0.0, "ratio"),)
        return (self.finding(evidence, confidence=0.9, culprit=_some(case, ranks), urgency=0.2),)


def _standing(window: Window) -> tuple[NDArray[np.int64], float]:
    energy = window.series.gpu["DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"]
    steps = np.diff(energy, axis=0)
    known = np.isfinite(steps)
    still = (known & (steps == 0)).sum(axis=0)
    share = still / np.maximum(1, known.sum(axis=0))
    # A job whose own series stand still too is seen by a Prometheus that repeats itself, not by an exporter.
    ranks = np.flatnonzero((still >= limit.LEAST_INTERVALS_STALE) & (share >= 0.5) & ~(window.clock <= 0))
    return ranks, float(share[ranks].max()) if len(ranks) else 0.0


class ProfFieldsZero(Cause):
    """Profiling fields at exactly 0 on a GPU that is busy by its utilization."""

    name = "prof_fields_zero"
    title = "Profiling fields read 0, although the GPUs are busy: somebody else holds the counters"
    confirm = "dcgmi dmon -e 1002,1004; look for nsys, ncu or a second exporter on that node"
    remedy = "Stop the other profiler, or pause one: dcgmi profile --pause; give the exporter the right to profile."

    def find(self, case: Case) -> Sequence[Finding]:
        """The boards whose profiling fields are silent."""
        series = case.long.series
        names = ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_PROF_DRAM_ACTIVE")
        zero = np.array([series.gpu[name] == 0.0 for name in names]).all(axis=0)
        with np.errstate(invalid="ignore"):
            busy = series.gpu["DCGM_FI_DEV_GPU_UTIL"] > limit.UTIL_BUSY_PERCENT
        readings = (zero & busy).sum(axis=0)
        ranks = np.flatnonzero(readings >= limit.LEAST_SCRAPES)
        if not len(ranks):
            return ()
        evidence = (Evidence("readings of 0 on a busy GPU", float(readings[ranks].max()), 0.0, ""),)
        return (self.finding(evidence, confidence=0.9, culprit=_some(case, ranks), urgency=0.2),)


class NodeUnreachable(Cause):
    """Scrapes of a node that fail while the job goes on."""

    name = "node_unreachable"
    title = "A node's exporter does not answer, while the job goes on"
    confirm = "Status → Targets in Prometheus; curl the exporter's page from the Prometheus host"
    remedy = "Restart the exporter of that node; look at the network between it and Prometheus."

    def find(self, case: Case) -> Sequence[Finding]:
        """The nodes that failed to answer again and again."""
        down = (case.long.series.up == 0.0).sum(axis=0)
        nodes = np.flatnonzero(down >= limit.LEAST_SCRAPES)
        if not len(nodes):
            return ()
        ranks = np.flatnonzero(np.isin(case.now.series.node_of, nodes))
        evidence = (Evidence("failed scrapes of one node", float(down[nodes].max()), 0.0, ""),)
        everywhere = len(nodes) == len(case.now.series.nodes)
        culprit = None if everywhere else case.culprit(ranks, "node")
        return (self.finding(evidence, confidence=0.9, culprit=culprit, urgency=0.25),)


def _some(case: Case, ranks: NDArray[np.int64]) -> Culprit | None:
    """Those ranks, unless they are all of them: then it is the monitoring as a whole."""
    if len(ranks) == case.now.series.ranks:
        return None
    return case.culprit(ranks, "node" if case.whole_nodes(ranks) else "rank")


CAUSES = (TelemetryStale(), ProfFieldsZero(), NodeUnreachable())
