"""Apply one kind to a small cluster."""

from __future__ import annotations

import numpy as np

from faults.effects import Effects, Topology
from faults.kind import Application, Kind, ParamValue

CLUSTER = Topology(8, 4, overlaps_nodes=True)


def application(
    kind: Kind, ranks: tuple[int, ...] = (2, 5), intensity: float = 1.0, **params: ParamValue
) -> Application:
    """One fault called `f` of that kind, other parameters at their defaults."""
    return Application("f", 9, np.array(ranks), intensity, kind.default_params() | params, CLUSTER)


def effects_of(kind: Kind, *applications: Application) -> Effects:
    """What these do to a healthy job."""
    effects = Effects.neutral(CLUSTER)
    for each in applications:
        kind.apply(effects, each)
    return effects
