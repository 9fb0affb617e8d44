"""The progress bar."""

from __future__ import annotations

import io
import itertools

from stepscope.cli.progress import Bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_it_draws_ten_times_a_second_at_most() -> None:
    stream, ticks = Terminal(), itertools.count()
    bar = Bar(stream, title="job", clock=lambda: next(ticks) * 0.03)
    for done in range(1, 101):
        bar(done, 100)
    assert stream.getvalue().count("\r") == 25


def test_it_says_what_is_left() -> None:
    stream, moments = Terminal(), iter([0.0, 60.0, 3_000.0])
    bar = Bar(stream, title="job", clock=lambda: next(moments))
    bar(500, 1_000)
    bar(600, 1_000)
    first, second = stream.getvalue().split("\r")[1:]
    assert first == "job  ████████████············  50 %  500 of 1,000 steps  1:00 left"
    assert second.rstrip() == "job  ██████████████··········  60 %  600 of 1,000 steps  33:20 left"


def test_it_leaves_nothing_behind() -> None:
    stream, moments = Terminal(), iter([0.0, 1.0])
    bar = Bar(stream, title="job", clock=lambda: next(moments))
    bar(0, 10)
    drawn = len(stream.getvalue())
    bar.clear()
    assert stream.getvalue()[drawn:] == "\r" + " " * (drawn - 1) + "\r"


def test_off_a_terminal_it_is_silent() -> None:
    stream = io.StringIO()
    bar = Bar(stream, title="job", clock=itertools.count().__next__)
    bar(5, 10)
    bar.clear()
    assert stream.getvalue() == ""
