"""What the document cannot say: which ranks and nodes exist depends on the job that runs when the request comes."""

from __future__ import annotations

from typing import Any

import schemathesis

RANKS = 4
"""Of the smallest preset."""


@schemathesis.hook
def filter_body(_: schemathesis.HookContext, body: Any) -> bool:
    """Leave out faults whose targets the smallest job does not have; test_faults.py covers the refusal of those."""
    target = body.get("target") if isinstance(body, dict) else None
    if not isinstance(target, dict):
        return True
    value, limit = target.get("value"), {"count": RANKS + 1, "ranks": RANKS, "nodes": 1}.get(str(target.get("mode")))
    if limit is None:
        return True
    values = value if isinstance(value, list) else [value]
    return all(not isinstance(item, int | float) or item < limit for item in values)
