"""Reports as a recorder sends them, whole and well-formed until a test changes something."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable

from exporter.sources.job.check import check
from exporter.sources.job.report import JOB_PHASES, Report

NOW = 1_700_000_000.0
"""The time at which these are made and arrive."""

Fields = dict[str, object]


def fields(**changes: object) -> Fields:
    """A report of the third rank of eight after 20 steps; a value of `...` leaves its key out."""
    whole: Fields = {
        "v": 1,
        "run": "night",
        "rank": 2,
        "world_size": 8,
        "local_rank": 2,
        "session": "5e55",
        "started": NOW - 60.0,
        "time": NOW,
        "seq": 60,
        "final": False,
        "model": "gpt-1.2b",
        "precision": "bf16",
        "strategy": "ddp",
        "flops_convention": "6N",
        "gpu": {"uuid": gpu_uuid(2), "visible_devices": "0,1,2,3", "device_index": 2, "name": "NVIDIA H100 80GB HBM3"},
        "peak_flops_per_second": 989.4e12,
        "phases": dict.fromkeys(JOB_PHASES, 7.5),
        "collective_seconds": 11.25,
        "collective_bytes": 3_000_000,
        "queue_batches": 3,
        "capacity_batches": 16,
        "steps": 20,
        "tokens": 40_960,
        "samples": 160,
        "model_flops": 1.5e15,
        "nonfinite_steps": 1,
        "skipped_steps": 2,
        "checkpoints": 3,
        "grad_norm_spikes": 4,
        "step_seconds": {"sum": 58.5, "counts": [0] * 12 + [1, 17, 2] + [0] * 6},
        "loss": 2.5,
        "grad_norm": 0.25,
        "learning_rate": 3e-4,
        "loss_scale": 1.0,
        "last_step_time": NOW - 0.5,
    }
    return {key: value for key, value in (whole | changes).items() if value is not ...}


def datagram(**changes: object) -> bytes:
    """`fields` as they travel."""
    return json.dumps(fields(**changes)).encode()


def report(**changes: object) -> Report:
    """`fields` as they are believed at NOW."""
    return check(datagram(**changes), now=NOW)


def gpu_uuid(index: int) -> str:
    """UUID of a board of the test node."""
    return f"GPU-0000000{index}-5eed-4000-8000-00000000000{index}"


class Clock:
    """Unix seconds, moved by hand."""

    def __init__(self, now: float = NOW) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def no_peak(name: str, precision: str) -> float | None:
    """Knows no GPU."""
    return None


def until(condition: Callable[[], bool], *, looks: int = 2000) -> None:
    """Wait until another thread has done something; AssertionError after some ten seconds."""
    pause = threading.Event()
    for _ in range(looks):
        if condition():
            return
        pause.wait(0.005)
    raise AssertionError("it never happened")
