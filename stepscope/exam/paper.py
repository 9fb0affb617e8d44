"""What is asked in an exam: faults on a job, what they are, and hints; drawn at random, or a scenario of the lab."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from faults.effects import Topology
from faults.incident import random_incident
from faults.registry import kind as kind_named
from faults.scenario import Scenario
from faults.spec import FaultSpec
from simulator.job import JobSpec
from simulator.presets import preset as preset_named
from simulator.run import topology_of
from stepscope.exam.cures import ranks_hit, right_remedies
from stepscope.exam.marking import HEALTHY, NO_REMEDY, Truth

NOTHING_WRONG = Truth(HEALTHY, None, frozenset({NO_REMEDY}))


@dataclass(frozen=True, slots=True)
class Paper:
    """One incident, and what is to be found."""

    preset: str
    seed: int
    """Of the run. As secret as the answer: whoever has it can compute the run without the faults, and compare."""
    faults: Mapping[str, FaultSpec]
    truths: tuple[Truth, ...]
    hints: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wish:
    """What a facilitator wants of an incident that is drawn."""

    preset: str
    causes: int = 1
    kinds: Sequence[str] | None = None
    onset_within_seconds: float = 60.0
    decoys: bool = True


def drawn_paper(wish: Wish, *, incident_seed: int, run_seed: int) -> Paper:
    """A random incident, a function of the two seeds. ValueError where too few kinds fit the job."""
    spec = preset_named(wish.preset)
    topology = topology_of(spec)
    incident = random_incident(
        incident_seed,
        topology,
        causes=wish.causes,
        kinds=wish.kinds,
        onset_seconds=(wish.onset_within_seconds / 4.0, wish.onset_within_seconds),
        decoy_share=0.3 if wish.decoys else 0.0,
    )
    faults = dict(incident.faults())
    causes = {name: fault for name, fault in faults.items() if name.startswith("cause-")}
    truths = tuple(_truth(name, fault, topology, seed=run_seed) for name, fault in causes.items())
    return Paper(wish.preset, run_seed, faults, truths or (NOTHING_WRONG,), _hints(truths, spec))


def scenario_paper(scenario: Scenario, *, run_seed: int) -> Paper:
    """A scenario, with a seed and names for its faults that do not say which."""
    topology = topology_of(preset_named(scenario.preset))
    faults = {f"cause-{number}": spec for number, spec in enumerate(scenario.timeline, start=1)}
    truths = []
    for answer in scenario.answers:
        meant = {name: spec for name, spec in faults.items() if spec.kind == answer.cause}
        found = [_truth(name, spec, topology, seed=run_seed) for name, spec in meant.items()]
        if not found:
            truths.append(NOTHING_WRONG)
            continue
        remedies = frozenset().union(*(truth.remedies for truth in found))
        # A scenario says itself whether somebody is to be named; who that is, its fault decides.
        blamed = None if answer.rank is None else found[0].ranks or frozenset({answer.rank})
        truths.append(Truth(answer.cause, blamed, remedies))
    return Paper(scenario.preset, run_seed, faults, tuple(truths), scenario.hints)


def _truth(name: str, spec: FaultSpec, topology: Topology, *, seed: int) -> Truth:
    hit = ranks_hit(name, spec, topology, seed=seed)
    everybody = len(hit) == topology.ranks
    return Truth(spec.kind, None if everybody else hit, right_remedies(replace(spec, seed=None), topology))


def _hints(truths: Sequence[Truth], spec: JobSpec) -> tuple[str, ...]:
    """From the vague to the plain; about the first cause where there are several."""
    if not truths:
        nothing = "Compare the last minute with the reference: is anything worse than it was?"
        return nothing, "No phase of the step is longer than on a healthy job.", "Not every exam has a culprit."
    truth = truths[0]
    kind = kind_named(truth.cause)
    phases = ", ".join(kind.phases)
    where = f"It makes these phases of the step longer: {phases}." if phases else "No phase of the step gets longer."
    return where, _who(truth, spec), f"Look here: {kind.look_at}"


def _who(truth: Truth, spec: JobSpec) -> str:
    if truth.ranks is None:
        return "No single rank or node is to blame."
    width = spec.cluster.gpus_per_node
    nodes = sorted({rank // width for rank in truth.ranks})
    if len(nodes) == 1 and spec.cluster.nodes > 1:
        return f"The culprit is among ranks {nodes[0] * width} to {nodes[0] * width + width - 1}."
    half = spec.ranks // 2
    if all(rank < half for rank in truth.ranks):
        return f"The culprit is among ranks 0 to {half - 1}."
    if all(rank >= half for rank in truth.ranks):
        return f"The culprit is among ranks {half} to {spec.ranks - 1}."
    return "More than one rank is to blame; one of them is enough."
