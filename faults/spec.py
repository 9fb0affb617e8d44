"""What somebody asks for: one fault with its parameters, targets and schedule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from types import MappingProxyType
from typing import Literal, cast, get_args

from faults import registry
from faults.checks import Checker, Range, listed
from faults.errors import FaultError, pointer_to
from faults.kind import Kind, ParamValue
from faults.target import Target

Shape = Literal["linear", "exponential", "step", "sine", "flap"]
SHAPES: tuple[Shape, ...] = get_args(Shape)

SHAPE_KEYS: Mapping[Shape, tuple[str, ...]] = MappingProxyType(
    {
        "linear": ("ramp_up_seconds", "ramp_down_seconds"),
        "exponential": ("ramp_up_seconds", "ramp_down_seconds"),
        "step": (),
        "sine": ("period_seconds",),
        "flap": ("period_seconds", "duty"),
    }
)
"""The keys that go with each shape and with no other."""
SHAPE_DEFAULTS: Mapping[str, float] = MappingProxyType({"period_seconds": 60.0, "duty": 0.5})
"""Values of the keys that have none under other shapes."""

INTENSITIES: Mapping[str, float] = MappingProxyType({"mild": 0.25, "moderate": 0.5, "severe": 1.0})
"""Words for an intensity, where people type it."""

MAX_NOTE = 500
LIMITS: Mapping[str, Range] = MappingProxyType(
    {
        "intensity": Range(0, 1, above=True),
        "start_after_seconds": Range(0, 86_400),
        "duration_seconds": Range(0, 86_400, above=True),
        "ramp_up_seconds": Range(0, 3_600),
        "ramp_down_seconds": Range(0, 3_600),
        "period_seconds": Range(2, 3_600),
        "duty": Range(0.05, 0.95),
        "seed": Range(0, 2**32 - 1),
    }
)
"""Ranges of the numeric fields."""
NULLABLE: frozenset[str] = frozenset({"duration_seconds", "period_seconds", "duty", "seed"})
"""Numeric fields that may be null, which is the same as left out."""

FIELDS = (
    "kind", "params", "target", "intensity", "start_after_seconds", "duration_seconds", "open_ended",
    "ramp_up_seconds", "ramp_down_seconds", "shape", "period_seconds", "duty", "seed", "note",
)  # fmt: skip
"""Every key of a fault, as JSON has them."""


@dataclass(frozen=True, slots=True)
class FaultSpec:
    """One wished-for fault. `from_mapping` makes checked ones; one made by hand is checked when it is put in a book.

    Times are seconds. `duration_seconds` counts from the start, ramp-up included; without it the fault must be
    `open_ended`.
    """

    kind: str
    _: KW_ONLY
    params: Mapping[str, ParamValue] = field(default_factory=dict, hash=False)
    target: Target | None = None
    """None: the kind's default."""
    intensity: float = 1.0
    """Above 0, up to 1: how much of the parameters' effect is applied at the peak."""
    start_after_seconds: float = 0.0
    duration_seconds: float | None = None
    open_ended: bool = False
    ramp_up_seconds: float = 0.0
    ramp_down_seconds: float = 0.0
    shape: Shape = "linear"
    """`linear` and `exponential` have ramps, `step` has none, `sine` and `flap` come and go."""
    period_seconds: float | None = None
    """Of `sine` and `flap`; None for the other shapes."""
    duty: float | None = None
    """Share of its period that a `flap` is on, its first part; None for the other shapes."""
    seed: int | None = None
    """None: derived from the run's seed and the fault's name."""
    note: str = ""

    @classmethod
    def from_mapping(cls, mapping: object) -> FaultSpec:
        """The checked spec that a JSON value describes, every default of `params` filled in.

        Raises FaultError with every problem, and never anything else, whatever the value is.
        """
        check = Checker()
        members = check.members(mapping, "", FIELDS, of="a fault")
        if members is None:
            raise check.error()
        kind = _kind(members, check)
        numbers = {name: _number(name, members, check) for name in LIMITS}
        shape = _shape(members, check)
        own = SHAPE_KEYS[shape or "linear"]
        swing = {key: numbers[key] or SHAPE_DEFAULTS[key] for key in own if key in SHAPE_DEFAULTS}
        spec = cls(
            kind=kind.name if kind else "",
            params=_params(kind, members, check),
            target=_target(kind, members, check),
            intensity=numbers["intensity"] or 1.0,
            start_after_seconds=numbers["start_after_seconds"] or 0.0,
            duration_seconds=numbers["duration_seconds"],
            open_ended="open_ended" in members and bool(check.boolean(members["open_ended"], "/open_ended")),
            ramp_up_seconds=numbers["ramp_up_seconds"] or 0.0,
            ramp_down_seconds=numbers["ramp_down_seconds"] or 0.0,
            shape=shape or "linear",
            period_seconds=swing.get("period_seconds"),
            duty=swing.get("duty"),
            seed=None if numbers["seed"] is None else int(numbers["seed"]),
            note=check.string(members.get("note", ""), "/note", max_length=MAX_NOTE) or "",
        )
        _check_end(spec, members, check)
        if shape is not None:
            _check_shape(shape, numbers, check)
        check.finish()
        return spec

    def to_mapping(self) -> dict[str, object]:
        """As JSON; `from_mapping` of it is the same spec."""
        values: dict[str, object] = {name: getattr(self, name) for name in FIELDS}
        values["params"] = dict(self.params)
        values["target"] = None if self.target is None else self.target.to_mapping()
        return values

    @property
    def effective_target(self) -> Target:
        """The target asked for, or the kind's default."""
        return self.target or registry.kind(self.kind).default_target_for(self.params)


