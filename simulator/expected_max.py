"""The mean of the largest of many normals, by Gauss-Legendre quadrature.

`E[max] = a + ∫ (1 - F(x)^n) dx` from an `a` that no draw lies below. The usual `sqrt(2 ln n)` is 15 to 40 % too high.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise

import numpy as np

from simulator.observation import Floats

_MOST = 1_000_000
REACH = 10.0
"""Standard deviations after which a normal is over: 1e-23, also times a million draws."""
_NODES = 400
_ROOT_HALF = math.sqrt(0.5)
_LEAST_TAIL = 5e-324
"""The smallest double: keeps the logarithm of a vanished probability finite."""


def expected_max(n: int) -> float:
    """Mean of the largest of `n` independent standard normals, `n` from 1 to a million; good to 1e-6."""
    if type(n) is not int or not 1 <= n <= _MOST:
        raise ValueError(f"n: {n!r} is not a whole number from 1 to {_MOST:,}")
    return -REACH + integrate(lambda t: -np.expm1(n * log_cdf(t)), (-REACH, 0.0, REACH))


def log_cdf(t: Floats) -> Floats:
    """Logarithm of the standard normal distribution function; same shape."""
    tails = (0.5 * math.erfc(abs(x) * _ROOT_HALF) for x in t.ravel().tolist())
    tail = np.maximum(np.fromiter(tails, dtype=np.float64, count=t.size), _LEAST_TAIL).reshape(t.shape)
    return np.where(t > 0.0, np.log1p(-tail), np.log(tail))


def integrate(function: Callable[[Floats], Floats], edges: Sequence[float]) -> float:
    """Integral from the first to the last edge, one panel of 400 nodes between neighbours."""
    nodes, weights = _rule()
    total = 0.0
    for low, high in pairwise(edges):
        half = 0.5 * (high - low)
        total += half * float(weights @ function(low + half * (nodes + 1.0)))
    return total


@cache
def _rule() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return nodes, weights
