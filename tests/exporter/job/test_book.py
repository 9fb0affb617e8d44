"""Which report takes which one's place, when a rank is silent, and who is kept when there is no room."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exporter.sources.job.book import BOOK_REASONS, MAX_AGE_SECONDS, MAX_RANKS, MAX_RUNS, Book
from exporter.sources.job.fields import Refused
from exporter.sources.job.report import Report
from tests.exporter.job.reports import NOW, report

ME, OTHER = 1000, 1001


def refused(book: Book, new: Report, *, user: int = ME, now: float = NOW) -> str:
    """Why the book does not take it, a reason that has a name; empty when it does."""
    try:
        book.add(new, user=user, now=now)
    except Refused as error:
        return BOOK_REASONS[BOOK_REASONS.index(error.reason)]
    return ""


def shown(book: Book, *, now: float = NOW) -> list[tuple[str, int, str, int]]:
    """Run, rank, session and number of what is shown."""
    return [(found.run, found.rank, found.session, found.seq) for found in book.reports(now=now)]


def with_totals(seq: int, **changes: object) -> Report:
    """The report of this number of a rank that does a step a second."""
    counts = [0] * 12 + [seq] + [0] * 8
    return report(
        seq=seq,
        steps=seq,
        phases={"forward": 0.75 * seq, "collective": 0.25 * seq},
        step_seconds={"sum": float(seq), "counts": counts},
        **changes,
    )


@given(sent=st.lists(st.integers(0, 12), max_size=40))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_whatever_is_lost_repeated_or_late_the_newest_that_came_is_shown(sent: list[int]) -> None:
    book = Book()
    for place, seq in enumerate(sent):
        newest = seq > max(sent[:place], default=-1)
        assert refused(book, with_totals(seq)) == ("" if newest else "old")
    assert list(book.reports(now=NOW)) == ([with_totals(max(sent))] if sent else [])


@given(
    sent=st.lists(
        st.tuples(st.sampled_from([(1.0, "a"), (2.0, "b"), (2.0, "c")]), st.integers(0, 3)), min_size=1, max_size=20
    )
)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_the_recorder_that_started_last_counts_in_whatever_order_they_come(
    sent: list[tuple[tuple[float, str], int]],
) -> None:
    book = Book()
    for (started, session), seq in sent:
        refused(book, report(started=started, session=session, seq=seq))
    (started, session), seq = max(sent)
    assert shown(book) == [("night", 2, session, seq)]


def test_a_rank_that_starts_again_starts_again_from_nothing() -> None:
    book = Book()
    assert refused(book, with_totals(9)) == ""
    assert refused(book, with_totals(0, session="new", started=NOW - 1)) == ""
    assert refused(book, with_totals(10)) == "old", "the old process has not noticed yet that it is dead"
    assert [found.steps for found in book.reports(now=NOW)] == [0]


@pytest.mark.parametrize(
    "less",
    [
        {"phases": {"forward": 7.4}},
        {"step_seconds": {"sum": 58.5, "counts": [0] * 12 + [1, 16, 3] + [0] * 6}},
        {"step_seconds": {"sum": 58.4, "counts": [0] * 12 + [1, 17, 2] + [0] * 6}},
        *({key: 1} for key in ("steps", "tokens", "samples", "model_flops", "collective_seconds", "collective_bytes")),
        *({key: 0} for key in ("nonfinite_steps", "skipped_steps", "checkpoints", "grad_norm_spikes")),
        {"last_step_time": NOW - 2.0},
    ],
    ids=str,
)
def test_a_total_that_falls_within_a_session_is_not_believed(less: dict[str, object]) -> None:
    book = Book()
    assert refused(book, report()) == ""
    assert refused(book, report(seq=61, **less)) == "backwards"
    assert shown(book) == [("night", 2, "5e55", 60)]
    assert refused(book, report(seq=62)) == "", "one bad report costs itself alone"


def test_what_is_not_known_any_more_is_no_fall_and_gauges_may_fall() -> None:
    book = Book()
    assert refused(book, report()) == ""
    assert refused(book, report(seq=61, steps=None, phases={}, step_seconds=None, loss=0.1, queue_batches=0)) == ""


def test_silence_is_a_gap_and_a_report_after_it_ends_it() -> None:
    book = Book()
    book.add(report(rank=0), user=ME, now=NOW)
    book.add(report(rank=1), user=ME, now=NOW + 10)
    assert len(shown(book, now=NOW + MAX_AGE_SECONDS)) == 2
    assert [rank for _, rank, _, _ in shown(book, now=NOW + MAX_AGE_SECONDS + 0.1)] == [1]
    assert refused(book, report(rank=0, seq=90), now=NOW + 40) == ""
    assert [rank for _, rank, _, _ in shown(book, now=NOW + 40)] == [0]


def test_a_clock_that_is_set_back_freezes_nothing() -> None:
    book = Book()
    book.add(report(), user=ME, now=NOW + 3600)
    assert len(shown(book, now=NOW)) == 1
    assert shown(book, now=NOW + MAX_AGE_SECONDS + 0.1) == []


def test_final_totals_are_shown_for_a_scrape_and_then_the_series_end() -> None:
    book = Book()
    book.add(report(final=True), user=ME, now=NOW)
    assert len(shown(book, now=NOW + MAX_AGE_SECONDS)) == 1
    assert shown(book, now=NOW + MAX_AGE_SECONDS + 0.1) == []


def test_nobody_else_reports_for_a_users_run_until_it_is_over() -> None:
    book = Book()
    assert refused(book, report(rank=0)) == ""
    assert refused(book, report(rank=0, seq=99, session="zz", started=NOW), user=OTHER) == "other_user"
    assert refused(book, report(rank=1), user=OTHER) == "other_user"
    assert refused(book, report(rank=0), user=0) == "other_user"
    assert refused(book, report(rank=1), user=OTHER, now=NOW + MAX_AGE_SECONDS + 2) == ""
    assert refused(book, report(rank=0, seq=99), now=NOW + MAX_AGE_SECONDS + 2) == "other_user"


def test_a_flood_of_made_up_runs_never_ends_a_live_one_and_leaves_room_for_another_user() -> None:
    book = Book()
    mine = report(run="mine", rank=0)
    assert refused(book, mine) == ""
    found = [refused(book, report(run=f"fake {number}"), user=OTHER) for number in range(100)]
    assert found.count("") == MAX_RUNS // 2
    assert set(found) == {"", "too_many_runs"}
    assert ("mine", 0, "5e55", 60) in shown(book)
    assert refused(book, report(run="my second")) == ""
    assert refused(book, report(run="mine", rank=0, seq=61)) == "", "what is there goes on when there is no more room"


def test_a_flood_of_made_up_ranks_neither() -> None:
    book = Book()
    assert refused(book, report(run="mine", rank=0)) == ""
    found = [refused(book, report(run="fake", rank=rank, world_size=1 << 20), user=OTHER) for rank in range(2000)]
    assert found.count("") == MAX_RANKS // 2
    assert set(found) == {"", "too_many_ranks"}
    assert refused(book, report(run="mine", rank=1)) == ""
    assert len(shown(book)) == MAX_RANKS // 2 + 2


def test_all_users_together_have_an_end_too() -> None:
    book = Book(max_runs=4)
    for user in (1, 2):
        for number in (1, 2):
            assert refused(book, report(run=f"{user} {number}"), user=user) == ""
    assert refused(book, report(run="3 1"), user=3) == "too_many_runs"
    assert refused(book, report(run="3 1"), user=3, now=NOW + MAX_AGE_SECONDS + 2) == ""


def test_a_run_that_is_over_makes_room_and_one_that_lives_does_not() -> None:
    book = Book(max_runs=4)
    for number in (1, 2):
        for rank in (0, 1):
            assert refused(book, report(run=f"sweep {number}", rank=rank)) == ""
    assert refused(book, report(run="sweep 1", rank=0, seq=61, final=True)) == ""
    assert refused(book, report(run="sweep 3")) == "too_many_runs", "its other rank still runs"
    assert refused(book, report(run="sweep 1", rank=1, seq=61, final=True)) == ""
    assert refused(book, report(run="sweep 3")) == ""
    assert {run for run, _, _, _ in shown(book)} == {"sweep 2", "sweep 3"}


def test_a_user_cannot_drive_out_what_others_have_finished_while_there_is_room() -> None:
    book = Book(max_runs=4)
    assert refused(book, report(run="done", final=True)) == ""
    for number in range(5):
        refused(book, report(run=f"fake {number}"), user=OTHER)
    assert "done" in {run for run, _, _, _ in shown(book)}


def test_ranks_are_shown_in_order_whatever_the_order_in_which_they_came() -> None:
    book = Book()
    for rank in (5, 0, 7, 3):
        book.add(report(rank=rank), user=ME, now=NOW)
    assert [rank for _, rank, _, _ in shown(book)] == [0, 3, 5, 7]


@given(
    moves=st.lists(
        st.tuples(
            st.integers(1, 3), st.integers(0, 5), st.integers(0, 3), st.integers(0, 5), st.booleans(),
            st.floats(-20, 20, allow_nan=False),
        ),
        max_size=60,
    )
)  # fmt: skip
@settings(max_examples=200, deadline=None, derandomize=True)
def test_whatever_comes_the_room_is_kept_and_no_rank_is_there_twice(
    moves: list[tuple[int, int, int, int, bool, float]],
) -> None:
    book, now = Book(max_runs=4, max_ranks=8), NOW
    for user, run, rank, seq, final, pause in moves:
        now += pause
        refused(book, report(run=f"run {run}", rank=rank, seq=seq, final=final), user=user, now=now)
        places = [(run, rank) for run, rank, _, _ in shown(book, now=now)]
        assert len(set(places)) == len(places) <= 8
        assert len({run for run, _ in places}) <= 4
