"""`/v1/state`, `/v1/step`, `/v1/history`: how the run does."""

from __future__ import annotations

from simulator.observation import Tick
from stepscope.api import views
from stepscope.api.lab import CurrentLab, CurrentTick
from stepscope.api.models.state import HistoryView, StateView, StepView
from stepscope.api.problems import ProblemError
from stepscope.api.query import FirstRank, Limit
from stepscope.api.responses import READ, problems
from stepscope.api.routes.common import v1

router = v1("state")

_ERRORS = problems(*READ, 503)
_LIMIT = 64


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


@router.get("/step", responses=problems(*READ, 404, 503))
def get_step(tick: CurrentTick, first_rank: FirstRank = 0, limit: Limit = _LIMIT) -> StepView:
    """The last finished step: when each phase began on each rank, and how long it took; 404 before a run's first."""
    step = views.step_view(tick, _page(tick, first_rank, limit))
    if step is None:
        # A young run is as it should be: not an error of the lab, only nothing to show yet.
        raise ProblemError(404, "no-step-yet", "The run has not ended a step yet.", headers={"Retry-After": "1"})
    return step


@router.get("/history", responses=_ERRORS)
def get_history(lab: CurrentLab) -> HistoryView:
    """The last five minutes, one value per second."""
    return views.history_view(lab.now())


def _page(tick: Tick, first_rank: int, limit: int) -> range:
    """Ranks that there are, of those asked for."""
    return range(tick.info.ranks)[first_rank : first_rank + limit]
