"""Signals that wait for their turn."""

from __future__ import annotations

import signal

import pytest

from stepscope.stack.interrupt import SIGNALS, interruptible


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_is_kept_and_raises_nothing(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with interruptible() as interrupt:
        assert not interrupt.wait(0)
        signal.raise_signal(number)
        signal.raise_signal(number)
        assert interrupt.wait(60), "at once, and again"
        assert interrupt.wait(60)
        assert interrupt.signal == number
    assert signal.getsignal(number) is before


def test_the_first_signal_counts() -> None:
    with interruptible() as interrupt:
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)
    assert interrupt.signal == signal.SIGTERM


def test_what_is_ignored_stays_ignored() -> None:
    """Under nohup the terminal may go."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruptible() as interrupt:
            signal.raise_signal(signal.SIGHUP)
            assert interrupt.signal is None
    finally:
        signal.signal(signal.SIGHUP, before)
