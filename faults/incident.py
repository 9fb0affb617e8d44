"""Random incidents: what breaks, where, how badly and when, with decoys that are none; a function of its seed.

Used to measure verdicts on incidents that nobody wrote down, and to play one that nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from faults import registry
from faults.effects import Topology
from faults.kind import Kind, ParamValue
from faults.spec import INTENSITIES, FaultSpec
from faults.target import Target

Severity = Literal["mild", "moderate", "severe"]
SEVERITIES: tuple[Severity, ...] = ("mild", "moderate", "severe")

NO_INCIDENTS = frozenset({"none"})
"""Kinds that break nothing."""

STANDSTILLS = frozenset({"hang", "pfc_storm", "gpu_lost", "ecc_error"})
"""Kinds that may stop the job, which then shows nothing of any other cause: they come alone."""

FEWEST_RANKS = {"nccl_algo": 256}
"""Ranks below which a kind shows next to nothing: a ring's latency is then a percent of what collectives take."""
HARMLESS_CHOICES = frozenset({("nccl_algo", "tree")})
"""Choices of a parameter that cost nothing worth a name: many nodes bear a tree as well as NCCL's own choice."""

DECOYS: tuple[FaultSpec, ...] = (
    FaultSpec("straggler", params={"slowdown": 1.05}, intensity=0.2, open_ended=True),
    FaultSpec("io_starvation", params={"mode": "tail", "lateness_steps": 0.01}, intensity=0.25, open_ended=True),
    FaultSpec("network_tail_latency", params={"factor": 1.1}, intensity=0.2, open_ended=True),
    FaultSpec("straggler", params={"slowdown": 1.3}, intensity=0.5, duration_seconds=6.0),
    FaultSpec("io_starvation", params={"mode": "tail"}, intensity=0.25, duration_seconds=6.0),
)
"""Too small to matter, or over long before: a verdict that names one of them is wrong."""


@dataclass(frozen=True, slots=True)
class Incident:
    """What happens in one run. An incident without causes is a healthy run."""

    seed: int
    """Of the run too, so that the targets that a fault leaves open come out the same."""
    causes: tuple[FaultSpec, ...]
    severity: Severity
    onset_seconds: float
    """When the causes set in, in seconds of the run."""
    decoys: tuple[FaultSpec, ...]

    def faults(self) -> Iterator[tuple[str, FaultSpec]]:
        """Everything to put, by name: the causes from the onset on, short decoys well before it."""
        for number, cause in enumerate(self.causes, start=1):
            yield f"cause-{number}", replace(cause, start_after_seconds=self.onset_seconds)
        for number, decoy in enumerate(self.decoys, start=1):
            # A decoy that ends is over a whole window before anything sets in.
            start = self.onset_seconds / 8.0 if decoy.duration_seconds else 0.0
            yield f"decoy-{number}", replace(decoy, start_after_seconds=start)


def random_incident(
    seed: int,
    topology: Topology,
    *,
    causes: int = 1,
    kinds: Sequence[str] | None = None,
    onset_seconds: tuple[float, float] = (110.0, 130.0),
    decoy_share: float = 0.3,
) -> Incident:
    """An incident with this many causes of different kinds, none for a healthy run.

    `kinds` limits the choice; kinds that show nothing on a job of this shape are left out. The onset is drawn between
    the two bounds. ValueError when too few kinds are left.
    """
    rng = np.random.default_rng(seed)
    usable = [
        kind
        for name, kind in registry.kinds().items()
        if name not in NO_INCIDENTS
        and topology.ranks >= FEWEST_RANKS.get(name, 0)
        and (causes == 1 or not _hides_others(name, topology))
        and (kinds is None or name in kinds)
        and not kind.unmet_needs(topology)
    ]
    if len(usable) < causes:
        raise ValueError(f"kinds: {causes} causes are asked for and {len(usable)} kinds fit this job")
    severity = SEVERITIES[int(rng.integers(len(SEVERITIES)))]
    chosen = [usable[int(index)] for index in rng.choice(len(usable), size=causes, replace=False)]
    specs = tuple(_cause(kind, severity, topology, rng) for kind in chosen)
    decoys = tuple(decoy for decoy in DECOYS if _fits(decoy, topology) and rng.random() < decoy_share / len(DECOYS))
    return Incident(seed, specs, severity, float(rng.uniform(*onset_seconds)), decoys)


def _hides_others(kind: str, topology: Topology) -> bool:
    """Whether nothing of another cause would be seen beside it: the job stands still, or all of it is out of sight."""
    return kind in STANDSTILLS or (kind == "node_unreachable" and topology.nodes == 1)


def _cause(kind: Kind, severity: Severity, topology: Topology, rng: np.random.Generator) -> FaultSpec:
    params = kind.default_params()
    for param in kind.params:
        if param.choices:
            params[param.name] = _choice(kind.name, param.choices, topology, rng)
    return FaultSpec(
        kind.name,
        params=params,
        target=_target(kind, params, topology, rng),
        intensity=INTENSITIES[severity],
        open_ended=True,
        seed=int(rng.integers(2**31)),
    )


def _choice(kind: str, choices: tuple[str, ...], topology: Topology, rng: np.random.Generator) -> ParamValue:
    # On one node, a node's trouble is everybody's.
    left = [
        choice
        for choice in choices
        if (choice != "node" or topology.nodes > 1) and (kind, choice) not in HARMLESS_CHOICES
    ]
    return left[int(rng.integers(len(left)))]


def _target(kind: Kind, params: dict[str, ParamValue], topology: Topology, rng: np.random.Generator) -> Target | None:
    """One rank or node more often than several; None, the kind's default, where that is the whole job."""
    default = kind.default_target_for(params)
    if default.mode == "one":
        several = topology.ranks >= 16 and "count" in kind.target_modes and rng.random() < 0.2
        count = int(rng.integers(2, 4)) if several else 1
        return Target("ranks", tuple(sorted(rng.choice(topology.ranks, size=count, replace=False).tolist())))
    if default.mode == "nodes" and default.value is None:
        return Target("nodes", (int(rng.integers(topology.nodes)),))
    return default


def _fits(decoy: FaultSpec, topology: Topology) -> bool:
    return not registry.kind(decoy.kind).unmet_needs(topology)
