"""A step that never ends: somebody does not arrive at its collective, or the collective does not come to an end.

Whoever waits does so inside a kernel, so that GPU utilization stays at 100 and the phases go on growing by one per
second, while no step is counted any more. A real job ends such a step by its collective timeout, ten minutes and more
after it began; here it stands until the cause is gone, as under a job that was started without one, and begins again.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from faults.effects import Effects
from simulator.timeline import BACKWARD, COLLECTIVE, COLLECTIVE_WAIT, STALL, StepBlock

STANDSTILL_SECONDS = 1e8
"""Length that stands for "never": three years."""


def standing(block: StepBlock, effects: Effects) -> StepBlock:
    """The one step of `block` as it goes when it never ends.

    Who is missing stalls behind its own work, the others wait for it; without anyone missing all are in the transfer.
    Of a job that is down nobody does anything.
    """
    assert len(block) == 1
    phases = block.phases.copy()
    missing = effects.missing | effects.is_down
    if effects.is_down:
        phases[:] = 0.0
        phases[:, STALL] = STANDSTILL_SECONDS
    elif missing.any():
        phases[:, BACKWARD + 1 :] = 0.0
        rest = STANDSTILL_SECONDS - phases.sum(axis=1)
        phases[:, COLLECTIVE_WAIT] = np.where(missing, 0.0, rest)
        phases[:, STALL] = np.where(missing, rest, 0.0)
    else:
        phases[:, COLLECTIVE:] = 0.0
        phases[:, COLLECTIVE] = STANDSTILL_SECONDS - phases.sum(axis=1)
    return replace(
        block,
        durations=np.full(1, STANDSTILL_SECONDS),
        phases=phases,
        matmul_seconds=block.matmul_seconds * (not effects.is_down),
        gaps=None if effects.is_down else block.gaps,
        kernel_seconds=np.where(missing, 0.0, STANDSTILL_SECONDS - block.arrivals),
        checkpointed=np.zeros(1, dtype=bool),
    )
