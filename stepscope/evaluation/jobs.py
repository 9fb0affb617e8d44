"""The jobs on which verdicts are measured: the presets up to 64 GPUs, and the large ones' shape up to 1,024."""

from __future__ import annotations

from dataclasses import replace

from simulator.job import JobSpec
from simulator.presets import PRESETS

_SHIPPED = ("workshop-4gpu", "fragile-4gpu", "trap-87", "anatomy-32gpu", "honest-64xh100", "case-64xh100")
_LARGER_NODES = (32, 128)


def jobs() -> tuple[JobSpec, ...]:
    """4 to 1,024 GPUs."""
    honest = PRESETS["honest-64xh100"]
    larger = tuple(
        replace(honest, preset=f"honest-{nodes * 8}xh100", cluster=replace(honest.cluster, nodes=nodes))
        for nodes in _LARGER_NODES
    )
    return tuple(PRESETS[name] for name in _SHIPPED if name in PRESETS) + larger
