"""Step-time noise of the large presets against MLPerf logs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import numpy as np

from simulator.observation import Floats
from simulator.presets import preset
from tests.oracles.oracle import Oracle, column, rows
from tests.oracles.runs import healthy_durations, preset_durations

_FILE = "mlperf_step_jitter.csv"
_SOURCE = "MLPerf Training v3.1 and v5.0 logs, 66 runs on 256 to 10,752 GPUs: their range"
_SEEDS = {"honest-64xh100": tuple(range(1, 9)), "llama3-405b-16k": (1, 2, 3)}
_STALLED = 1.1
"""A step that is longer than this many medians has stalled."""


def robust_cv(durations: Floats) -> float:
    """1.4826 × the median absolute deviation over the median, in percent: blind to stalls."""
    median = np.median(durations)
    return float(1.4826 * np.median(np.abs(durations - median)) / median) * 100.0


def cv(durations: Floats) -> float:
    """Standard deviation over mean, in percent."""
    return float(durations.std() / durations.mean()) * 100.0


def p99(durations: Floats) -> float:
    """99th percentile over the median."""
    return float(np.percentile(durations, 99) / np.median(durations))


def longest(durations: Floats) -> float:
    """The longest step over the median."""
    return float(durations.max() / np.median(durations))


def over_runs(measure: Callable[[Floats], float], name: str) -> float:
    """The largest value of a measure over several runs of a preset."""
    return max(measure(preset_durations(name, seed)) for seed in _SEEDS[name])


@cache
def stall_excess() -> float:
    """Root mean square of how much longer than the median a stalled step is, in steps, over 20,000 steps."""
    job = preset("honest-64xh100")
    alone = replace(job, cluster=replace(job.cluster, nodes=2, gpus_per_node=1))
    durations = healthy_durations(alone, steps=20_000)
    excess = durations / np.median(durations) - 1.0
    return float(np.sqrt(np.mean(excess[excess > _STALLED - 1.0] ** 2)))


def logged_stall_excess() -> tuple[float, float]:
    """The least and the greatest of the same over the logged runs that stalled, from their CV."""
    runs = [(float(r["cv"]), int(r["n_steps"]), int(r["n_over_110pct"])) for r in rows(_FILE)]
    excess = [value * (steps / stalled) ** 0.5 for value, steps, stalled in runs if stalled]
    return min(excess), max(excess)


def _preset_oracles(name: str) -> tuple[Oracle, ...]:
    short, title = name.split("-")[0], f"{name}, {len(_SEEDS[name])} runs"

    def oracle(kind: str, what: str, measure: Callable[[Floats], float], key: str, *, percent: bool = False) -> Oracle:
        scale = 100.0 if percent else 1.0
        return Oracle(
            f"{kind}-{short}",
            f"{what}, {title}: largest",
            _SOURCE,
            partial(over_runs, measure, name),
            low=min(column(_FILE, key)) * scale,
            high=max(column(_FILE, key)) * scale,
            unit="%" if percent else "medians",
        )

    return (
        oracle("robust-cv", "robust CV of the step time", robust_cv, "mad_cv", percent=True),
        oracle("cv", "CV of the step time", cv, "cv", percent=True),
        oracle("p99", "99th percentile of the step time", p99, "p99"),
        oracle("longest", "longest step", longest, "max"),
    )


_LEAST, _MOST = logged_stall_excess()
ORACLES = (
    *_preset_oracles("honest-64xh100"),
    *_preset_oracles("llama3-405b-16k"),
    Oracle("stall-excess", "what a stalled step costs, root mean square", _SOURCE, stall_excess,
           low=_LEAST, high=_MOST, unit="steps"),
)  # fmt: skip
