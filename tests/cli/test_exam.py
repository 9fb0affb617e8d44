"""`stepscope exam …` against a lab that runs."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from stepscope.cli.client import Client
from tests.cli.conftest import TOKEN, Command

AS_FACILITATOR = ("--token", TOKEN)


@pytest.fixture
def room(lab: Command, lab_url: str) -> Iterator[Command]:
    """A lab without an exam, before and after."""
    yield lab
    Client(lab_url, token=TOKEN).call("POST", "/v1/exam/forget")


def test_start_status_extend_stop_reveal_and_forget(room: Command, lab_url: str) -> None:
    assert "no exam" in room("exam", "status").out
    status, out, err = room("exam", "start", "--minutes", "10", "--kind", "power_cap", *AS_FACILITATOR)
    assert (status, err) == (0, "")
    assert "on workshop-4gpu: running, 600 s left" in out
    assert "nobody has joined" in out
    joined = Client(lab_url).call("POST", "/v1/exam/participants", body={"name": "Ada"})
    found = json.loads(room("exam", "status", "--answer", "--json", *AS_FACILITATOR).out)
    guess = {"cause": "power_cap", "rank": found["truth"][0]["ranks"][0], "remedy": "power_limit"}
    Client(lab_url, token=joined["secret"]).call("PUT", "/v1/exam/me/answer", body=guess)
    shown = room("exam", "status").out
    assert "Ada" in shown
    assert "hidden" in shown
    assert "power_cap" not in shown
    assert "wrong: power_cap, rank" in room("exam", "status", "--answer", *AS_FACILITATOR).out
    assert "left" in room("exam", "extend", "--minutes", "1", *AS_FACILITATOR).out
    assert "ended" in room("exam", "stop", *AS_FACILITATOR).out
    revealed = room("exam", "reveal", *AS_FACILITATOR).out
    assert "revealed" in revealed
    assert "wrong: power_cap" in revealed
    assert "hidden" not in revealed
    assert "no exam" in room("exam", "forget", *AS_FACILITATOR).out


@pytest.mark.parametrize("what", ["start", "extend", "stop", "reveal", "forget"])
def test_who_has_no_token_controls_nothing(room: Command, what: str) -> None:
    status, out, err = room("exam", what)
    assert (status, out) == (2, "") or (status, out) == (1, "")
    assert "token" in err


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (("start", "--minutes", "0.5"), "--minutes"),
        (("start", "--kind", "nothing"), "--kind"),
        (("start", "--scenario", "nothing"), "--scenario"),
        (("start", "--preset", "nothing"), "--preset"),
    ],
)
def test_a_mistake_is_named_as_it_was_typed(room: Command, words: tuple[str, ...], key: str) -> None:
    status, out, err = room("exam", *words, *AS_FACILITATOR)
    assert (status, out) == (2, "")
    assert key in err