def _kind(members: Mapping[str, object], check: Checker) -> Kind | None:
    if "kind" not in members:
        check.add("/kind", f"is required, one of {listed(registry.kinds())}")
        return None
    try:
        return registry.kind(members["kind"])
    except FaultError as error:
        for problem in error.problems:
            check.add(problem.pointer, problem.detail)
        return None


def _params(kind: Kind | None, members: Mapping[str, object], check: Checker) -> Mapping[str, ParamValue]:
    given = members.get("params", {})
    if kind is None:
        return {}
    known = {param.name: param for param in kind.params}
    found = check.members(given, "/params", known, of=f"the parameters of {kind.name}") or {}
    params = kind.default_params()
    for name, raw in found.items():
        clean = known[name].checked(raw, check, pointer=pointer_to("/params", name))
        if clean is not None:
            params[name] = clean
    return MappingProxyType(params)


def _target(kind: Kind | None, members: Mapping[str, object], check: Checker) -> Target | None:
    raw = members.get("target")
    target = None if raw is None else Target.checked(raw, check)
    if kind and target and target.mode not in kind.target_modes:
        check.add("/target/mode", f"must be {' or '.join(kind.target_modes)}, which is all that {kind.name} takes")
    return target


def _number(name: str, members: Mapping[str, object], check: Checker) -> float | None:
    """The number called `name`; None when it is left out, null where that is allowed, or noted as wrong."""
    if name not in members or (name in NULLABLE and members[name] is None):
        return None
    if name == "seed":
        return check.integer(members[name], "/seed", LIMITS[name])
    return check.number(members[name], f"/{name}", LIMITS[name])


def _shape(members: Mapping[str, object], check: Checker) -> Shape | None:
    """None when the shape is noted as wrong."""
    return cast("Shape | None", check.choice(members.get("shape", "linear"), "/shape", SHAPES))


def _check_end(spec: FaultSpec, members: Mapping[str, object], check: Checker) -> None:
    given = members.get("duration_seconds") is not None
    if spec.open_ended and given:
        check.add("/duration_seconds", "must be left out when open_ended is true")
    if not given and members.get("open_ended", False) is False:
        check.add("/duration_seconds", f"is required, a number {LIMITS['duration_seconds']}, unless open_ended is true")


def _check_shape(shape: Shape, numbers: Mapping[str, float | None], check: Checker) -> None:
    """What goes with another shape must not be there, but for a ramp of no length."""
    for key in dict.fromkeys(key for keys in SHAPE_KEYS.values() for key in keys):
        if key not in SHAPE_KEYS[shape] and numbers[key]:
            shapes = listed(other for other, keys in SHAPE_KEYS.items() if key in keys)
            neutral = "left out" if key in SHAPE_DEFAULTS else "0 or left out"
            check.add(f"/{key}", f"must be {neutral} when shape is {shape}; it goes with shape {shapes}")
