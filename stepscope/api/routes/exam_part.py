"""`/v1/exam/participants` and `/v1/exam/me`: taking part in an exam, which needs no token but one's own secret."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path, Request

from stepscope.api import exam_views as views
from stepscope.api.exam_problems import problem_of
from stepscope.api.guard import bearer
from stepscope.api.lab import CurrentLab
from stepscope.api.models.exam import GuessView, HintView, Joined, JoinWrite, MeView
from stepscope.api.problems import ErrorItem, unprocessable
from stepscope.api.query import AsWhole
from stepscope.api.responses import READ, WRITE, problems
from stepscope.api.routes.common import v1
from stepscope.exam.error import ExamError
from stepscope.exam.marking import Guess
from stepscope.exam.participant import Participant

router = v1("exam")

_TAKING_PART = problems(*WRITE, 409, 429)
Number = Annotated[int, Path(ge=1, le=64), AsWhole]


@router.post(
    "/exam/participants", status_code=201, responses=problems(*READ, 409, 429), response_description="Welcome."
)
async def join_exam(lab: CurrentLab, wanted: JoinWrite) -> Joined:
    """Take part in the running exam, under a name that nobody else has."""
    try:
        participant = lab.exam.join(wanted.name)
    except ValueError as error:
        detail = str(error).removeprefix("name: ")
        raise unprocessable([ErrorItem("body", "/name", detail)]) from None
    except ExamError as error:
        raise problem_of(error) from None
    return Joined(id=participant.id, name=participant.name, secret=participant.secret)


async def _me(request: Request, lab: CurrentLab) -> Participant:
    try:
        return lab.exam.who(bearer(request.headers) or "")
    except ExamError as error:
        raise problem_of(error) from None


Me = Annotated[Participant, Depends(_me)]


@router.get("/exam/me", responses=problems(*READ, 401))
async def get_me(lab: CurrentLab, me: Me) -> MeView:
    """What you answered, and the hints that you took."""
    return views.me_view(lab.exam, me)


@router.put("/exam/me/answer", responses=_TAKING_PART)
async def put_my_answer(lab: CurrentLab, me: Me, answer: GuessView) -> MeView:
    """Say what is wrong. The last answer before the end counts, with the time at which it came."""
    try:
        lab.exam.submit(me, Guess(answer.cause, answer.rank, answer.remedy))
    except ExamError as error:
        raise problem_of(error) from None
    return views.me_view(lab.exam, me)


@router.put("/exam/me/hints/{number}", responses=problems(*WRITE, 404, 409, 429))
async def take_hint(lab: CurrentLab, me: Me, number: Number) -> HintView:
    """Take a hint, one after the other; it costs points the first time."""
    try:
        return HintView(number=number, text=lab.exam.hint(me, number))
    except ExamError as error:
        raise problem_of(error) from None
