"""`/v1/state`, `/v1/step`, `/v1/history`: how the run does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from fastapi import Query
from pydantic import BaseModel
from starlette.responses import Response

from simulator.observation import Tick
from stepscope.api import views
from stepscope.api.lab import CurrentLab
from stepscope.api.models.state import HistoryView, StateView, StepView, TraceView
from stepscope.api.problems import ProblemError
from stepscope.api.query import FirstRank, Limit, Switch
from stepscope.api.responses import READ, problems
from stepscope.api.routes.common import v1
from stepscope.api.step_trace import trace_view
from stepscope.api.step_views import step_view

router = v1("state")

_ERRORS = problems(*READ, 503)
_LIMIT = 64
_JSON = "application/json"


@router.get("/state", responses=_ERRORS)
def get_state(lab: CurrentLab, first_rank: FirstRank = 0, limit: Limit = _LIMIT) -> StateView:
    """The last second and the last minute of the run, and each rank in the last second."""
    now = lab.now()
    tick = now.tick
    return StateView(
        run=views.run_view(tick.info),
        position=views.position(now),
        last_tick=views.last_tick(now),
        last_minute=views.last_minute(now),
        reference=lab.reference.of(now.spec, seed=tick.info.seed),
        learning=views.learning(tick),
        ranks_total=tick.info.ranks,
        ranks=views.rank_states(tick, _page(tick, first_rank, limit)),
    )


@router.get(
    "/step",
    response_model=None,
    responses=problems(*READ, 404, 503)
    | {200: {"model": StepView | TraceView, "description": "The step; with `format=trace` a file for Perfetto."}},
)
def get_step(
    lab: CurrentLab,
    first_rank: FirstRank = 0,
    limit: Limit = _LIMIT,
    healthy: Annotated[Switch, Query(description="The same step as it would have been with nothing wrong.")] = False,
    format_: Annotated[
        Literal["json", "trace"],
        Query(alias="format", description="`trace`: trace events, to open in ui.perfetto.dev or chrome://tracing."),
    ] = "json",
) -> Response:
    """The last finished step: when each phase began on each rank, and how long it took; 404 before a run's first."""
    now = lab.now()
    info, step = now.tick.info, now.tick.last_step
    if step is None:
        # A young run is as it should be: not an error of the lab, only nothing to show yet.
        raise ProblemError(404, "no-step-yet", "The run has not ended a step yet.", headers={"Retry-After": "1"})
    if healthy:
        step = lab.healthy_steps.step(now.spec, seed=info.seed, step=step.step)
    ranks = _page(now.tick, first_rank, limit)
    if format_ == "json":
        return _json(step_view(step, info, ranks, healthy=healthy))
    name = f"{info.preset}-step-{step.step}{'-healthy' if healthy else ''}.trace.json"
    return _json(
        trace_view(step, info, ranks, healthy=healthy), {"Content-Disposition": f'attachment; filename="{name}"'}
    )


@router.get("/history", responses=_ERRORS)
def get_history(lab: CurrentLab) -> HistoryView:
    """The last five minutes, one value per second."""
    return views.history_view(lab.now())


def _page(tick: Tick, first_rank: int, limit: int) -> range:
    """Ranks that there are, of those asked for."""
    return range(tick.info.ranks)[first_rank : first_rank + limit]


def _json(view: BaseModel, headers: Mapping[str, str] | None = None) -> Response:
    """Written on the thread of the route: of large jobs it is hundreds of kilobytes, too much for the event loop."""
    return Response(view.model_dump_json(exclude_none=isinstance(view, TraceView)), headers=headers, media_type=_JSON)
