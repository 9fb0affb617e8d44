"""A scripted incident: a job, faults on a timeline, what the rules must say of it, and the answer to find."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from faults.checks import Checker, Range
from faults.errors import FaultError
from faults.spec import FaultSpec

ID_PATTERN = "^[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?$"
"""What the id of a scenario looks like, for JSON Schema: it becomes the beginning of its faults' names."""
OTHERS = "others"
"""As `expect.silent`: every alert that is not expected to fire, or allowed to."""

MOST_FAULTS = 16
MOST_HINTS = 8
MOST_ALERTS = 64
MAX_TITLE = 100
MAX_TEXT = 1_000
DURATION = Range(10, 86_400)
AT = Range(0, 86_400)
SPEED = Range(0.25, 10)
SEED = Range(0, 2**32 - 1)
RANK = Range(0, 2**31 - 1)

FIELDS = ("id", "title", "question", "preset", "seed", "duration_seconds", "timeline", "expect", "answer", "hints")
"""Every key of a scenario file."""
REQUIRED = ("id", "title", "question", "preset", "duration_seconds", "timeline", "answer")


@dataclass(frozen=True, slots=True)
class Expectation:
    """What the shipped rules must make of it."""

    alerts: tuple[str, ...] = ()
    """Fire before the scenario is over."""
    may: tuple[str, ...] = ()
    """May fire or not, depending on the draw."""
    silent: tuple[str, ...] | None = None
    """Never fire; None is every alert that is in neither of the others."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What whoever is asked should find."""

    cause: str
    """A kind of fault; `healthy` where there is nothing to find."""
    rank: int | None
    """The culprit; None where nobody is to be named."""
    remedy: str
    """What puts it right, in words."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One incident. Times are seconds of its timeline, which a playback may compress; the job's clock never is."""

    id: str
    title: str
    question: str
    preset: str
    seed: int
    duration_seconds: float
    timeline: tuple[FaultSpec, ...]
    """Each with its moment as `start_after_seconds`."""
    expect: Expectation
    answers: tuple[Answer, ...]
    """More than one where causes overlap."""
    hints: tuple[str, ...] = ()

    @classmethod
    def from_mapping(cls, raw: object) -> Scenario:
        """The checked scenario that a YAML or JSON value describes.

        Raises FaultError with every problem, and never anything else, whatever the value is. Whether there is such a
        preset, and whether it can show the faults, turns out when it is played.
        """
        check = Checker()
        members = check.members(raw, "", FIELDS, of="a scenario")
        if members is None:
            raise check.error()
        for key in REQUIRED:
            if key not in members:
                check.add(f"/{key}", "is required")
        scenario = cls(
            id=_id(members.get("id", ""), check) if "id" in members else "",
            title=_text(members, "title", check, MAX_TITLE),
            question=_text(members, "question", check, MAX_TEXT),
            preset=_text(members, "preset", check, MAX_TITLE),
            seed=check.integer(members.get("seed", 1), "/seed", SEED) or 0,
            duration_seconds=(
                check.number(members["duration_seconds"], "/duration_seconds", DURATION) or math.inf
                if "duration_seconds" in members
                else 0.0
            ),
            timeline=_timeline(members.get("timeline", []), check),
            expect=_expectation(members.get("expect", {}), check),
            answers=_answers(members["answer"], check) if "answer" in members else (),
            hints=_texts(members.get("hints", []), "/hints", check, most=MOST_HINTS, max_length=MAX_TEXT),
        )
        _check_times(scenario, check)
        check.finish()
        return scenario

    @property
    def fault_names(self) -> tuple[str, ...]:
        """Names of its faults, in the order of the timeline."""
        return tuple(f"{self.id}.{index + 1}" for index in range(len(self.timeline)))

    def faults(self, *, speed: float = 1.0) -> dict[str, FaultSpec]:
        """Its faults by name, with a timeline `speed` times as fast. FaultError for times that leave their ranges."""
        faults: dict[str, FaultSpec] = {}
        for index, (name, spec) in enumerate(zip(self.fault_names, self.timeline, strict=True)):
            times = {
                "start_after_seconds": spec.start_after_seconds / speed,
                "duration_seconds": None if spec.duration_seconds is None else spec.duration_seconds / speed,
                "ramp_up_seconds": spec.ramp_up_seconds / speed,
                "ramp_down_seconds": spec.ramp_down_seconds / speed,
                "period_seconds": None if spec.period_seconds is None else spec.period_seconds / speed,
            }
            try:
                faults[name] = FaultSpec.from_mapping(spec.to_mapping() | times)
            except FaultError as error:
                raise error.below(f"/timeline/{index}/fault") from None
        return faults


