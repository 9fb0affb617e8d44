"""The straggler calculator against numerical integration and against itself."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

from simulator.straggler import efficiency, expected_max, monte_carlo
from tests.oracles.oracle import Oracle, rows

_TABLE = "expected maximum of N standard normals, N = 1 to 131,072, by numerical integration"
_LOGNORMAL = {
    "lognormal_emax_over_mean_s0.01": 0.01,
    "s0.02": 0.02,
    "s0.05": 0.05,
    "s0.10": 0.10,
    "s0.20": 0.20,
}


@cache
def expected_max_error() -> float:
    """Largest difference from the table."""
    table = rows("emax_normal.csv")
    return max(abs(expected_max(int(row["n"])) - float(row["emax_std_normal"])) for row in table)


@cache
def jittered_error(distribution: str) -> float:
    """Largest difference of the step factor from the table, jitter 1 to 20 %."""
    errors = []
    for row, (key, sigma) in product(rows("emax_normal.csv"), _LOGNORMAL.items()):
        found = efficiency(int(row["n"]), jitter=sigma, distribution=distribution).step_factor
        normal = 1.0 + sigma * float(row["emax_std_normal"])
        errors.append(abs(found - (float(row[key]) if distribution == "lognormal" else normal)))
    return max(errors)


@cache
def largest_deviation() -> float:
    """Exact against drawn, in standard errors of the draw, over jobs from 8 to 131,072 GPUs at fixed seeds."""
    cases: list[dict[str, Any]] = [
        {"jitter": 0.01},
        {"jitter": 0.003, "slowdown": 1.01},
        {"jitter": 0.02, "slowdown": 1.5, "slow_ranks": 8},
        {"jitter": 0.01, "stall_factor": 2.0, "stall_rate": 1 / 250},
        {"jitter": 0.2, "distribution": "lognormal"},
        {"jitter": 0.05, "distribution": "lognormal", "slowdown": 1.1, "stall_factor": 3.0, "stall_rate": 0.01},
    ]
    found = []
    for gpus, case in product((8, 64, 1_024, 16_384, 131_072), cases):
        exact, drawn = efficiency(gpus, **case).step_factor, monte_carlo(gpus, **case)
        found.append(abs(exact - drawn.step_factor) / drawn.standard_error)
    return max(found)


def persistent_spread() -> float:
    """Difference between the most and the least that a persistent factor of 1.97 costs from 8 to 131,072 GPUs."""
    factors = [efficiency(8 << doubling, slowdown=1.97).step_factor for doubling in range(15)]
    return max(factors) - min(factors)


ORACLES = (
    Oracle("expected-max", "E[max] of N normals: largest error", _TABLE, expected_max_error, high=1e-4, digits=7),
    Oracle("jitter-normal", "step factor under normal jitter: largest error", _TABLE,
           lambda: jittered_error("normal"), high=1e-4, digits=7),
    Oracle("jitter-lognormal", "step factor under lognormal jitter: largest error", _TABLE,
           lambda: jittered_error("lognormal"), high=1e-4, digits=7),
    Oracle("monte-carlo", "exact against drawn step factor, 30 jobs: largest deviation",
           "direct sampling at a fixed seed", largest_deviation, high=4.0, unit="standard errors"),
    Oracle("persistent", "cost of one rank 1.97 × slower, 8 to 131,072 GPUs: spread",
           "max(f, 1, …, 1) = f; the factor is that of a slow worker in ByteDance's traces", persistent_spread,
           low=0.0, high=0.0, digits=1),
)  # fmt: skip
