"""The isolation pipeline: six stages, strictly in this order, each with a metric, a threshold and an outcome."""

from __future__ import annotations

import math

import numpy as np

from diagnosis import thresholds as limit
from diagnosis.cause import Case
from diagnosis.lateness import lateness
from diagnosis.verdict import Stage
from diagnosis.window import H2D, Window, high, low, middle
from simulator.observation import Floats


def isolate(case: Case) -> tuple[Stage, ...]:
    """Every stage of the pipeline on the live run."""
    return (
        _input(case),
        _affinity(case.now),
        _gpudirect(case.now),
        _path(case.now),
        _lossless(case.now),
        _nccl(case),
    )


def _stage(
    name: str, metric: str, value: float, threshold: float, *, unit: str, reason: str, above: bool = False
) -> Stage:
    """Pass below the threshold, or above it; not measurable, for the reason given, without a number."""
    if not math.isfinite(value):
        return Stage(name, metric, "not measurable", None, threshold, unit, reason)
    good = value >= threshold if above else value <= threshold
    return Stage(name, metric, "pass" if good else "fail", value, threshold, unit, "")


def _input(case: Case) -> Stage:
    step = case.step_seconds
    known = step > 0 and np.isfinite(case.now.data_wait).any()
    found = lateness(case, least=0.0)
    late = (found.seconds / step if found else 0.0) if known else math.nan
    threshold = limit.INPUT_RISE if case.before is not None else limit.INPUT_BOUND
    return _stage(
        "storage and data loader", "cost of late batches", late, threshold,
        unit="share of the step", reason="no step ended, or nobody times the wait for data",
    )  # fmt: skip


def _affinity(now: Window) -> Stage:
    copies = now.phases[H2D] / now.step_seconds if now.step_seconds > 0 else np.full(now.series.ranks, math.nan)
    known = copies[np.isfinite(copies)]
    spread = float(known.max() - np.median(known)) if len(known) else math.nan
    return _stage(
        "NUMA affinity", "copies to the device, worst rank beyond the median", spread, limit.H2D_EXCESS_HIGH,
        unit="share of the step", reason="no step ended, or nobody times the copies to the device",
    )  # fmt: skip


def staged(now: Window) -> float:
    """PCIe bytes that the boards send over what leaves their nodes: 1 with GPUDirect, 2 staged in host memory.

    The one is a gauge and the other a counter: the usual reading over the best interval, so that a stall between two
    scrapes is not taken for bytes that went missing. Median over the nodes.
    """
    series = now.series
    if not series.links or now.scrapes < limit.LEAST_SCRAPES:
        return math.nan
    node_of_link = np.array([link.node for link in series.links])
    rates = np.diff(series.link["training_network_transmit_bytes_total"], axis=0) / np.diff(series.times)[:, None]
    pcie = series.gpu["DCGM_FI_PROF_PCIE_TX_BYTES"]
    nodes = range(len(series.nodes))
    sent = np.array([high(rates[:, node_of_link == node].sum(axis=1)) for node in nodes])
    read = np.array([middle(pcie[:, series.node_of == node].sum(axis=1)) for node in nodes])
    with np.errstate(invalid="ignore", divide="ignore"):
        return middle(np.where(sent > 0, read / sent, np.nan))


def _gpudirect(now: Window) -> Stage:
    return _stage(
        "GPUDirect", "PCIe bytes sent by GPUs over bytes sent to the network", staged(now), limit.STAGED_RATIO_HIGH,
        unit="ratio", reason="needs PCIe rates of the GPUs and byte counters of the network interfaces",
    )  # fmt: skip


def _path(now: Window) -> Stage:
    return _stage(
        "network path", "bytes of the slowest interface over its node's median", low(now.link_share),
        limit.LINK_SHARE_LOW, unit="ratio", above=True,
        reason="no byte counters of network interfaces, or nothing was sent",
    )  # fmt: skip


def lossless(now: Window) -> tuple[float, float]:
    """Pause frames and retransmits per second of the worst interface; NaN where nobody counts."""
    frames = now.link("training_network_pause_frames_total")
    again = now.link("training_network_retransmits_total")
    return _most(frames), _most(again)


def _most(values: Floats) -> float:
    return float(np.nanmax(values)) if np.isfinite(values).any() else math.nan


def _lossless(now: Window) -> Stage:
    frames, again = lossless(now)
    # Whichever is closer to its own threshold, as a multiple of it.
    worst = np.fmax(frames / limit.PAUSE_FRAMES_PER_SECOND_HIGH, again / limit.RETRANSMITS_PER_SECOND_HIGH)
    return _stage(
        "lossless fabric", "pause frames and retransmits, over what counts as none", float(worst), 1.0,
        unit="ratio", reason="nobody counts pause frames and retransmits",
    )  # fmt: skip


def _nccl(case: Case) -> Stage:
    before = case.before
    slower = case.now.transfer / before.transfer if before is not None and before.transfer > 0 else math.nan
    return _stage(
        "NCCL settings", "time of the transfers in collectives over that of the better window", slower,
        limit.TRANSFER_SLOWER, unit="ratio",
        reason="no earlier window of this run to compare with: run stepscope nccl-test against the published tables",
    )  # fmt: skip
