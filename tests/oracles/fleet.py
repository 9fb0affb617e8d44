"""A fleet of jobs, half of it communication-bound, as a monitoring system sees it."""

from __future__ import annotations

from functools import cache

import numpy as np

from faults.parse import parse_fault
from simulator.headless import start
from simulator.job import JobSpec
from simulator.observation import Floats
from simulator.presets import preset
from tests.oracles.oracle import Oracle, rows
from tests.oracles.scaling import fixed_batch

_SOURCE = "AcmeTrace (NSDI'24), DCGM percentiles of two A100 clusters: medians 98 to 99 % and 33 to 50 %"
_SETTLING, _SECONDS = 5, 30
_Job = tuple[JobSpec, tuple[str, ...]]


def jobs() -> tuple[tuple[_Job, ...], tuple[_Job, ...]]:
    """256 GPUs that mostly wait for the fabric, and 256 that mostly compute, some of them with a fault."""
    large, one_node = preset("honest-64xh100"), preset("workshop-4gpu")
    computing: tuple[_Job, ...] = (
        (large, ()),
        (large, ()),
        (large, ("straggler:ranks=9,slowdown=2",)),
        *([(one_node, ())] * 12),
        (one_node, ("straggler:ranks=1,slowdown=1.5",)),
        (one_node, ("straggler:ranks=3,slowdown=3",)),
        (one_node, ("io_starvation:mode=tail",)),
        (one_node, ("gradient_explosion",)),
    )
    return ((fixed_batch(256), ()),), computing


@cache
def readings() -> tuple[Floats, Floats]:
    """GPU_UTIL and SM_ACTIVE in percent: one reading per GPU and second, as a scrape of the fleet finds them."""
    waiting, computing = jobs()
    assert sum(job.ranks for job, _ in waiting) == sum(job.ranks for job, _ in computing)
    util, active = [], []
    for seed, (job, faults) in enumerate(waiting + computing):
        run = start(job, seed=seed, faults=[parse_fault(text) for text in faults], full_queues=False)
        for second in range(_SETTLING + _SECONDS):
            devices = run.advance().devices
            if second >= _SETTLING:
                util.append(devices.gpu_util_percent)
                active.append(devices.sm_active * 100.0)
    return np.concatenate(util), np.concatenate(active)


def logged_medians(metric: str) -> list[float]:
    """The same medians of the two published clusters."""
    return [float(row["p50"]) for row in rows("acme_dcgm_quantiles.csv") if row["metric"] == metric]


ORACLES = (
    Oracle("fleet-util", "GPU_UTIL of 512 GPUs, half of them communication-bound: median", _SOURCE,
           lambda: float(np.median(readings()[0])), low=97.0, unit="%", digits=1),
    Oracle("fleet-sm", "SM_ACTIVE of the same GPUs: median", _SOURCE,
           lambda: float(np.median(readings()[1])), high=55.0, unit="%", digits=1),
)  # fmt: skip
