"""What the document cannot say: what there is depends on the job that runs, and a key is good for one body."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

import schemathesis

from faults.incident import FEWEST_RANKS, NO_INCIDENTS
from faults.registry import kinds
from faults.remedy_registry import remedies
from faults.spec import LIMITS
from simulator.presets import PRESETS
from stepscope.api.idempotency import PATTERN
from stepscope.exam.names import checked_name

Case = schemathesis.Case[Any]
RANKS = 4
"""Of the smallest preset, which has one node and no network."""
LARGE = ("fleet-131072", "llama3-405b-16k")
"""Starting them costs seconds, for nothing that a small one would not show."""
UNSHOWN = tuple(name for name, kind in kinds().items() if kind.needs)

UNDONE = tuple(name for name, remedy in remedies().items() if remedy.needs)


@schemathesis.hook
def filter_case(_: schemathesis.HookContext, case: Case) -> bool:
    """Leave out what the smallest job does not have; test_faults.py and its neighbours cover the refusal of those."""
    body = case.body
    return (
        _is_on_the_job(body)
        and _can_be_played(body)
        and _has_enough_ranks(case.query or {})
        and _can_be_drawn(body)
        and _can_be_read(body)
    )


@schemathesis.hook
def map_case(_: schemathesis.HookContext, case: Case) -> Case:
    """Give every body an Idempotency-Key of its own, where one is given; test_fault_post.py covers those used twice."""
    given = case.headers.get("Idempotency-Key") if case.headers else None
    if isinstance(given, str) and re.fullmatch(PATTERN, given):
        case.headers["Idempotency-Key"] = hashlib.sha256(repr((given, case.body)).encode()).hexdigest()
    if (own := _own_scenario(case.body)).get("preset") in LARGE:
        own["preset"] = "workshop-4gpu"
    if case.path == "/v1/exam/start" and isinstance(case.body, dict) and case.body.get("preset") in tuple(PRESETS):
        case.body["preset"] = "workshop-4gpu"
    return case


def _can_be_drawn(body: Any) -> bool:
    """Whether an exam has enough kinds to draw from that the smallest job can show."""
    wanted = body.get("kinds") if isinstance(body, dict) else None
    if not isinstance(wanted, list) or not all(isinstance(kind, str) for kind in wanted):
        return True
    causes = body.get("causes", 1)
    fit = set(wanted) - set(UNSHOWN) - NO_INCIDENTS - {kind for kind, least in FEWEST_RANKS.items() if least > RANKS}
    return not isinstance(causes, int | float) or len(fit) >= causes or not set(wanted) <= set(kinds())


def _can_be_read(body: Any) -> bool:
    """Whether a name is one that people can read: JSON Schema has no word for kinds of characters."""
    name = body.get("name") if isinstance(body, dict) else None
    if not isinstance(name, str) or len(body) > 1:
        return True
    try:
        checked_name(name)
    except ValueError:
        return False
    return True


def _own_scenario(body: Any) -> dict[str, Any]:
    """The scenario that a request to play one brings along; nothing where it brings none."""
    scenario = body.get("scenario") if isinstance(body, dict) else None
    return scenario if isinstance(scenario, dict) else {}


def _can_be_played(body: Any) -> bool:
    scenario = _own_scenario(body)
    timeline, end = scenario.get("timeline"), scenario.get("duration_seconds")
    moments = [moment for moment in timeline if isinstance(moment, dict)] if isinstance(timeline, list) else []
    for moment in moments:
        at, fault = moment.get("at_seconds"), moment.get("fault")
        if isinstance(at, int | float) and isinstance(end, int | float) and at >= end:
            return False
        # At its slowest a timeline takes four times as long, at its fastest a tenth: the limits are those of a fault.
        if isinstance(fault, dict) and not (_is_on_the_job(fault) and _can_be_stretched(moment, body.get("speed", 1))):
            return False
    return True


def _can_be_stretched(moment: Mapping[str, Any], speed: Any) -> bool:
    if not isinstance(speed, int | float) or not 0.25 <= speed <= 10:
        return True
    times = {"start_after_seconds": moment.get("at_seconds"), **moment["fault"]}
    for key, limits in LIMITS.items():
        value = times.get(key)
        if (
            key.endswith("_seconds")
            and isinstance(value, int | float)
            and value in limits
            and value / speed not in limits
        ):
            return False
    return True


def _is_on_the_job(body: Any) -> bool:
    if not isinstance(body, dict):
        return True
    if body.get("kind") in UNSHOWN or body.get("remedy") in UNDONE:
        return False
    target = body.get("target")
    if not isinstance(target, dict):
        return True
    value, limit = target.get("value"), {"count": RANKS + 1, "ranks": RANKS, "nodes": 1}.get(str(target.get("mode")))
    if limit is None:
        return True
    values = value if isinstance(value, list) else [value]
    return all(not isinstance(item, int | float) or item < limit for item in values)


def _has_enough_ranks(query: Mapping[str, Any]) -> bool:
    """Whether no more ranks are slow than the smallest job of a question to the calculator has."""
    try:
        return int(query["ranks"]) <= min(int(part) for part in str(query.get("gpus", "8")).split(","))
    except (KeyError, TypeError, ValueError):
        return True
