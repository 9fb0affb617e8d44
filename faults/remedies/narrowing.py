"""Taking ranks out of what hits several of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from faults.effects import EccError, HostPath, Outage
from faults.remedy import Dose

Hit = TypeVar("Hit", HostPath, EccError, Outage)


def elsewhere(hits: Iterable[Hit], dose: Dose) -> list[Hit]:
    """What is left of them on other ranks than the dose's."""
    left = [replace(hit, ranks=np.setdiff1d(hit.ranks, dose.ranks)) for hit in hits]
    return [hit for hit in left if len(hit.ranks)]
