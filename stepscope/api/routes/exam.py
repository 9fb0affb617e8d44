"""`/v1/exam`: an incident that nobody who takes part knows, and what they make of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import Path
from starlette.concurrency import run_in_threadpool

from faults.scenario_files import scenarios
from stepscope.api import exam_views as views
from stepscope.api.exam_problems import problem_of
from stepscope.api.lab import CurrentLab
from stepscope.api.models.exam import (
    ExamAnswer,
    ExamExtend,
    ExamStart,
    ExamView,
)
from stepscope.api.problems import ErrorItem, unprocessable
from stepscope.api.responses import READ, WRITE, problems
from stepscope.api.routes.common import v1
from stepscope.exam.error import ExamError
from stepscope.exam.paper import Paper, Wish, drawn_paper, scenario_paper

router = v1("exam")

ParticipantId = Annotated[str, Path(pattern="^p[0-9]{1,9}$", max_length=10)]


@router.get("/exam", responses=problems(*READ))
async def get_exam(lab: CurrentLab) -> ExamView:
    """Where the exam is, how much time is left and who takes part; what was wrong only once it is revealed."""
    return views.exam_view(lab.exam)


@router.post("/exam/start", status_code=201, responses=problems(*WRITE, 409), response_description="It runs.")
async def start_exam(lab: CurrentLab, wanted: ExamStart) -> ExamView:
    """Begin an exam: a new run with a hidden incident. Until it is revealed, the truth needs the token.

    Nobody has to wait for a quiet moment: what was asked before and is answered after the start is judged again. A lab
    that is started again has forgotten the exam, its participants and its run.
    """
    make = _maker(wanted)
    try:
        await run_in_threadpool(
            lab.exam.start, make, duration_seconds=wanted.duration_seconds, hint_cost=wanted.hint_cost
        )
    except ExamError as error:
        raise problem_of(error) from None
    return views.exam_view(lab.exam)


@router.post("/exam/extend", responses=problems(*WRITE, 409))
async def extend_exam(lab: CurrentLab, wanted: ExamExtend) -> ExamView:
    """Give everybody more time."""
    return _controlled(lab, lambda: lab.exam.extend(wanted.seconds))


@router.post("/exam/stop", responses=problems(*WRITE, 409))
async def stop_exam(lab: CurrentLab) -> ExamView:
    """End it before its time. Answers are taken no more; nothing is shown yet."""
    return _controlled(lab, lab.exam.stop)


@router.post("/exam/reveal", responses=problems(*WRITE, 409))
async def reveal_exam(lab: CurrentLab) -> ExamView:
    """Show what was wrong, and who found it. Faults, events and the rest are open again."""
    return _controlled(lab, lab.exam.reveal)


@router.post("/exam/forget", responses=problems(*WRITE))
async def forget_exam(lab: CurrentLab) -> ExamView:
    """Back to the beginning, without keeping anything. The run goes on, and everybody may see what is wrong with it."""
    return _controlled(lab, lab.exam.forget)


@router.get("/exam/answer", responses=problems(*READ, 401, 409))
async def get_exam_answer(lab: CurrentLab) -> ExamAnswer:
    """What is wrong, every hint, and what the answers so far are worth. Always needs the token."""
    try:
        return views.answer_view(lab.exam)
    except ExamError as error:
        raise problem_of(error) from None


@router.delete(
    "/exam/participants/{participant}",
    status_code=204,
    responses=problems(*WRITE, 404),
    response_description="Taken out.",
)
async def remove_participant(lab: CurrentLab, participant: ParticipantId) -> None:
    """Take a participant out, whose name should not be on a wall for example."""
    try:
        lab.exam.remove(participant)
    except ExamError as error:
        raise problem_of(error) from None


def _maker(wanted: ExamStart) -> Callable[[int, int], Paper]:
    if wanted.scenario is not None:
        scenario = scenarios()[wanted.scenario]
        return lambda _, run_seed: scenario_paper(scenario, run_seed=run_seed)
    wish = Wish(wanted.preset, wanted.causes, wanted.kinds, wanted.onset_within_seconds, wanted.decoys)

    def draw(incident_seed: int, run_seed: int) -> Paper:
        try:
            return drawn_paper(wish, incident_seed=incident_seed, run_seed=run_seed)
        except ValueError as error:
            detail = str(error).removeprefix("kinds: ")
            raise unprocessable([ErrorItem("body", "/kinds", detail)]) from None

    return draw


def _controlled(lab: CurrentLab, act: Callable[[], None]) -> ExamView:
    try:
        act()
    except ExamError as error:
        raise problem_of(error) from None
    return views.exam_view(lab.exam)
