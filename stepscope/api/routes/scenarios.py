"""`/v1/scenarios` and `/v1/playbacks`: scripted incidents, and playing them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Body, Path, Response

from faults.errors import FaultError
from faults.scenario import ID_PATTERN, Scenario
from faults.scenario_files import scenarios
from stepscope.api.lab import CurrentLab, Lab
from stepscope.api.models.scenarios import (
    AlertsView,
    AnswerView,
    PlaybackList,
    PlaybackView,
    ScenarioAnswer,
    ScenarioList,
    ScenarioView,
)
from stepscope.api.playback_write import PlaybackWrite
from stepscope.api.playbacks import Playback
from stepscope.api.problems import ProblemError
from stepscope.api.responses import HIDDEN, READ, WRITE, problems
from stepscope.api.routes.common import v1
from stepscope.api.views import rfc3339

router = v1("scenarios")

ScenarioId = Annotated[str, Path(pattern=ID_PATTERN, max_length=48)]
PlaybackId = Annotated[str, Path(pattern="^[a-z0-9-]{1,80}$", max_length=80)]


@router.get("/scenarios", responses=problems(*READ))
def list_scenarios() -> ScenarioList:
    """The scenarios that come with the lab."""
    return ScenarioList(scenarios=[_scenario(scenario) for scenario in scenarios().values()])


@router.get("/scenarios/{scenario}", responses=problems(*READ, 404))
def get_scenario(scenario: ScenarioId) -> ScenarioView:
    """One of them, without what is wrong in it."""
    return _scenario(_known(scenario))


@router.get("/scenarios/{scenario}/answer", responses=problems(*READ, 401, 404))
def get_answer(scenario: ScenarioId) -> ScenarioAnswer:
    """What is wrong in it, who is to blame and what would help. Always needs the token."""
    found = _known(scenario)
    expect = found.expect
    return ScenarioAnswer(
        id=found.id,
        answers=[AnswerView(cause=one.cause, rank=one.rank, remedy=one.remedy) for one in found.answers],
        expect=AlertsView(
            alerts=list(expect.alerts),
            may=list(expect.may),
            silent=None if expect.silent is None else list(expect.silent),
        ),
    )


@router.post(
    "/playbacks",
    status_code=201,
    responses=problems(*WRITE, 409),
    response_description="A new run of the scenario's job, with its faults to come.",
)
def post_playback(lab: CurrentLab, response: Response, body: Annotated[Any, Body()]) -> PlaybackView:
    """Play a scenario: its job takes the place of the run, with its faults on their timeline."""
    wanted = PlaybackWrite.from_mapping(body)
    try:
        playback = lab.playbacks.play(wanted.scenario, seed=wanted.seed, speed=wanted.speed)
    except FaultError as error:
        # Of a scenario of the lab's own, only the speed can be wrong.
        raise error.below("/scenario") if wanted.own else FaultError.at("/speed", str(error)) from None
    response.headers["Location"] = f"/v1/playbacks/{playback.id}"
    return _playback(lab, playback)


@router.get("/playbacks", responses=problems(*HIDDEN))
def list_playbacks(lab: CurrentLab) -> PlaybackList:
    """What has been played on this lab."""
    return PlaybackList(playbacks=[_playback(lab, playback) for playback in lab.playbacks.list()])


@router.get("/playbacks/{playback}", responses=problems(*HIDDEN, 404))
def get_playback(lab: CurrentLab, playback: PlaybackId) -> PlaybackView:
    """One playback."""
    try:
        return _playback(lab, lab.playbacks.get(playback))
    except KeyError:
        raise _unknown() from None


@router.delete(
    "/playbacks/{playback}", status_code=204, responses=problems(*WRITE, 404), response_description="Stopped."
)
def stop_playback(lab: CurrentLab, playback: PlaybackId) -> None:
    """Stop it: its faults are cleared at once, the run goes on. One that is over stays as it is."""
    try:
        lab.playbacks.stop(playback)
    except KeyError:
        raise _unknown() from None


def _known(scenario: str) -> Scenario:
    try:
        return scenarios()[scenario]
    except KeyError:
        detail = f"There is no scenario of this id; there are {', '.join(scenarios())}."
        raise ProblemError(404, "not-found", detail) from None


def _unknown() -> ProblemError:
    return ProblemError(404, "not-found", "There is no playback of this id, or it was too long ago.")


def _scenario(scenario: Scenario) -> ScenarioView:
    return ScenarioView(
        id=scenario.id,
        title=scenario.title,
        question=scenario.question,
        preset=scenario.preset,
        seed=scenario.seed,
        duration_seconds=scenario.duration_seconds,
        hints=list(scenario.hints),
    )


def _playback(lab: Lab, playback: Playback) -> PlaybackView:
    scenario = playback.scenario
    return PlaybackView(
        id=playback.id,
        scenario=scenario.id,
        title=scenario.title,
        question=scenario.question,
        preset=scenario.preset,
        seed=playback.seed,
        speed=playback.speed,
        run=playback.run,
        state=lab.playbacks.state(playback),
        started_at=rfc3339(playback.started_at),
        elapsed_seconds=lab.playbacks.elapsed(playback),
        duration_seconds=scenario.duration_seconds,
    )
