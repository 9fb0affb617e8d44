"""Whatever a facilitator does in whatever order, the truth is hidden from the start of an exam until it is revealed."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepscope.exam.exam import MOST_SECONDS, State
from tests.api.conftest import Bench
from tests.api.exam_room import BEARER

AFTER: dict[tuple[State, str], State] = {
    ("idle", "start"): "running",
    ("revealed", "start"): "running",
    ("running", "stop"): "ended",
    ("ended", "reveal"): "revealed",
    ("revealed", "reveal"): "revealed",
}
"""What is allowed, and where it leads. `forget` always leads to idle, `extend` leaves a running one running."""
MINUTE = 60.0
DEEDS = st.sampled_from(["start", "stop", "reveal", "extend", "forget", "minute", "join"])


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(DEEDS, min_size=4, max_size=14))
def test_the_truth_is_hidden_from_start_to_reveal(deeds: list[str]) -> None:
    bench = Bench()
    bench.engine.pump()
    state: State = "idle"
    left = 0.0
    for number, deed in enumerate(deeds):
        if deed == "minute":
            bench.clock.turn(MINUTE)
            left -= MINUTE
            state = "ended" if state == "running" and left <= 0 else state
        elif deed == "join":
            joined = bench.client.post("/v1/exam/participants", json={"name": f"n{number}"})
            assert joined.status_code == (201 if state == "running" else 409)
        else:
            body = {"start": {"duration_seconds": MINUTE, "kinds": ["power_cap"]}, "extend": {"seconds": MINUTE}}
            answer = bench.client.post(f"/v1/exam/{deed}", json=body.get(deed), headers=BEARER)
            if deed == "forget":
                wanted: State | None = "idle"
            elif deed == "extend":
                wanted = "running" if state == "running" else None
            else:
                wanted = AFTER.get((state, deed))
            assert answer.is_success == (wanted is not None), answer.text
            if wanted is not None:
                left = MINUTE if deed == "start" else left + MINUTE * (deed == "extend")
                state = wanted
        shown = bench.get("/v1/exam")
        assert shown["state"] == state
        assert (shown["truth"] is not None) == (state == "revealed")
        assert (bench.client.get("/v1/faults").status_code == 401) == (state in ("running", "ended"))
        assert bench.get("/v1/state")["position"]["truth_hidden"] == (state in ("running", "ended"))
        assert 0 <= (shown["remaining_seconds"] or 0) <= MOST_SECONDS
