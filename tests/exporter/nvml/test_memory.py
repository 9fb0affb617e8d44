"""A source that runs for weeks holds no more than one that ran for a minute."""

from __future__ import annotations

import gc
import threading
import tracemalloc

from tests.exporter.nvml.fake import gpm, healthy
from tests.exporter.nvml.support import Rig

_CYCLES = 300
_LEAK_BYTES = 64
"""Per cycle: less than any object that a cycle could leave behind."""


def _grown(rig: Rig) -> int:
    tracemalloc.start()
    try:
        for _ in range(50):
            rig.cycle()
        threads = threading.active_count()
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(_CYCLES):
            rig.cycle()
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert threading.active_count() == threads
    assert rig.fake.violations == []
    return grown


def test_healthy_boards() -> None:
    parts = [{"id": number, "name": "H100 MIG 1g.10gb", "memory": [9, 6, 3], "gpm": gpm()} for number in range(3)]
    assert _grown(Rig(healthy(0), healthy(1, mig=True, instances=parts))) < _LEAK_BYTES * _CYCLES


def test_a_lost_board_and_sessions_begun_anew() -> None:
    rig = Rig(healthy(0), healthy(1, raise_all_after_handle=15), healthy(2, raises={"nvmlDeviceGetPowerUsage": 4}))
    assert _grown(rig) < _LEAK_BYTES * _CYCLES
    assert rig.fake.calls["nvmlInit", -1] > 5
    assert rig.fake.buffers == 4
