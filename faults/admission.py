"""From a wish to a record: what a run asks of a fault before it takes it, and what it fills in."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from faults import registry
from faults.effects import Topology
from faults.errors import FaultError, Problem
from faults.record import FaultRecord
from faults.resolved import listing
from faults.spec import FaultSpec


def derived_seed(run_seed: int, name: str) -> int:
    """Seed of a fault that brings none: the same for the same run seed and name, everywhere."""
    return int.from_bytes(hashlib.sha256(f"{run_seed}/{name}".encode()).digest()[:4], "big")


LEAST_INTENSITY = 0.001
"""What is weaker than this cannot be told from nothing."""


def check_intensity(spec: FaultSpec) -> None:
    """FaultError at /intensity when the fault would do nothing that anybody could see."""
    if spec.intensity < LEAST_INTENSITY:
        detail = f"must be at least {LEAST_INTENSITY:g}; a weaker fault would do nothing that could be seen"
        raise FaultError.at("/intensity", detail)


def completed(name: str, spec: FaultSpec, *, topology: Topology, run_seed: int) -> FaultSpec:
    """The spec, checked, with its target and seed filled in.

    FaultError `unsupported` when a job of this shape cannot show its kind.
    """
    spec = FaultSpec.from_mapping(spec.to_mapping())
    check_intensity(spec)
    kind = registry.kind(spec.kind)
    problems = [Problem("/kind", f"{spec.kind} {reason}") for reason in kind.unmet_needs(topology)]
    problems += kind.misfits(spec.params, topology)
    if problems:
        raise FaultError(problems, code="unsupported")
    seed = derived_seed(run_seed, name) if spec.seed is None else spec.seed
    return replace(spec, target=spec.effective_target, seed=seed)


def admitted(
    name: str, spec: FaultSpec, *, topology: Topology, put_at: float, created_at: float, next_step: int
) -> FaultRecord:
    """The record of a `completed` spec. FaultError at /target/value when this job has no such ranks or nodes."""
    assert spec.target is not None, "completed fills it in"
    assert spec.seed is not None, "completed fills it in"
    ranks = spec.target.resolve(topology, spec.seed)
    ranks.flags.writeable = False
    return FaultRecord(
        name=name,
        spec=spec,
        ranks=ranks,
        target_text=spec.target.describe(ranks, topology),
        put_at=put_at,
        created_at=created_at,
        effective_from_step=None if spec.start_after_seconds > 0 else next_step,
        listed=listing(ranks),
    )
