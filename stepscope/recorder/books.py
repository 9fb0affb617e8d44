"""Where the time of one rank went, and what its steps came to. Fed with moments in order, by whatever clock.

At every moment the rank is in exactly one phase, so the phases add up to the time since the start. What no phase claims
is `stall`, between steps and inside one: nothing is known to be going on.
"""

from __future__ import annotations

import threading
from bisect import bisect_left

from simulator.names import PHASES, STEP_SECONDS_BUCKETS

RECORDED = tuple(name for name in PHASES if name != "collective_wait")
"""A rank cannot tell waiting in a collective from transferring: `collective` is both."""
PHASE_INDEX = {name: index for index, name in enumerate(RECORDED)}
DATA_WAIT, H2D, FORWARD, BACKWARD, COLLECTIVE, OPTIMIZER, CHECKPOINT, STALL = range(len(RECORDED))


class Books:
    """Hold `lock` to call anything. Moments are seconds of one clock that never goes back."""

    def __init__(self, now: float, *, flops_per_token: float) -> None:
        # Its own thread may take it again: a signal handler that writes a checkpoint runs in the middle of things.
        self.lock = threading.RLock()
        self.started = now
        self.seconds = [0.0] * len(RECORDED)
        self.phase = STALL
        self.since = now
        self.steps = self.tokens = self.samples = self.checkpoints = 0
        self.step_seconds = 0.0
        self.step_counts = [0] * (len(STEP_SECONDS_BUCKETS) + 1)
        self.last_step: float | None = None
        self._flops_per_token = flops_per_token
        self._in_step = False
        self._began = now
        self._progressed = now
        self._ahead = 0.0
        """Time since the last step in which its successor's batch was waited for or copied: part of that step."""

    @property
    def model_flops(self) -> float:
        """Model FLOPs of the steps that ended."""
        return self.tokens * self._flops_per_token

    def turn(self, phase: int, now: float) -> None:
        """From now on the rank is in this phase."""
        elapsed = now - self.since
        if elapsed > 0.0:
            self.seconds[self.phase] += elapsed
            if self.phase <= H2D and not self._in_step:
                self._ahead += elapsed
            self.since = now
        self.phase = phase

    def begin_step(self, now: float) -> None:
        """A step begins; the wait for its batch just before belongs to it."""
        self.turn(self.phase, now)
        self._began = self._progressed = now - self._ahead
        self._ahead = 0.0
        self._in_step = True

    def progress(self, now: float) -> None:
        """The optimizer has stepped: `end_at_progress` will end the step here."""
        self._progressed = now

    def end_step(self, tokens: int, samples: int, now: float) -> None:
        """The step is done: `tokens` and `samples` of the whole job."""
        self._end(tokens, samples, now, at=now)

    def end_at_progress(self, tokens: int, samples: int, now: float) -> None:
        """The step was done when the optimizer had stepped; what came after was not known to be outside of it."""
        self._end(tokens, samples, now, at=self._progressed)

    def abandon_step(self, now: float) -> None:
        """The step ended without being done. Its time stays in the phases."""
        self.turn(self.phase, now)
        self._in_step = False

    def checkpoint_written(self, now: float) -> None:
        """One more checkpoint."""
        self.checkpoints += 1

    def seconds_until(self, now: float) -> list[float]:
        """Seconds in each phase of RECORDED, the running one up to now."""
        seconds = self.seconds.copy()
        seconds[self.phase] += max(0.0, now - self.since)
        return seconds

    def _end(self, tokens: int, samples: int, now: float, *, at: float) -> None:
        self.turn(self.phase, now)
        self._in_step = False
        duration = max(0.0, at - self._began)
        self.step_seconds += duration
        self.step_counts[bisect_left(STEP_SECONDS_BUCKETS, duration)] += 1
        self.steps += 1
        self.tokens += tokens
        self.samples += samples
        self.last_step = at
