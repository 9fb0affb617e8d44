"""A facilitator and participants on a bench."""

from __future__ import annotations

from typing import Any

from tests.api.conftest import TOKEN, Bench

BEARER = {"Authorization": f"Bearer {TOKEN}"}


class Room:
    """An exam on a lab, as those in the room use it."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.client = bench.client

    def start(self, **options: Any) -> dict[str, Any]:
        """Begin one."""
        return self.control("start", options, 201)

    def control(self, what: str, body: object = None, status: int = 200) -> dict[str, Any]:
        """What the facilitator does."""
        answer = self.client.post(f"/v1/exam/{what}", json=body, headers=BEARER)
        assert answer.status_code == status, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def truth(self) -> dict[str, Any]:
        """What the facilitator sees."""
        return self.bench.get("/v1/exam/answer", **BEARER)

    def right(self) -> dict[str, Any]:
        """An answer that is right in everything."""
        first = self.truth()["truth"][0]
        return {
            "cause": first["cause"],
            "rank": None if first["ranks"] is None else first["ranks"][0],
            "remedy": first["remedies"][0],
        }

    def join(self, name: str) -> dict[str, str]:
        """The headers of somebody who joined."""
        answer = self.client.post("/v1/exam/participants", json={"name": name})
        assert answer.status_code == 201, answer.text
        return {"Authorization": f"Bearer {answer.json()['secret']}"}

    def answer(self, me: dict[str, str], guess: dict[str, Any]) -> Any:
        """Hand in an answer."""
        return self.client.put("/v1/exam/me/answer", json=guess, headers=me)

    def hint(self, me: dict[str, str], number: int) -> Any:
        """Ask for a hint."""
        return self.client.put(f"/v1/exam/me/hints/{number}", headers=me)

    def board(self) -> dict[str, dict[str, Any]]:
        """The scoreboard as everybody sees it, by name."""
        return {row["name"]: row for row in self.bench.get("/v1/exam")["board"]}
