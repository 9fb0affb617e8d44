"""The ranks that a fault hits, for an answer of bounded size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MOST_LISTED = 1_024
"""Ranks named one by one at most."""
MOST_RANGES = 256
"""Ranges of neighbouring ranks given at most."""


def listing(ranks: NDArray[np.int64]) -> dict[str, object]:
    """How many ranks, the first of them one by one, and the first ranges `[first, last]` of neighbours.

    `ranks` are sorted and not empty. Up to MOST_LISTED of them the list is complete.
    """
    return {
        "resolved_targets": ranks[:MOST_LISTED].tolist(),
        "resolved_count": len(ranks),
        "resolved_ranges": ranges(ranks, most=MOST_RANGES),
    }


def ranges(ranks: NDArray[np.int64], *, most: int) -> list[list[int]]:
    """First and last of each run of neighbours in `ranks`, which are sorted and not empty; the first `most` of them."""
    breaks = np.flatnonzero(np.diff(ranks) > 1)[:most]
    firsts, lasts = np.append(ranks[:1], ranks[breaks + 1]), np.append(ranks[breaks], ranks[-1:])
    pairs: list[list[int]] = np.column_stack((firsts, lasts))[:most].tolist()
    return pairs
