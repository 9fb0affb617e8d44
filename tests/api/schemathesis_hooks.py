"""What the document cannot say: what there is depends on the job that runs, and a key is good for one body."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

import schemathesis

from stepscope.api.idempotency import PATTERN

Case = schemathesis.Case[Any]
RANKS = 4
"""Of the smallest preset, which has one node and no network."""
UNSHOWN = ("network_tail_latency",)


@schemathesis.hook
def filter_case(_: schemathesis.HookContext, case: Case) -> bool:
    """Leave out what the smallest job does not have; test_faults.py and its neighbours cover the refusal of those."""
    return _is_on_the_job(case.body) and _has_enough_ranks(case.query or {})


@schemathesis.hook
def map_case(_: schemathesis.HookContext, case: Case) -> Case:
    """Give every body an Idempotency-Key of its own, where one is given; test_fault_post.py covers those used twice."""
    given = case.headers.get("Idempotency-Key") if case.headers else None
    if isinstance(given, str) and re.fullmatch(PATTERN, given):
        case.headers["Idempotency-Key"] = hashlib.sha256(repr((given, case.body)).encode()).hexdigest()
    return case


def _is_on_the_job(body: Any) -> bool:
    if not isinstance(body, dict):
        return True
    if body.get("kind") in UNSHOWN:
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