def _id(raw: object, check: Checker) -> str:
    if isinstance(raw, str) and re.fullmatch(ID_PATTERN, raw):
        return raw
    check.add("/id", "must be 1 to 48 of the characters a-z 0-9 - and begin and end with a letter or digit")
    return ""


def _text(members: Mapping[str, object], key: str, check: Checker, max_length: int) -> str:
    if key not in members:
        return ""
    text = check.string(members[key], f"/{key}", max_length=max_length)
    if text == "":
        check.add(f"/{key}", "must not be empty")
    return text or ""


def _texts(raw: object, pointer: str, check: Checker, *, most: int, max_length: int) -> tuple[str, ...]:
    if not isinstance(raw, list) or len(raw) > most:
        check.add(pointer, f"must be an array of at most {most} strings")
        return ()
    texts = [check.string(text, f"{pointer}/{index}", max_length=max_length) for index, text in enumerate(raw)]
    return tuple(text for text in texts if text is not None)


def _timeline(raw: object, check: Checker) -> tuple[FaultSpec, ...]:
    if not isinstance(raw, list) or len(raw) > MOST_FAULTS:
        check.add("/timeline", f"must be an array of at most {MOST_FAULTS} moments")
        return ()
    found = [_moment(moment, f"/timeline/{index}", check) for index, moment in enumerate(raw)]
    return tuple(spec for spec in found if spec is not None)


def _moment(raw: object, pointer: str, check: Checker) -> FaultSpec | None:
    members = check.members(raw, pointer, ("at_seconds", "fault"), of="a moment")
    if members is None:
        return None
    for key in ("at_seconds", "fault"):
        if key not in members:
            check.add(f"{pointer}/{key}", "is required")
    at = check.number(members["at_seconds"], f"{pointer}/at_seconds", AT) if "at_seconds" in members else None
    if "fault" not in members:
        return None
    try:
        spec = FaultSpec.from_mapping(members["fault"])
    except FaultError as error:
        for problem in error.problems:
            check.add(f"{pointer}/fault{problem.pointer}", problem.detail)
        return None
    if spec.start_after_seconds:
        check.add(f"{pointer}/fault/start_after_seconds", "must be left out: at_seconds says when it starts")
    return None if at is None else replace(spec, start_after_seconds=at)


def _expectation(raw: object, check: Checker) -> Expectation:
    members = check.members(raw, "/expect", ("alerts", "may", "silent"), of="expect")
    if members is None:
        return Expectation()
    alerts, may = (
        _texts(members.get(key, []), f"/expect/{key}", check, most=64, max_length=MAX_TITLE)
        for key in ("alerts", "may")
    )
    silent = members.get("silent", OTHERS)
    named = None if silent == OTHERS else _texts(silent, "/expect/silent", check, most=64, max_length=MAX_TITLE)
    return Expectation(alerts, may, named)


def _answers(raw: object, check: Checker) -> tuple[Answer, ...]:
    if isinstance(raw, list):
        if not 1 <= len(raw) <= MOST_FAULTS:
            check.add("/answer", f"must be an object, or an array of 1 to {MOST_FAULTS} of them")
            return ()
        found = [_answer(one, f"/answer/{index}", check) for index, one in enumerate(raw)]
    else:
        found = [_answer(raw, "/answer", check)]
    return tuple(answer for answer in found if answer is not None)


def _answer(raw: object, pointer: str, check: Checker) -> Answer | None:
    members = check.members(raw, pointer, ("cause", "rank", "remedy"), of="an answer")
    if members is None:
        return None
    texts = []
    for key in ("cause", "remedy"):
        if key not in members:
            check.add(f"{pointer}/{key}", "is required")
        texts.append(check.string(members.get(key, ""), f"{pointer}/{key}", max_length=MAX_TEXT) or "")
    rank = members.get("rank")
    who = None if rank is None else check.integer(rank, f"{pointer}/rank", RANK)
    return Answer(texts[0], who, texts[1])


def _check_times(scenario: Scenario, check: Checker) -> None:
    for index, spec in enumerate(scenario.timeline):
        if spec.start_after_seconds >= scenario.duration_seconds > 0.0:
            detail = f"must be before the scenario ends, at {scenario.duration_seconds:g} seconds"
            check.add(f"/timeline/{index}/at_seconds", detail)
