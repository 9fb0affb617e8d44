"""A remedy that somebody asks for, and one that was applied."""

from __future__ import annotations

from dataclasses import dataclass

from faults.checks import Checker, listed
from faults.effects import Effects, Topology
from faults.errors import FaultError, Problem
from faults.kind import ParamValue
from faults.remedy import Dose, Remedy
from faults.remedy_registry import remedy as remedy_named
from faults.target import Target

FIELDS = ("remedy", "value", "target")
"""Every key of a remedy that is asked for."""


@dataclass(frozen=True, slots=True)
class RemedySpec:
    """A remedy that somebody asks for."""

    remedy: str
    value: ParamValue | None = None
    """None: the remedy's default."""
    target: Target | None = None
    """None: all, where the remedy can be applied to all."""

    @classmethod
    def from_mapping(cls, raw: object) -> RemedySpec:
        """The checked spec that a JSON value describes, with the default value filled in.

        Raises FaultError with every problem, and never anything else.
        """
        check = Checker()
        members = check.members(raw, "", FIELDS, of="a remedy")
        if members is None:
            raise check.error()
        if "remedy" not in members:
            raise FaultError.at("/remedy", "is required")
        found = remedy_named(members["remedy"])
        value = _value(found, members.get("value"), check)
        given = members.get("target")
        target = None if given is None else Target.checked(given, check)
        _check_target(found, target, check, given=given is not None)
        check.finish()
        return cls(found.name, value, target)

    def to_mapping(self) -> dict[str, object]:
        """As JSON."""
        target = None if self.target is None else self.target.to_mapping()
        return {"remedy": self.remedy, "value": self.value, "target": target}

    def dose(self, topology: Topology) -> Dose:
        """On a job of this shape. FaultError where it can do nothing there, or has no such nodes or ranks."""
        reasons = remedy_named(self.remedy).unmet_needs(topology)
        if reasons:
            problems = [Problem("/remedy", f"{self.remedy} {reason}") for reason in reasons]
            raise FaultError(problems, code="unsupported")
        ranks = (self.target or Target("all")).resolve(topology, seed=0)
        ranks.flags.writeable = False
        return Dose(self.value, ranks, topology)


@dataclass(frozen=True, slots=True, eq=False)
class Treatment:
    """A remedy that was applied."""

    spec: RemedySpec
    dose: Dose
    order: int
    """Its place among everything that began."""
    at_seconds: float
    effective_from_step: int
    restart_seconds: float
    """How long the job stood for it; 0 when it went on."""

    def describe(self) -> str:
        """What was done, in a few words, for the event log."""
        value = "" if self.spec.value is None else f"={self.spec.value}"
        where = (
            "" if self.spec.target is None else f", {self.spec.target.describe(self.dose.ranks, self.dose.topology)}"
        )
        down = f"; the job is down for {self.restart_seconds:g} s" if self.restart_seconds else ""
        return f"{self.spec.remedy}{value}{where}{down}"

    def treat(self, effects: Effects) -> None:
        """Change the effects of what had begun before it."""
        found = remedy_named(self.spec.remedy)
        if found.restarts:
            # Every process is a new one. A GPU that is gone from the bus does not come back by that.
            effects.hung[:] = False
            effects.dead &= effects.lost
        found.treat(effects, self.dose)


def _value(found: Remedy, raw: object, check: Checker) -> ParamValue | None:
    if found.setting is None:
        if raw is not None:
            check.add("/value", f"must be left out: there is nothing to set for {found.name}")
        return None
    return found.setting.default if raw is None else found.setting.checked(raw, check, pointer="/value")


def _check_target(found: Remedy, target: Target | None, check: Checker, *, given: bool) -> None:
    modes = found.target_modes
    if not given and modes[0] != "all":
        check.add("/target", f"is required: {found.name} takes mode {listed(modes)}")
    if target is None:
        return
    if target.mode not in modes:
        check.add("/target/mode", f"must be {' or '.join(modes)}, which is all that {found.name} takes")
    elif target.mode == "nodes" and target.value is None:
        check.add("/target/value", "is required: which nodes")
