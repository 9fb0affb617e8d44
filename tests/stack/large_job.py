"""A training job of many ranks as its exporters would report it, for what a lab with few ranks cannot show."""

from __future__ import annotations

import time
from collections.abc import Iterator

RUN = "large"
RANKS = 100
SLOW_RANK = 77
"""Works half as long again as the others, which wait for it."""
PER_NODE = 8
STEP_SECONDS = 0.25
_WORK, _SLOW_WORK = 0.5, 0.75
"""Shares of wall clock."""


class LargeJob:
    """Counters that grow with the clock from the moment that this is made."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    def page(self) -> str:
        """All ranks and the run on one page, as text 0.0.4."""
        return "\n".join(self._lines(time.monotonic() - self._began)) + "\n"

    def _lines(self, seconds: float) -> Iterator[str]:
        yield f'training_run_info{{run="{RUN}"}} 1'
        yield "# TYPE training_step_seconds histogram"
        steps = int(seconds / STEP_SECONDS)
        yield f'training_step_seconds_bucket{{run="{RUN}",le="+Inf"}} {steps}'
        yield f'training_step_seconds_sum{{run="{RUN}"}} {steps * STEP_SECONDS}'
        yield f'training_step_seconds_count{{run="{RUN}"}} {steps}'
        yield "# TYPE training_phase_seconds_total counter"
        for rank in range(RANKS):
            # A chip differs from the next by a little, so that the order of the ranks is never a tie.
            work = _SLOW_WORK if rank == SLOW_RANK else _WORK * (1 + rank / 1e5)
            for phase, share in (("forward", work), ("collective_wait", 1 - work)):
                yield f'training_phase_seconds_total{{run="{RUN}",rank="{rank}",phase="{phase}"}} {seconds * share}'
        for rank in range(RANKS):
            node, gpu = divmod(rank, PER_NODE)
            place = f'Hostname="large-{node:02d}",gpu="{gpu}",UUID="GPU-large-{rank}"'
            yield f'training_rank_info{{run="{RUN}",rank="{rank}",{place}}} 1'
