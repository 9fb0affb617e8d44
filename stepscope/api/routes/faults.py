"""`/v1/faults` and `/v1/reset`: break the job, and put it right again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Body, Path, Query, Response
from pydantic import AfterValidator, Field
from starlette.concurrency import run_in_threadpool

from faults.change import FaultChange
from faults.life import State
from faults.record import NAME_PATTERN
from faults.registry import kinds
from faults.spec import FaultSpec
from simulator import predict
from stepscope.api.idempotency import IdempotencyKey
from stepscope.api.lab import CurrentLab, Lab
from stepscope.api.models.faults import DryRun, FaultList, FaultView, Prediction, ResetView
from stepscope.api.problems import ProblemError
from stepscope.api.query import Switch, Whole
from stepscope.api.responses import HIDDEN, WRITE, problems
from stepscope.api.routes.common import v1

router = v1("faults")


def _known(kind: str) -> str:
    if kind not in kinds():
        raise ValueError(f"must be one of {', '.join(kinds())}")
    return kind


KindName = Annotated[str, AfterValidator(_known), Field(json_schema_extra={"enum": list(kinds())})]
FaultName = Annotated[
    str, Path(pattern=NAME_PATTERN, max_length=64, description="Yours to choose; it keeps two faults apart.")
]


DryRunSwitch = Annotated[Switch, Query(description="Only say what it would do.")]


@router.put(
    "/faults/{name}",
    responses=problems(*WRITE, 409, 503) | {201: {"model": FaultView, "description": "A new fault."}},
    response_description="The fault as it stands after a replacement or a repetition, or what a dry run found.",
)
async def put_fault(
    lab: CurrentLab,
    response: Response,
    name: FaultName,
    body: Annotated[Any, Body()],
    dry_run: DryRunSwitch = False,
) -> FaultView | DryRun:
    """Create or replace a fault; the same again changes nothing. It acts from the step that the answer names."""
    spec = FaultSpec.from_mapping(body)
    if dry_run:
        return await _dry_run(lab, lambda: lab.engine.preview_fault(name, spec))
    shown, created = await run_in_threadpool(lab.engine.put_fault, name, spec)
    response.status_code = 201 if created else 200
    return FaultView.model_validate(shown)


@router.post(
    "/faults",
    response_model=None,
    responses=problems(*WRITE, 409, 503)
    | {
        200: {"model": DryRun, "description": "What a dry run found."},
        201: {
            "model": FaultView,
            "description": "A new fault, or the first answer again.",
            "headers": {"Location": {"description": "Path of the fault.", "schema": {"type": "string"}}},
        },
    },
)
async def post_fault(
    lab: CurrentLab,
    response: Response,
    body: Annotated[Any, Body()],
    idempotency_key: IdempotencyKey = None,
    dry_run: DryRunSwitch = False,
) -> FaultView | DryRun:
    """Create a fault under a name made here: its kind and a number. It acts from the step that the answer names."""
    spec = FaultSpec.from_mapping(body)
    if dry_run:
        return await _dry_run(lab, lambda: lab.engine.preview_fault(None, spec))
    created = await run_in_threadpool(
        lab.posted.once, idempotency_key, body, lambda: FaultView.model_validate(lab.engine.post_fault(spec))
    )
    response.status_code = 201
    response.headers["Location"] = f"/v1/faults/{created.name}"
    return created


@router.patch(
    "/faults/{name}",
    responses=problems(*WRITE, 404, 409, 503),
    response_description="The fault as it stands after the change, or what a dry run found.",
)
async def change_fault(
    lab: CurrentLab, name: FaultName, body: Annotated[Any, Body()], dry_run: DryRunSwitch = False
) -> FaultView | DryRun:
    """Change intensity or end of a pending, ramping or active fault, pause or resume it.

    Only what the body has is changed. It is felt from the step that the answer names; the same again changes nothing.
    """
    change = FaultChange.from_mapping(body)
    try:
        if dry_run:
            return await _dry_run(lab, lambda: lab.engine.preview_change(name, change))
        return FaultView.model_validate(await run_in_threadpool(lab.engine.change_fault, name, change))
    except KeyError:
        raise _unknown() from None


@router.get("/faults", response_model=FaultList, responses=problems(*HIDDEN))
def list_faults(
    lab: CurrentLab,
    state: Annotated[State | None, Query(description="Only faults in this state.")] = None,
    kind: Annotated[KindName | None, Query(description="Only faults of this kind.")] = None,
    rank: Annotated[Whole | None, Query(description="Only faults that hit this rank.")] = None,
) -> Response:
    """The faults of the present run, those that ended included."""
    found = lab.engine.list_faults(state=state, kind=kind, rank=rank)
    shown = FaultList(faults=[FaultView.model_validate(fault) for fault in found])
    # Written here, on this thread: of large jobs it is megabytes, for which the event loop has no time.
    return Response(shown.model_dump_json(), media_type="application/json")


@router.get("/faults/{name}", responses=problems(*HIDDEN, 404, 410))
def get_fault(lab: CurrentLab, name: FaultName) -> FaultView:
    """One fault, also after it has ended; 410 when that is too long ago for it to be kept."""
    try:
        found = lab.engine.get_fault(name)
    except KeyError:
        raise _unknown() from None
    if found is None:
        raise ProblemError(410, "gone", "The fault of this name ended too long ago to be kept.")
    return FaultView.model_validate(found)


@router.delete("/faults/{name}", status_code=204, responses=problems(*WRITE, 404), response_description="Cleared.")
def clear_fault(
    lab: CurrentLab,
    name: FaultName,
    immediate: Annotated[Switch, Query(description="Without its ramp down.")] = False,
) -> None:
    """Clear a fault, with its ramp down unless `immediate`. One that has ended already stays as it is."""
    try:
        lab.engine.clear_fault(name, immediate=immediate)
    except KeyError:
        raise _unknown() from None


@router.post("/reset", responses=problems(*WRITE))
def reset(lab: CurrentLab) -> ResetView:
    """Clear every fault at once and put the model back to its last good checkpoint."""
    return ResetView(effective_from_step=lab.engine.reset())


async def _dry_run(lab: Lab, ask: Callable[[], tuple[dict[str, object], predict.Prediction]]) -> DryRun:
    shown, predicted = await lab.dry_runs.run(ask)
    prediction = Prediction.model_validate(asdict(predicted))
    return DryRun(fault=FaultView.model_validate(shown), predicted=prediction)


def _unknown() -> ProblemError:
    return ProblemError(404, "not-found", "This run has seen no fault of this name.")
