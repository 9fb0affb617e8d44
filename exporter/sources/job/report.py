"""A recorder's report after it has been checked: every value is of its type and in its range, or absent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from simulator.names import PHASES

JOB_PHASES = tuple(name for name in PHASES if name != "collective_wait")
"""What a real rank can tell apart: in a collective it cannot split waiting from transferring."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuClaim:
    """What a rank says of its GPU. Nothing of it need be true of this machine."""

    uuid: str = ""
    visible_devices: str | None = None
    """Its CUDA_VISIBLE_DEVICES; None when the variable is not set, which differs from an empty one."""
    device_index: int | None = None
    """Ordinal of its device among the visible ones."""
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Totals of one rank since its recorder started. None and an empty text say that it is not known."""

    run: str
    rank: int
    world_size: int
    session: str
    started: float
    time: float
    """Unix seconds, as `started`."""
    seq: int
    final: bool
    model: str
    precision: str
    strategy: str
    flops_convention: str
    gpu: GpuClaim
    peak_flops_per_second: float | None
    """Of this rank's device alone."""
    phases: Mapping[str, float]
    """Seconds by phase, those of JOB_PHASES that were reported."""
    collective_seconds: float | None
    collective_bytes: float | None
    queue_batches: float | None
    capacity_batches: float | None
    steps: int | None
    tokens: int | None
    samples: int | None
    model_flops: float | None
    nonfinite_steps: int | None
    skipped_steps: int | None
    checkpoints: int | None
    grad_norm_spikes: int | None
    step_seconds_sum: float | None
    step_seconds_counts: tuple[int, ...]
    """One per STEP_SECONDS_BUCKETS and one for above, not cumulative; empty when there was no histogram."""
    loss: float | None
    """May be NaN or infinite, as the three below."""
    grad_norm: float | None
    learning_rate: float | None
    loss_scale: float | None
    last_step_time: float | None

    def totals(self) -> Iterator[tuple[str, float | None]]:
        """What never falls within a session, by name."""
        yield from self.phases.items()
        for index, count in enumerate(self.step_seconds_counts):
            yield f"step_seconds {index}", count
        for name in _TOTALS:
            yield name, getattr(self, name)


_TOTALS = (
    "collective_seconds", "collective_bytes", "steps", "tokens", "samples", "model_flops", "nonfinite_steps",
    "skipped_steps", "checkpoints", "grad_norm_spikes", "step_seconds_sum", "last_step_time",
)  # fmt: skip
