"""The simulated GPUs as a source: a tick to the text of node and run pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from exporter.catalogue import BY_NAME, GPU_UP, RUN_FAMILIES, Family
from exporter.render import Format, head, header, histogram, inner, lines, number, numbers
from exporter.sources.labels import Heads
from exporter.sources.readings import DOUBLE_FAMILIES, INT_FAMILIES, Readings
from simulator.names import PHASES, STEP_SECONDS_BUCKETS
from simulator.observation import Floats, Tick

SOURCE = "simulated"
"""Value of the `source` label."""


def gpu_families(readings: Readings, heads: Heads, format_: Format) -> Iterator[str]:
    """Families of dcgm-exporter for the GPUs of `heads`."""
    ints, doubles = readings.ints[:, heads.ranks], readings.doubles[:, heads.ranks]
    if readings.complete:
        rows = zip(INT_FAMILIES, ints.astype(np.int64).tolist(), strict=True)
        for family, values in (*rows, *zip(DOUBLE_FAMILIES, doubles.tolist(), strict=True)):
            yield header(family, format_) + lines(family.name, heads.gpus, numbers(family, values))
        return
    for family, row in (*zip(INT_FAMILIES, ints, strict=True), *zip(DOUBLE_FAMILIES, doubles, strict=True)):
        there = np.flatnonzero(~np.isnan(row)).tolist()
        if there:
            known = row[there].astype(np.int64 if family.number == "int" else np.float64).tolist()
            yield header(family, format_) + lines(family.name, [heads.gpus[i] for i in there], numbers(family, known))


def gpu_up(heads: Heads, reasons: Sequence[str], format_: Format) -> str:
    """`exporter_gpu_up` of the GPUs of `heads`; an empty reason means up."""
    labels = [f'{{{board},reason="{reason}"}} ' for board, reason in zip(heads.boards, reasons, strict=True)]
    return header(GPU_UP, format_) + lines(GPU_UP.name, labels, ["0" if reason else "1" for reason in reasons])


def rank_families(tick: Tick, heads: Heads, format_: Format) -> Iterator[str]:
    """Per-rank families of the training job for the ranks of `heads`."""
    counters, ranks = tick.counters, heads.ranks
    placed = [
        f"{opened},{place},{board}}} "
        for opened, place, board in zip(heads.trainers, heads.places, heads.boards, strict=True)
    ]
    info = BY_NAME["training_rank_info"]
    yield header(info, format_) + lines(info.name, placed, ["1"] * len(placed))

    phases = BY_NAME["training_phase_seconds_total"]
    yield header(phases, format_)
    for phase, seconds in zip(PHASES, counters.phase_seconds[:, ranks], strict=True):
        ending = f',phase="{phase}"}} '
        yield lines(phases.name, [opened + ending for opened in heads.trainers], _texts(seconds))

    closed = [opened + "} " for opened in heads.trainers]
    capacity = np.full(len(closed), float(tick.info.dataloader_capacity_batches))
    for name, values in (
        ("training_collective_seconds_total", counters.collective_seconds[ranks]),
        ("training_collective_bytes_total", counters.collective_bytes[ranks]),
        ("training_dataloader_queue_batches", tick.queue_batches[ranks]),
        ("training_dataloader_capacity_batches", capacity),
    ):
        yield header(BY_NAME[name], format_) + lines(name, closed, _texts(values))


def node_families(tick: Tick, heads: Heads, format_: Format) -> Iterator[str]:
    """Storage and network families of the nodes of `heads`."""
    counters, nodes = tick.counters, heads.nodes
    storage = BY_NAME["training_storage_read_bytes_total"]
    closed = [opened + "} " for opened in heads.hosts]
    yield header(storage, format_) + lines(storage.name, closed, _texts(counters.storage_read_bytes[nodes]))
    if not tick.info.nic_devices:
        return
    endings = [f",{inner((('device', device),))}}} " for device in tick.info.nic_devices]
    interfaces = [opened + ending for opened in heads.hosts for ending in endings]
    for name, values in (
        ("training_network_transmit_bytes_total", counters.network_transmit_bytes),
        ("training_network_pause_frames_total", counters.network_pause_frames),
        ("training_network_retransmits_total", counters.network_retransmits),
    ):
        yield header(BY_NAME[name], format_) + lines(name, interfaces, _texts(values[nodes].ravel()))


def run_families(tick: Tick, format_: Format) -> Iterator[str]:
    """Families that exist once per run."""
    labels = head((("run", tick.info.run),))
    values = _run_values(tick)
    for family in RUN_FAMILIES:
        if family.type == "histogram":
            yield header(family, format_) + _step_histogram(tick, family, format_)
        elif family.name == "training_run_info":
            yield header(family, format_) + f"{family.name}{_run_info_head(tick)}1\n"
        elif (value := values[family.name]) is not None:
            shown = str(value) if family.number == "int" else number(float(value))
            yield f"{header(family, format_)}{family.name}{labels}{shown}\n"


def _run_values(tick: Tick) -> dict[str, float | None]:
    counters, learning = tick.counters, tick.learning
    # Until a step has ended nothing is known of learning: absent, not NaN, which is what a diverged run shows.
    known = counters.steps > 0
    return {
        "training_steps_total": int(counters.steps),
        "training_tokens_total": int(counters.tokens),
        "training_samples_total": int(counters.samples),
        "training_model_flops_total": counters.model_flops,
        "training_peak_flops_per_second": tick.info.peak_flops_per_second,
        "training_loss": learning.loss if known else None,
        "training_grad_norm": learning.grad_norm if known else None,
        "training_learning_rate": learning.learning_rate if known else None,
        "training_loss_scale": learning.loss_scale if known else None,
        "training_nonfinite_steps_total": int(counters.nonfinite_steps),
        "training_skipped_steps_total": int(counters.skipped_steps),
        "training_checkpoints_total": int(counters.checkpoints),
        "training_grad_norm_spikes_total": int(counters.grad_norm_spikes),
        "training_last_step_timestamp_seconds": tick.last_step_timestamp or None,
    }


def _run_info_head(tick: Tick) -> str:
    info = tick.info
    values = (info.run, info.model, info.precision, info.strategy, info.gpu_model, info.flops_convention, SOURCE)
    return head(zip(BY_NAME["training_run_info"].labels, values, strict=True))


def _step_histogram(tick: Tick, family: Family, format_: Format) -> str:
    counters = tick.counters
    return histogram(
        family,
        (("run", tick.info.run),),
        bounds=STEP_SECONDS_BUCKETS,
        counts=counters.step_seconds_buckets.tolist(),
        total=counters.step_seconds_sum,
        marks=_exemplar(tick) if format_ is Format.OPENMETRICS else {},
    )


def _exemplar(tick: Tick) -> dict[int, str]:
    """The last step as an exemplar, by the index of the bucket that it fell into."""
    step = tick.last_step
    if step is None:
        return {}
    bucket = int(np.searchsorted(STEP_SECONDS_BUCKETS, step.duration_seconds))
    labels = head((("step", str(step.step)), ("slowest_rank", str(step.slowest_rank))))
    return {bucket: f" # {labels}{number(step.duration_seconds)} {number(tick.last_step_timestamp)}"}


def _texts(values: Floats) -> list[str]:
    return list(map(repr if np.isfinite(values).all() else number, values.tolist()))
