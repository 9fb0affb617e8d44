"""The compose stack as people start it: a fault put through the published port reaches its training alert in a minute.

One stack for each fault, side by side, so that the minute passes once.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from functools import partial

import pytest

from tests.stack.composed import SERVICES, Stack, composed
from tests.stack.real import eventually
from tests.stack.test_alerts_live import FIRES, HEALTHY, MINUTE, best_known

pytestmark = pytest.mark.stack

FAULTS = sorted(FIRES.keys() - {HEALTHY})


def alerts(stack: Stack, which: str) -> set[str]:
    """Names of alerts of a set that fire."""
    query = f'ALERTS{{alertstate="firing", set="{which}", alertname!="Watchdog"}}'
    return {dict(labels)["alertname"] for labels in stack.prometheus.vector(query)}


def one_fires(stack: Stack, fault: str) -> bool | None:
    """Whether a training alert that this fault is known by fires."""
    return bool(alerts(stack, "training") & FIRES[fault]) or None


def test_four_faults_through_the_published_port() -> None:
    with ExitStack() as running:
        stacks = {fault: running.enter_context(composed(f"alerts-{fault[:6].strip('_')}")) for fault in FAULTS}
        for stack in stacks.values():
            stack.up(*SERVICES)
        for fault, stack in stacks.items():
            eventually(f"{fault}: the job has a best", partial(best_known, stack.prometheus, count=1), within=90)
        put_at = {}
        for fault, stack in stacks.items():
            stack.lab.put_fault("broken", kind=fault, open_ended=True)
            put_at[fault] = time.time()
        for fault, stack in stacks.items():
            left = put_at[fault] + MINUTE - time.time()
            eventually(f"{fault}: a training alert fires", partial(one_fires, stack, fault), within=left)
        for fault, stack in stacks.items():
            assert alerts(stack, "traditional") == set(), fault
            assert alerts(stack, "training") <= FIRES[fault], fault
