"""`/v1/kinds`: what can go wrong."""

from __future__ import annotations

from faults.registry import describe, kinds
from stepscope.api.models.faults import KindList, KindView
from stepscope.api.problems import ProblemError
from stepscope.api.responses import READ, problems
from stepscope.api.routes.common import v1

router = v1("faults")


@router.get("/kinds", responses=problems(*READ))
def list_kinds() -> KindList:
    """Every kind of fault: what it does, its parameters as JSON Schema with units and ranges, and what to watch."""
    return KindList(kinds=[KindView.model_validate(describe(kind)) for kind in kinds().values()])


@router.get("/kinds/{kind}", responses=problems(*READ, 404))
def get_kind(kind: str) -> KindView:
    """One kind of fault."""
    found = kinds().get(kind)
    if found is None:
        raise ProblemError(404, "not-found", f"There is no kind of this name; the kinds are {', '.join(kinds())}.")
    return KindView.model_validate(describe(found))
