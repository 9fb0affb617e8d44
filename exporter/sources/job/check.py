"""A datagram to a report, or the reason why not. Whoever may write to the socket may send anything.

What a later recorder adds is ignored, so that it can be newer than the exporter; what it means differently has another
`v`. An unknown phase is refused: without it the phases of a rank would not add up to its time.
"""

from __future__ import annotations

import json
from typing import Any

from exporter.sources.job.fields import Fields, Refused
from exporter.sources.job.report import JOB_PHASES, GpuClaim, Report
from exporter.sources.job.wire import (
    MAX_BYTES,
    MOST_BATCHES,
    MOST_BYTES,
    MOST_COUNT,
    MOST_FLOPS,
    MOST_PEAK,
    MOST_RANKS,
    VERSION,
)
from simulator.names import STEP_SECONDS_BUCKETS

CHECK_REASONS = ("too_long", "encoding", "json", "version", "missing", "type", "range", "text", "phase", "time")
"""Why a report can be refused for what it says."""

SKEW_SECONDS = 60.0
"""Sender and receiver read one clock: a report that is further from now was not made now."""

_SECONDS = 1e10
"""Three centuries: also the last Unix time that is believed."""


def check(datagram: bytes, *, now: float) -> Report:
    """The report in a datagram that arrived at `now` (Unix seconds). Refused with the reason when it is not one."""
    fields = Fields(_decoded(datagram))
    if fields.needed("v", most=MOST_COUNT) != VERSION:
        raise Refused("version", f"v is not {VERSION}")
    made = fields.needed_real("time", most=_SECONDS)
    started = fields.needed_real("started", most=_SECONDS)
    last_step = fields.real("last_step_time", most=_SECONDS)
    if abs(made - now) > SKEW_SECONDS or (last_step is not None and last_step > now + SKEW_SECONDS):
        raise Refused("time", f"the report is of {made:.0f}, its last step of {last_step or 0.0:.0f}: not of now")
    world_size = fields.needed("world_size", least=1, most=MOST_RANKS)
    step_seconds_sum, step_seconds_counts = _histogram(fields.value("step_seconds"))
    fields.whole("local_rank", most=MOST_RANKS)
    return Report(
        run=fields.text("run", required=True),
        rank=fields.needed("rank", most=world_size - 1),
        world_size=world_size,
        session=fields.text("session", required=True),
        started=started,
        time=made,
        seq=fields.needed("seq", most=MOST_COUNT),
        final=fields.flag("final"),
        model=fields.text("model"),
        precision=fields.text("precision"),
        strategy=fields.text("strategy"),
        flops_convention=fields.text("flops_convention"),
        gpu=_gpu(fields.value("gpu")),
        peak_flops_per_second=fields.real("peak_flops_per_second", most=MOST_PEAK) or None,
        phases=_phases(fields.value("phases")),
        collective_seconds=fields.real("collective_seconds", most=_SECONDS),
        collective_bytes=fields.real("collective_bytes", most=MOST_BYTES),
        queue_batches=fields.real("queue_batches", most=MOST_BATCHES),
        capacity_batches=fields.real("capacity_batches", most=MOST_BATCHES),
        steps=fields.whole("steps", most=MOST_COUNT),
        tokens=fields.whole("tokens", most=MOST_COUNT),
        samples=fields.whole("samples", most=MOST_COUNT),
        model_flops=fields.real("model_flops", most=MOST_FLOPS),
        nonfinite_steps=fields.whole("nonfinite_steps", most=MOST_COUNT),
        skipped_steps=fields.whole("skipped_steps", most=MOST_COUNT),
        checkpoints=fields.whole("checkpoints", most=MOST_COUNT),
        grad_norm_spikes=fields.whole("grad_norm_spikes", most=MOST_COUNT),
        step_seconds_sum=step_seconds_sum,
        step_seconds_counts=step_seconds_counts,
        loss=fields.any_real("loss"),
        grad_norm=fields.any_real("grad_norm"),
        learning_rate=fields.any_real("learning_rate"),
        loss_scale=fields.any_real("loss_scale"),
        last_step_time=last_step,
    )


def _decoded(datagram: bytes) -> object:
    if len(datagram) > MAX_BYTES:
        raise Refused("too_long", f"longer than {MAX_BYTES} bytes")
    try:
        text = datagram.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refused("encoding", f"not UTF-8: {error.reason}") from None
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
    except (ValueError, RecursionError) as error:
        # Not `error` itself: it may quote the sender, who would then write in the log.
        raise Refused("json", f"not JSON: {type(error).__name__}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise Refused("json", "a key stands twice in one object")
    return values


def _constant(name: str) -> float:
    raise Refused("json", f"{name} is not JSON")


def _gpu(value: object) -> GpuClaim:
    if value is None:
        return GpuClaim()
    fields = Fields(value, "gpu")
    visible = fields.value("visible_devices")
    return GpuClaim(
        uuid=fields.text("uuid"),
        visible_devices=None if visible is None else fields.text("visible_devices", most=4096),
        device_index=fields.whole("device_index", most=MOST_RANKS),
        name=fields.text("name"),
    )


def _phases(value: object) -> dict[str, float]:
    if value is None:
        return {}
    fields = Fields(value, "phases")
    if unknown := set(fields.names()) - set(JOB_PHASES):
        raise Refused("phase", f"{len(unknown)} of the phases are none of {', '.join(JOB_PHASES)}")
    seconds = {name: fields.real(name, most=_SECONDS) for name in JOB_PHASES}
    return {name: spent for name, spent in seconds.items() if spent is not None}


def _histogram(value: object) -> tuple[float | None, tuple[int, ...]]:
    if value is None:
        return None, ()
    fields = Fields(value, "step_seconds")
    total = fields.needed_real("sum", most=_SECONDS)
    counts = fields.value("counts", required=True)
    if not isinstance(counts, list):
        raise Refused("type", "step_seconds.counts is not a list")
    if len(counts) != len(STEP_SECONDS_BUCKETS) + 1:
        raise Refused("range", f"step_seconds.counts has {len(counts)} numbers")
    numbered = Fields(dict(zip(map(str, range(len(counts))), counts, strict=True)), "step_seconds.counts")
    whole = tuple(numbered.needed(name, most=MOST_COUNT) for name in numbered.names())
    if sum(whole) > MOST_COUNT:
        raise Refused("range", "step_seconds.counts add up to more than can be counted")
    return total, whole
