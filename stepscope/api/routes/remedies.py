"""`/v1/remedies`: what an engineer would do about it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Body, Response
from starlette.concurrency import run_in_threadpool

from faults.remedy import Remedy
from faults.remedy_registry import remedies, remedy
from faults.treatment import RemedySpec, Treatment
from stepscope.api.lab import CurrentLab, Lab
from stepscope.api.models.faults import Prediction, TargetView
from stepscope.api.models.remedies import AppliedView, RemedyDryRun, RemedyList, RemedyView
from stepscope.api.remedy_schema import value_schema
from stepscope.api.responses import HIDDEN, WRITE, problems
from stepscope.api.routes.common import v1
from stepscope.api.routes.faults import DryRunSwitch
from stepscope.api.views import rfc3339

router = v1("remedies")


@router.get("/remedies", responses=problems(*HIDDEN, 503))
def list_remedies(lab: CurrentLab) -> RemedyList:
    """What can be done, and what was done about the present run."""
    applied = [_applied(lab, treatment) for treatment in lab.engine.treatments()]
    return RemedyList(remedies=[_view(found) for found in remedies().values()], applied=applied)


@router.post(
    "/remedies",
    response_model=None,
    responses=problems(*WRITE, 409, 503)
    | {
        200: {"model": RemedyDryRun, "description": "What a dry run found."},
        201: {"model": AppliedView, "description": "Applied. Whether it helps, the job's own numbers will show."},
    },
    status_code=201,
)
async def apply_remedy(
    lab: CurrentLab, response: Response, body: Annotated[Any, Body()], dry_run: DryRunSwitch = False
) -> AppliedView | RemedyDryRun:
    """Apply a remedy. It ends what it puts right, and changes what it changes where there was nothing to put right."""
    spec = RemedySpec.from_mapping(body)
    if dry_run:
        response.status_code = 200
        return await _dry_run(lab, spec)
    treatment = await run_in_threadpool(lab.engine.apply_remedy, spec)
    return _applied(lab, treatment)


async def _dry_run(lab: Lab, spec: RemedySpec) -> RemedyDryRun:
    predicted = await lab.dry_runs.run(lambda: lab.engine.preview_remedy(spec))
    down = lab.engine.spec.training.restart_seconds if remedy(spec.remedy).restarts else 0.0
    prediction = Prediction.model_validate(asdict(predicted))
    return RemedyDryRun(remedy=spec.remedy, restart_seconds=down, predicted=prediction)


def _view(found: Remedy) -> RemedyView:
    return RemedyView(
        remedy=found.name,
        summary=found.summary,
        value=value_schema(found),
        restarts=found.restarts,
        target_modes=list(found.target_modes),
        needs=list(found.needs),
    )


def _applied(lab: Lab, treatment: Treatment) -> AppliedView:
    spec, tick = treatment.spec, lab.now().tick
    back = tick.timestamp - tick.seconds + treatment.at_seconds + treatment.restart_seconds
    return AppliedView(
        remedy=spec.remedy,
        value=spec.value,
        target=None if spec.target is None else TargetView.model_validate(spec.target.to_mapping()),
        applied_at_seconds=treatment.at_seconds,
        effective_from_step=treatment.effective_from_step,
        restart_seconds=treatment.restart_seconds,
        back_at=rfc3339(back) if treatment.restart_seconds else None,
    )
