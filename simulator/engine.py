"""The engine: one run in real time, on one thread, the only writer.

Each second it advances the run by one tick and publishes it; readers see a whole tick or the one before. A late
tick is caught up at once; when the machine was stopped for longer than is worth catching up, the missing seconds
are skipped, said so in the event log and counted. A crash ends the run, not the process: it is logged, `failure`
says it, and a new job or nothing else clears it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from faults.book import FaultBook
from faults.change import FaultChange
from faults.errors import FaultError, pointer_to
from faults.life import State
from faults.record import FaultRecord
from faults.spec import FaultSpec
from faults.treatment import RemedySpec, Treatment
from simulator.clock import Clock, SystemClock
from simulator.history import History, Sample
from simulator.job import JobSpec
from simulator.journal import Journal
from simulator.observation import Tick
from simulator.predict import Prediction
from simulator.presets import preset as preset_named
from simulator.preview import question, remedy_question
from simulator.recent import RecentTicks
from simulator.run import TICK_SECONDS, Run, topology_of
from simulator.snapshot import Snapshot, Started

_log = logging.getLogger(__name__)

MOST_CATCH_UP_SECONDS = 30.0
"""Backlog that is computed tick by tick; what is older is skipped."""
CLOCK_STEP_SECONDS = 2.0
"""Wall clock and ticks may differ by this much before the timestamps are moved."""


class Engine:
    """A run in real time. Every public method may be called from any thread."""

    def __init__(self, spec: JobSpec, *, seed: int, run: str | None = None, clock: Clock | None = None) -> None:
        self._clock: Clock = SystemClock() if clock is None else clock
        self._lock = threading.RLock()
        # Held for moments only, so that readers never wait for a simulated second.
        self._publishing = threading.Lock()
        self._starting = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._runs_started = 0
        self._tick: Tick | None = None
        self.failure: str | None = None
        """Why the engine stands still; None while it runs."""
        self.skipped_seconds = 0.0
        """Simulated seconds left out, in all, because the machine could not keep up."""
        self.journal = Journal(now=self._clock.time)
        self.history = History()
        self._recent = RecentTicks()
        self._install(self._made(spec, seed=seed, run=run), began=self._clock.time(), due=self._clock.monotonic())

    # -- life ---------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Run on a thread of its own until `stop`."""
        self._thread = threading.Thread(target=self._loop, name="engine", daemon=True)
        self._thread.start()

    def stop(self, timeout_seconds: float = 5.0) -> None:
        """Stop the thread and wait for it."""
        self._stopping.set()
        self.journal.close()
        if self._thread is not None:
            self._thread.join(timeout_seconds)

    def pump(self) -> int:
        """Compute every tick that is due now; how many. Called by the thread, and by tests with a clock of theirs."""
        done = 0
        with self._lock:
            if self.failure is not None:
                return 0
            try:
                self._skip_if_hopeless()
                while self._due():
                    self._publish(self._run.advance())
                    done += 1
            except Exception as error:
                with self._publishing:
                    self.failure = f"{type(error).__name__}: {error}"
                _log.exception("the engine stopped: the run crashed at step %d", self._run.next_step)
                self.journal.add(self._run, "engine_failed", detail=self.failure)
        return done

    def _loop(self) -> None:
        while not self._stopping.is_set():
            self.pump()
            self._stopping.wait(max(0.005, self._next_due() - self._clock.monotonic()))

    # -- reading ------------------------------------------------------------------------------------------------

    @property
    def tick(self) -> Tick | None:
        """The newest finished second; None before the first."""
        return self._tick

    @property
    def clock(self) -> Clock:
        """The clock that it goes by."""
        return self._clock

    @property
    def spec(self) -> JobSpec:
        """The job that runs."""
        return self._run.spec

    @property
    def seed(self) -> int:
        """The seed that it shows."""
        return self._run.info.seed

    @property
    def run_label(self) -> str:
        """Its `run` label."""
        return self._run.info.run

    @property
    def next_step(self) -> int:
        """First step that a change made now can still affect."""
        return self._run.next_step

    @property
    def healthy_step_seconds(self) -> float:
        """Step time of this job without faults and noise."""
        return self._run.model.healthy_step_seconds

    @property
    def lag_seconds(self) -> float:
        """How late the next tick is; 0 while the engine keeps its time."""
        return max(0.0, self._clock.monotonic() - self._next_due())

    def snapshot(self) -> Snapshot | None:
        """Everything about the newest finished second at once; None before the first."""
        with self._publishing:
            tick = self._tick
            if tick is None:
                return None
            due = self._anchor + tick.seconds + TICK_SECONDS
            return Snapshot(
                tick=tick,
                spec=self._run.spec,
                samples=tuple(self.history.samples()),
                averages=self.history.averages(peak_flops_per_second=tick.info.peak_flops_per_second),
                lag_seconds=max(0.0, self._clock.monotonic() - due),
                skipped_seconds=self.skipped_seconds,
                last_event=self.journal.last_seq,
                failure=self.failure,
            )

    def recent(self) -> list[Tick]:
        """Ticks of the present run some seconds apart, as scrapes would have caught them, oldest first."""
        with self._publishing:
            return self._recent.ticks()

    def fault_event_counts(self) -> Mapping[tuple[str, str], int]:
        """Number of events by (kind, event) since the process began."""
        return self.journal.fault_counts()

    # -- faults -------------------------------------------------------------------------------------------------

    def put_fault(self, name: str, spec: FaultSpec) -> tuple[dict[str, object], bool]:
        """Create or replace a fault; it as the API shows it, and whether it is new. Raises FaultError."""
        with self._recording() as run:
            record, created = run.faults.put(name, spec, at_seconds=run.seconds, next_step=run.next_step)
            return record.to_mapping(run.seconds), created

    def post_fault(self, spec: FaultSpec) -> dict[str, object]:
        """Create a fault under a name made here. Raises FaultError."""
        with self._recording() as run:
            record = run.faults.put_unnamed(spec, at_seconds=run.seconds, next_step=run.next_step)
            return record.to_mapping(run.seconds)

    def change_fault(self, name: str, change: FaultChange) -> dict[str, object]:
        """Change a live fault. KeyError for a name never seen, FaultError when it is too late."""
        with self._recording() as run:
            record = run.faults.change(name, change, at_seconds=run.seconds, next_step=run.next_step)
            return record.to_mapping(run.seconds)

    def preview_fault(self, name: str | None, spec: FaultSpec) -> tuple[dict[str, object], Prediction]:
        """What `put_fault` (`post_fault` without a name) would return, and what the fault would do.

        Nothing is applied. Raises FaultError.
        """
        with self._lock:
            run = self._run
            name = name or run.faults.unused_name(spec.kind)
            record, _ = run.faults.preview(name, spec, at_seconds=run.seconds, next_step=run.next_step)
            shown, ask = question(run, record)
        # Outside the lock: it costs as much as some dozens of steps, and the engine has a second to keep.
        return shown, ask()

    def preview_change(self, name: str, change: FaultChange) -> tuple[dict[str, object], Prediction]:
        """What `change_fault` would return, and what the fault would do then; nothing is applied. Raises as it does."""
        with self._lock:
            run = self._run
            record = run.faults.preview_change(name, change, at_seconds=run.seconds, next_step=run.next_step)
            shown, ask = question(run, record)
        return shown, ask()

    def clear_fault(self, name: str, *, immediate: bool = False) -> FaultRecord | None:
        """End a fault. KeyError for a name never seen."""
        with self._recording() as run:
            return run.faults.clear(name, at_seconds=run.seconds, immediate=immediate, next_step=run.next_step)

    def clear_faults(self, names: Iterable[str], *, run: str) -> bool:
        """End faults of the run of this label at once; False, and nothing is touched, when another took its place.

        KeyError for a name that it has never seen.
        """
        with self._recording() as current:
            if current.info.run != run:
                return False
            for name in names:
                current.faults.clear(name, at_seconds=current.seconds, immediate=True, next_step=current.next_step)
        return True

    def get_fault(self, name: str) -> dict[str, object] | None:
        """One fault; None for one that ended too long ago to be kept. KeyError for a name never seen."""
        with self._lock:
            record, now = self._run.faults.find(name), self._run.seconds
        return None if record is None else record.to_mapping(now)

    def list_faults(
        self, *, state: State | None = None, kind: str | None = None, rank: int | None = None
    ) -> list[dict[str, object]]:
        """Faults of this run by name, ended ones included."""
        with self._lock:
            now = self._run.seconds
            found = self._run.faults.list(state=state, kind=kind, rank=rank, at_seconds=now)
        return [record.to_mapping(now) for record in found]

    def reset(self) -> int:
        """Clear every fault at once and put the model back to its last good checkpoint; first step that feels it."""
        with self._recording() as run:
            run.faults.clear_all(at_seconds=run.seconds, next_step=run.next_step)
            self._drain()
            run.faults.forget_treatments()
            run.restore_checkpoint()
            self.journal.add(run, "reset", detail="every fault cleared, model back at its last good checkpoint")
            return run.next_step

    def apply_remedy(self, spec: RemedySpec) -> Treatment:
        """Do something about the job as it is now. Raises FaultError where it can do nothing on this job."""
        with self._recording() as run:
            treatment, _ = run.faults.treat(
                spec, at_seconds=run.seconds, next_step=run.next_step, restart_seconds=run.spec.training.restart_seconds
            )
            if treatment.restart_seconds:
                run.restart(treatment.restart_seconds)
            self.journal.add(run, "remedy_applied", detail=treatment.describe())
            return treatment

    def preview_remedy(self, spec: RemedySpec) -> Prediction:
        """What a remedy would do to the job as it is now; nothing is applied. Raises as `apply_remedy`."""
        with self._lock:
            ask = remedy_question(self._run, spec)
        return ask()

    def treatments(self) -> tuple[Treatment, ...]:
        """The remedies that were applied to this run, in their order."""
        with self._lock:
            return self._run.faults.treatments

    # -- jobs ---------------------------------------------------------------------------------------------------

    def start_job(
        self,
        preset: str,
        *,
        seed: int,
        run: str | None = None,
        faults: Mapping[str, FaultSpec] | None = None,
        shown_seed: int | None = None,
    ) -> Started:
        """Replace the run by a new one with its own `run` label, which readers see from its first tick on.

        `faults` are there from its first step on. With `shown_seed` the run says that this is its seed: whoever knows
        the real one can compute what it would do without its faults. ValueError for an unknown preset or a label in
        use, FaultError for a fault that this job cannot have, each place below the fault's name; then the old run goes
        on untouched.
        """
        spec = preset_named(preset)
        with self._starting:
            if run is not None and run == self.run_label:
                raise ValueError(f"run: {run!r} is the label of the run in progress; a new run needs a new one")
            # The old run goes on until the new one has something to show.
            new = self._made(spec, seed=seed, run=run, shown_seed=shown_seed)
            for name, fault in (faults or {}).items():
                try:
                    new.faults.put(name, fault, at_seconds=new.seconds, next_step=new.next_step)
                except FaultError as error:
                    raise error.below(pointer_to("", name)) from None
            began, due = self._clock.time(), self._clock.monotonic()
            new.shift_clock(began - TICK_SECONDS)
            tick = new.advance()
            with self._lock:
                with self._recording() as old:
                    ended = old.faults.abort_all(at_seconds=old.seconds, next_step=old.next_step)
                self.journal.add(old, "run_ended")
                self._install(new, began=began, due=due, tick=tick)
        return Started(tick, ended)

    def _made(self, spec: JobSpec, *, seed: int, run: str | None, shown_seed: int | None = None) -> Run:
        """A run whose clock begins at 0."""
        self._runs_started += 1
        label = run or f"{spec.preset}-{self._runs_started}"
        book = FaultBook(topology_of(spec), seed=seed, now=self._run_time)
        return Run(spec, seed=seed, run=label, faults=book, shown_seed=shown_seed)

    def _install(self, run: Run, *, began: float, due: float, tick: Tick | None = None) -> None:
        """Make it the run. It began one tick ago, at `began` and `due` less a second: its first tick is there at once.

        With its first `tick` its clock is set already.
        """
        with self._publishing:
            self._run = run
            self._began = began - TICK_SECONDS
            self._anchor = due - TICK_SECONDS
            self._wall_offset = began - due
            self.failure = None
            self.history.clear()
            self._recent.clear()
            self.journal.add_start(run, detail=f"preset {run.spec.preset}, seed {run.info.seed}")
            if tick is None:
                run.shift_clock(self._began)
            else:
                self._show(tick, Sample.of(tick))

    # -- time ---------------------------------------------------------------------------------------------------

    def _next_due(self) -> float:
        """Monotonic time at which the next tick is due: when its second is over."""
        return self._anchor + self._run.seconds + TICK_SECONDS

    def _due(self) -> bool:
        return self._clock.monotonic() >= self._next_due()

    def _skip_if_hopeless(self) -> None:
        """Leave out a backlog too long to catch up, and follow the wall clock when it was set or slept."""
        behind = self._clock.monotonic() - self._next_due()
        if behind > MOST_CATCH_UP_SECONDS:
            self._anchor += behind
            self.skipped_seconds += behind
            self._shift_clock(behind)
            self._say_skipped(behind, "the machine did not keep up")
        offset = self._clock.time() - self._clock.monotonic()
        moved = offset - self._wall_offset
        if abs(moved) > CLOCK_STEP_SECONDS:
            self._wall_offset = offset
            self._shift_clock(moved)
            self._say_skipped(moved, "the wall clock moved")

    def _say_skipped(self, seconds: float, why: str) -> None:
        detail = f"{why}: timestamps moved by {seconds:+.1f} s"
        _log.warning("%s", detail)
        self.journal.add(self._run, "clock_moved", detail=detail)

    def _shift_clock(self, seconds: float) -> None:
        self._began += seconds
        self._run.shift_clock(seconds)

    def _run_time(self) -> float:
        """Unix time by the clock of the run: it stands where the last tick ended."""
        return self._began + self._run.seconds

    def _publish(self, tick: Tick) -> None:
        sample = Sample.of(tick)
        with self._publishing:
            self._show(tick, sample)
            self._drain()

    def _show(self, tick: Tick, sample: Sample) -> None:
        last = self._tick
        before = last.counters.checkpoints if last is not None and last.info is tick.info else 0
        self._tick = tick
        self.history.add(sample)
        self._recent.add(tick)
        if tick.counters.checkpoints > before:
            self.journal.add(self._run, "checkpoint", detail=f"checkpoint {tick.counters.checkpoints} of this run")

    @contextmanager
    def _recording(self) -> Iterator[Run]:
        """The run under the lock; what its faults did goes to the journal."""
        with self._lock:
            yield self._run
            self._drain()

    def _drain(self) -> None:
        for event in self._run.faults.drain_events():
            self.journal.add_fault(self._run, event)
        for line in self._run.drain_kernel_log():
            self.journal.add(self._run, "kernel_log", detail=line.text)
