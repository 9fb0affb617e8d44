"""The body of a request to play a scenario."""

from __future__ import annotations

from dataclasses import dataclass

from faults.checks import Checker
from faults.errors import FaultError
from faults.scenario import SEED, SPEED, Scenario
from faults.scenario_files import scenarios


@dataclass(frozen=True, slots=True)
class PlaybackWrite:
    """What to play, and how."""

    scenario: Scenario
    own: bool
    """Whether the body brought the scenario along, instead of naming one of the lab's."""
    seed: int | None
    speed: float

    @classmethod
    def from_mapping(cls, raw: object) -> PlaybackWrite:
        """The checked request that a JSON value describes. Raises FaultError with every problem."""
        check = Checker()
        members = check.members(raw, "", ("scenario", "seed", "speed"), of="a playback")
        if members is None:
            raise check.error()
        if "scenario" not in members:
            check.add("/scenario", "is required")
        wanted = members.get("scenario")
        scenario = _scenario(wanted, check) if "scenario" in members else None
        seed = members.get("seed")
        number = None if seed is None else check.integer(seed, "/seed", SEED)
        speed = check.number(members.get("speed", 1.0), "/speed", SPEED)
        check.finish()
        assert scenario is not None
        return cls(scenario, not isinstance(wanted, str), number, speed or 1.0)


def _scenario(raw: object, check: Checker) -> Scenario | None:
    if isinstance(raw, str):
        if raw in scenarios():
            return scenarios()[raw]
        check.add("/scenario", f"must be an object, or one of {', '.join(scenarios())}")
        return None
    try:
        return Scenario.from_mapping(raw)
    except FaultError as error:
        for problem in error.below("/scenario").problems:
            check.add(problem.pointer, problem.detail)
        return None
