"""`/v1/state`, `/v1/step`, `/v1/history`: how the run does."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Annotated, Literal

from fastapi import Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from simulator.observation import Tick
from simulator.snapshot import Snapshot
from stepscope.api import views
from stepscope.api.lab import CurrentLab, Lab, moment_of
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


@router.get("/state", response_model=StateView, responses=_ERRORS)
async def get_state(lab: CurrentLab, first_rank: FirstRank = 0, limit: Limit = _LIMIT) -> Response:
    """The last second and the last minute of the run, and each rank in the last second."""
    question = ("state", first_rank, limit, lab.exam.hides)
    # Every viewer asks this once a second, and all but the first find it written: no thread is needed for them.
    body = lab.fresh.known(lab.moment(), question)
    if body is None:
        body = await run_in_threadpool(_state, lab, *question[1:])
    return Response(body, media_type=_JSON)


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
    ranks = _page(now.tick, first_rank, limit)

    def write() -> str:
        shown = lab.healthy_steps.step(now.spec, seed=info.seed, step=step.step) if healthy else step
        if format_ == "trace":
            return trace_view(shown, info, ranks, healthy=healthy).model_dump_json(exclude_none=True)
        return step_view(shown, info, ranks, healthy=healthy).model_dump_json()

    answer = _answer(lab, now, ("step", first_rank, limit, healthy, format_), write)
    if format_ == "trace":
        name = f"{info.preset}-step-{step.step}{'-healthy' if healthy else ''}.trace.json"
        answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


@router.get("/history", response_model=HistoryView, responses=_ERRORS)
def get_history(lab: CurrentLab) -> Response:
    """The last five minutes, one value per second."""
    now = lab.now()
    return _answer(lab, now, "history", lambda: views.history_view(now).model_dump_json())


def _page(tick: Tick, first_rank: int, limit: int) -> range:
    """Ranks that there are, of those asked for."""
    return range(tick.info.ranks)[first_rank : first_rank + limit]


def _state(lab: Lab, first_rank: int, limit: int, truth_hidden: bool) -> str:
    now = lab.now()
    tick = now.tick

    def write() -> str:
        view = StateView(
            run=views.run_view(tick.info),
            position=views.position(now, truth_hidden=truth_hidden),
            last_tick=views.last_tick(now),
            last_minute=views.last_minute(now),
            reference=lab.reference.of(now.spec, seed=tick.info.seed),
            learning=views.learning(tick),
            ranks_total=tick.info.ranks,
            ranks=views.rank_states(tick, _page(tick, first_rank, limit)),
        )
        return view.model_dump_json()

    return lab.fresh.body(moment_of(now), ("state", first_rank, limit, truth_hidden), write)


def _answer(lab: Lab, now: Snapshot, question: Hashable, write: Callable[[], str]) -> Response:
    """Written once per moment, and on this thread: of large jobs it is too much for the event loop."""
    return Response(lab.fresh.body(moment_of(now), question, write), media_type=_JSON)
