"""What the script is doing now: the step that is open, the phase that is open, and what hooks see beneath it.

Two layers. Hooks on loader, model and optimizer set the lower one and never complain. A phase that the script opens
lies over it until it is left; only `collective` shows through, since nothing but a hook sees where it begins. A step is
opened by the script, or else by the loader: then it lasts from one batch to the next after the optimizer's step.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from types import TracebackType

from stepscope.recorder.books import (
    CHECKPOINT,
    COLLECTIVE,
    DATA_WAIT,
    H2D,
    OPTIMIZER,
    PHASE_INDEX,
    RECORDED,
    STALL,
    Books,
)
from stepscope.recorder.timeline import Timeline

_NONE = -1
_StepEnd = Callable[[int, int, float], None]


class Marks:
    """Turns what happens in the training thread into entries of the books."""

    def __init__(self, books: Books, timeline: Timeline, *, tokens: int, samples: int) -> None:
        self.timeline = timeline
        self.closed = False
        self.accumulate: int | None = None
        """Batches per step, for a loader that counts steps; None: as the optimizer steps, or 1 without one."""
        self.model_watched = self.optimizer_watched = False
        self.steps = 0
        """Steps that the script has done; the device may be behind."""
        self._books = books
        self._tokens, self._samples = tokens, samples
        self._thread = 0
        self._open = _NONE
        self._beneath = STALL
        self._step_open = False
        self._by_loader = False
        self._loader_counts = True
        self._batches = self._updates = 0
        self.phases = {name: Phase(self, index) for name, index in PHASE_INDEX.items()}

    # What the script says. Mistakes in the script are ValueErrors; they do not depend on time or on the machine.

    def open_phase(self, phase: int) -> None:
        """The script enters a phase."""
        if self.closed:
            return
        if get_ident() != self._thread:
            self._adopt("phase")
        if self._open != _NONE:
            raise ValueError(f"phase: {RECORDED[phase]!r} is opened inside {RECORDED[self._open]!r}; leave that first")
        self._open = phase
        self.timeline.turn(phase)

    def leave_phase(self, phase: int, *, failed: bool) -> None:
        """The script leaves it."""
        if self.closed or self._open != phase:
            return
        self._open = _NONE
        if phase == CHECKPOINT and not failed:
            self.checkpoint_written()
        self.timeline.turn(self._beneath)

    def open_step(self) -> None:
        """The script begins a step. From the first time on, a loader does not."""
        if self.closed:
            return
        if get_ident() != self._thread:
            self._adopt("step")
        if self._open != _NONE:
            raise ValueError(f"step: opened inside the phase {RECORDED[self._open]!r}; a phase is part of a step")
        if self._step_open and not self._by_loader:
            raise ValueError("step: opened inside a step; leave that first")
        if not self._step_open:
            self.timeline.mark(self._books.begin_step)
        self._step_open, self._by_loader, self._loader_counts = True, False, False

    def leave_step(self, tokens: int | None, samples: int | None, *, failed: bool) -> None:
        """The script ends the step, done unless it failed."""
        if self.closed or not self._step_open or self._by_loader:
            return
        self._step_open = False
        if failed:
            self.timeline.mark(self._books.abandon_step)
        else:
            self._end(self._books.end_step, tokens, samples)
        self.beneath(STALL)

    # What hooks see.

    def beneath(self, phase: int) -> None:
        """What goes on where the script says nothing."""
        if self.closed:
            return
        self._beneath = phase
        if self._open == _NONE:
            self.timeline.turn(phase)

    def collective_begins(self) -> None:
        """Nothing is left but to wait for a collective."""
        if not self.closed:
            self.timeline.turn(COLLECTIVE)

    def backward_ends(self) -> None:
        """Gradients are there, averaged where they are: the update is next."""
        if not self.closed:
            self._beneath = OPTIMIZER if self.optimizer_watched else STALL
            self.timeline.turn(self._beneath if self._open == _NONE else self._open)

    def checkpoint_written(self) -> None:
        """One more checkpoint."""
        if not self.closed:
            self.timeline.mark(self._books.checkpoint_written)

    def optimizer_begins(self) -> None:
        """An optimizer steps."""
        self.beneath(OPTIMIZER)

    def optimizer_ends(self) -> None:
        """It has stepped."""
        if not self.closed:
            self._updates += 1
            self.beneath(STALL)
            self.timeline.mark(self._books.progress)

    def batch_asked(self) -> None:
        """A loader is asked for a batch: the step before is over if its update was made."""
        if self.closed:
            return
        if self._step_open and self._by_loader and self._is_done():
            self._end_by_loader(self._books.end_step)
        self.beneath(DATA_WAIT)

    def batch_came(self) -> None:
        """The loader gave it."""
        if self.closed:
            return
        if self._loader_counts and not self._step_open:
            self.timeline.mark(self._books.begin_step)
            self._step_open = self._by_loader = True
            self._batches = self._updates = 0
        self._batches += 1
        self.beneath(H2D if self.model_watched else STALL)

    def batches_over(self) -> None:
        """The loader is exhausted, left, or it failed: a step that it opened ends where its last update was made."""
        if self.closed:
            return
        self.beneath(STALL)
        if self._step_open and self._by_loader:
            if self._is_done():
                self._end_by_loader(self._books.end_at_progress if self._updates else self._books.end_step)
            else:
                self._step_open = False
                self.timeline.mark(self._books.abandon_step)

    def _is_done(self) -> bool:
        if self.accumulate is None and self.optimizer_watched:
            return self._updates > 0
        return self._batches >= (self.accumulate or 1)

    def _end_by_loader(self, entry: _StepEnd) -> None:
        self._step_open = False
        self._end(entry, None, None)

    def _end(self, entry: _StepEnd, tokens: int | None, samples: int | None) -> None:
        self.steps += 1
        self.timeline.mark(
            entry, self._tokens if tokens is None else tokens, self._samples if samples is None else samples
        )

    def _adopt(self, what: str) -> None:
        """The first thread to mark something is the one that trains."""
        if self._thread:
            raise ValueError(f"{what}: opened in another thread than the one that trains; a recorder follows one")
        self._thread = get_ident()


class Phase:
    """`with` it: the script is in this phase. One per phase and recorder."""

    __slots__ = ("_index", "_marks")

    def __init__(self, marks: Marks, index: int) -> None:
        self._marks = marks
        self._index = index

    def __enter__(self) -> None:
        self._marks.open_phase(self._index)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._marks.leave_phase(self._index, failed=kind is not None)


class Step:
    """`with` it: one training step."""

    __slots__ = ("_marks", "_samples", "_tokens")

    def __init__(self, marks: Marks, tokens: int | None = None, samples: int | None = None) -> None:
        self._marks = marks
        self._tokens = tokens
        self._samples = samples

    def __enter__(self) -> None:
        self._marks.open_step()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._marks.leave_step(self._tokens, self._samples, failed=kind is not None)
