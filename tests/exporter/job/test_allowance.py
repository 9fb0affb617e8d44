"""How many datagrams of a user are looked at."""

from __future__ import annotations

from exporter.sources.job.allowance import Allowance
from tests.exporter.job.reports import Clock


def test_a_user_has_so_many_a_second_and_no_more_after_a_long_silence() -> None:
    clock = Clock(100.0)
    allowance = Allowance(10, clock=clock)
    assert [allowance.spend(1) for _ in range(12)] == [True] * 10 + [False] * 2
    clock.now += 0.5
    assert [allowance.spend(1) for _ in range(6)] == [True] * 5 + [False]
    clock.now += 1e6
    assert [allowance.spend(1) for _ in range(12)] == [True] * 10 + [False] * 2


def test_one_users_flood_costs_another_nothing() -> None:
    allowance = Allowance(10, clock=Clock())
    for _ in range(100):
        allowance.spend(1)
    assert [allowance.spend(2) for _ in range(10)] == [True] * 10


def test_many_uids_share_one_allowance_and_fill_no_memory() -> None:
    clock = Clock()
    allowance = Allowance(10, clock=clock)
    known = [allowance.spend(user) for user in range(64)]
    assert all(known)
    assert [allowance.spend(user) for user in range(64, 5000)].count(True) == 10
    assert allowance.spend(3), "who was known keeps an allowance"
    clock.now += 2.0
    assert [allowance.spend(user) for user in range(5000, 5064)] == [True] * 64
