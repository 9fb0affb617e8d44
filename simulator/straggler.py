"""What slow ranks, jitter and rare stalls cost a synchronous job of N GPUs.

A step lasts as long as its slowest rank, so its mean is an expected maximum. Here it is integrated exactly, and drawn
step by step as a check. Times are in units of the mean step of one healthy rank alone, without stalls.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.expected_max import REACH, expected_max, integrate, log_cdf
from simulator.observation import Floats
from simulator.slowness import DISTRIBUTIONS, MOST_GPUS, Slowness
from simulator.streams import generator

__all__ = [
    "DEFAULT_SEED", "DISTRIBUTIONS", "MOST_COUNTS", "MOST_GPUS", "Efficiency", "MonteCarlo", "Slowness", "efficiency",
    "expected_max", "monte_carlo", "table",
]  # fmt: skip

MOST_COUNTS = 64
"""Longest list of GPU counts that one table answers."""
DEFAULT_SEED = 1

_NO_JITTER = 1e-12
"""Below this jitter vanishes in the rounding of the step itself."""
_NORMALS, _NORMALS_AT_ONCE = 4_000_000, 1_000_000
_MOST_SAMPLES, _FEWEST_SAMPLES = 100_000, 64
_STALL_DRAWS = 4_000_000


@dataclass(frozen=True, slots=True)
class Efficiency:
    """How much of the work of N healthy GPUs a job of N GPUs does."""

    gpus: int
    efficiency: float
    """1 ÷ step_factor."""
    step_factor: float
    """Mean step over the mean step of one healthy rank alone, without stalls."""


@dataclass(frozen=True, slots=True)
class MonteCarlo:
    """The same step factor by drawing steps."""

    step_factor: float
    standard_error: float
    """Of the mean over the drawn steps; 0 when nothing is random."""


def efficiency(
    gpus: int,
    *,
    slowdown: float = 1.0,
    slow_ranks: int = 1,
    jitter: float = 0.0,
    distribution: str = "normal",
    stall_factor: float = 1.0,
    stall_rate: float = 0.0,
    communication: float = 0.0,
    overlap: float = 0.0,
) -> Efficiency:
    """What a step of `gpus` synchronous ranks costs, exactly. Keys and ValueErrors are those of `Slowness`."""
    return _exact(
        gpus, Slowness(slowdown, slow_ranks, jitter, distribution, stall_factor, stall_rate, communication, overlap)
    )


def monte_carlo(
    gpus: int,
    *,
    slowdown: float = 1.0,
    slow_ranks: int = 1,
    jitter: float = 0.0,
    distribution: str = "normal",
    stall_factor: float = 1.0,
    stall_rate: float = 0.0,
    communication: float = 0.0,
    overlap: float = 0.0,
    seed: int = DEFAULT_SEED,
) -> MonteCarlo:
    """The same by drawing every rank of 64 (a million GPUs) to 100,000 steps; the seed fixes the answer."""
    return _drawn(
        gpus,
        Slowness(slowdown, slow_ranks, jitter, distribution, stall_factor, stall_rate, communication, overlap),
        seed,
    )


def table(
    gpus: Sequence[int],
    *,
    slowdown: float = 1.0,
    slow_ranks: int = 1,
    jitter: float = 0.0,
    distribution: str = "normal",
    stall_factor: float = 1.0,
    stall_rate: float = 0.0,
    communication: float = 0.0,
    overlap: float = 0.0,
    seed: int = DEFAULT_SEED,
) -> list[dict[str, Any]]:
    """Both answers for each GPU count, in the order given: what `stepscope straggler --json` prints."""
    if not 1 <= len(gpus) <= MOST_COUNTS:
        raise ValueError(f"gpus: {len(gpus)} counts are not 1 to {MOST_COUNTS}")
    slowness = Slowness(slowdown, slow_ranks, jitter, distribution, stall_factor, stall_rate, communication, overlap)
    for count in gpus:
        slowness.check(count)
    rows = []
    for count in gpus:
        exact, drawn = _exact(count, slowness), _drawn(count, slowness, seed)
        rows.append(
            {
                "gpus": exact.gpus,
                "efficiency": exact.efficiency,
                "step_factor": exact.step_factor,
                "monte_carlo": {"step_factor": drawn.step_factor, "standard_error": drawn.standard_error},
            }
        )
    return rows


def _exact(gpus: int, slowness: Slowness) -> Efficiency:
    slowness.check(gpus)
    slowest = slowness.without_jitter if slowness.jitter < _NO_JITTER else _expected_slowest(gpus, slowness)
    factor = (slowest + slowness.exposed(gpus)) * slowness.stalled
    return Efficiency(gpus, 1.0 / factor, factor)


def _expected_slowest(gpus: int, slowness: Slowness) -> float:
    """E[max] over the ranks, integrated over the place t of a healthy rank in standard deviations from its mean."""
    slow, factor, jitter = slowness.slow_ranks, slowness.slowdown, slowness.jitter
    lognormal = slowness.distribution == "lognormal"
    if lognormal:
        first, last = (math.log(factor) / jitter + t for t in (-REACH, REACH))
    else:
        first, last = ((factor * (1.0 + t * jitter) - 1.0) / jitter for t in (-REACH, REACH))
    # A panel of its own for each transition, since both may be narrow against the distance between them.
    edges = sorted([-REACH, 0.0, REACH, *((first, 0.5 * (first + last), last) if slow else ())])

    def longer(t: Floats) -> Floats:
        """The chance that a step lasts longer, times how fast a step grows with t."""
        slow_t = t - math.log(factor) / jitter if lognormal else ((1.0 + t * jitter) / factor - 1.0) / jitter
        chance: Floats = -np.expm1((gpus - slow) * log_cdf(t) + slow * log_cdf(slow_t))
        return chance * jitter * (_lognormal(t, jitter) if lognormal else 1.0)

    start = float(_lognormal(np.array(edges[0]), jitter)) if lognormal else 1.0 + edges[0] * jitter
    return start + integrate(longer, edges)


def _drawn(gpus: int, slowness: Slowness, seed: int) -> MonteCarlo:
    slowness.check(gpus)
    slowest, error = slowness.without_jitter, 0.0
    if slowness.jitter >= _NO_JITTER:
        steps = _drawn_steps(gpus, slowness, generator(seed, "straggler", gpus))
        slowest, error = float(steps.mean()), float(steps.std(ddof=1)) / math.sqrt(len(steps))
    stalled, stalled_error = _drawn_stalls(slowness, generator(seed, "straggler stalls"))
    slowest += slowness.exposed(gpus)
    # Stalls hit the whole job, whatever its ranks do, so the two means multiply.
    return MonteCarlo(slowest * stalled, math.hypot(error * stalled, slowest * stalled_error))


def _drawn_steps(gpus: int, slowness: Slowness, rng: np.random.Generator) -> Floats:
    """Length of each drawn step without stalls; shape (samples,)."""
    samples = min(_MOST_SAMPLES, max(_FEWEST_SAMPLES, _NORMALS // gpus))
    at_once = max(1, _NORMALS_AT_ONCE // gpus)
    found = []
    for begin in range(0, samples, at_once):
        ranks = rng.standard_normal((min(at_once, samples - begin), gpus))
        if slowness.distribution == "lognormal":
            ranks = _lognormal(ranks, slowness.jitter)
        else:
            ranks = 1.0 + slowness.jitter * ranks
        ranks[:, : slowness.slow_ranks] *= slowness.slowdown
        found.append(ranks.max(axis=1))
    return np.concatenate(found)


def _drawn_stalls(slowness: Slowness, rng: np.random.Generator) -> tuple[float, float]:
    """Mean factor of stalls and its standard error. They are rare, so they get draws of their own."""
    if slowness.stall_rate in (0.0, 1.0) or slowness.stall_factor == 1.0:
        return slowness.stalled, 0.0
    hits = int(rng.binomial(_STALL_DRAWS, slowness.stall_rate))
    # One more hit and one more miss than drawn: a rare event does not show its own spread in few hits.
    share = (hits + 1.0) / (_STALL_DRAWS + 2.0)
    more = slowness.stall_factor - 1.0
    return 1.0 + more * hits / _STALL_DRAWS, more * math.sqrt(share * (1.0 - share) / _STALL_DRAWS)


def _lognormal(t: Floats, sigma: float) -> Floats:
    """Lognormal with mean 1 of the standard normal `t`; same shape."""
    value: Floats = np.exp(sigma * t - 0.5 * sigma * sigma)
    return value
