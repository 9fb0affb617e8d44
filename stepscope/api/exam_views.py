"""From an exam to what the API says of it, and to whom."""

from __future__ import annotations

from stepscope.api.models.exam import (
    CAUSES,
    REMEDIES,
    BoardRow,
    ExamAnswer,
    ExamView,
    GuessView,
    MarksView,
    MeView,
    TruthView,
)
from stepscope.api.views import rfc3339
from stepscope.exam.error import ExamError
from stepscope.exam.exam import MOST_SUBMISSIONS, Exam
from stepscope.exam.marking import Truth
from stepscope.exam.participant import Participant
from stepscope.exam.sitting import Row


def exam_view(exam: Exam) -> ExamView:
    """For everybody: nothing in it depends on what is wrong until that is revealed."""
    sitting, state = exam.sitting, exam.state
    if sitting is None:
        return ExamView(
            state="idle", exam=None, preset=None, started_at=None, duration_seconds=None, remaining_seconds=None,
            hints=0, hint_cost=0.0, causes=list(CAUSES), remedies=list(REMEDIES), board=[], truth=None,
        )  # fmt: skip
    revealed = state == "revealed"
    rows = exam.board()
    if not revealed:
        # The order of the best would say who is right.
        rows = sorted(rows, key=lambda row: row.participant.joined_at_seconds)
    remaining = sitting.duration_seconds - exam.elapsed(sitting) if state == "running" else 0.0
    return ExamView(
        state=state,
        exam=sitting.label,
        preset=sitting.paper.preset,
        started_at=rfc3339(sitting.began_at),
        duration_seconds=sitting.duration_seconds,
        remaining_seconds=max(0.0, remaining),
        hints=len(sitting.paper.hints),
        hint_cost=sitting.hint_cost,
        causes=list(CAUSES),
        remedies=list(REMEDIES),
        board=[_row(row, marked=revealed) for row in rows],
        truth=[_truth(truth) for truth in sitting.paper.truths] if revealed else None,
    )


def answer_view(exam: Exam) -> ExamAnswer:
    """For the facilitator. ExamError `state` while there is no exam."""
    sitting = exam.sitting
    if sitting is None:
        raise ExamError("state", "There is no exam.")
    paper = sitting.paper
    return ExamAnswer(
        state=exam.state,
        truth=[_truth(truth) for truth in paper.truths],
        hints=list(paper.hints),
        seed=paper.seed,
        faults=list(paper.faults),
        board=[_row(row, marked=True) for row in exam.board()],
    )


def me_view(exam: Exam, me: Participant) -> MeView:
    """For one participant alone."""
    sitting, submission = exam.sitting, me.submission
    hints = sitting.paper.hints[: me.hints] if sitting is not None else ()
    points = None
    if exam.state == "revealed":
        points = next((row.points for row in exam.board() if row.participant is me), None)
    guess = submission.guess if submission is not None else None
    return MeView(
        id=me.id,
        name=me.name,
        answer=None if guess is None else GuessView(cause=guess.cause, rank=guess.rank, remedy=guess.remedy),
        answered_after_seconds=None if submission is None else submission.at_seconds,
        answers_left=MOST_SUBMISSIONS - me.submissions,
        hints=list(hints),
        points=points,
    )


def _row(row: Row, *, marked: bool) -> BoardRow:
    who, marks = row.participant, row.marks
    return BoardRow(
        id=who.id,
        name=who.name,
        answered=who.submission is not None,
        answered_after_seconds=None if who.submission is None else who.submission.at_seconds,
        hints_taken=who.hints,
        points=row.points if marked else None,
        marks=MarksView(cause=marks.cause, rank=marks.rank, remedy=marks.remedy) if marks and marked else None,
    )


def _truth(truth: Truth) -> TruthView:
    return TruthView(
        cause=truth.cause,
        ranks=None if truth.ranks is None else sorted(truth.ranks),
        remedies=sorted(truth.remedies),
    )
