"""The exam of a lab: idle, running, ended, revealed. At most one at a time; a lab that starts again knows of none."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from typing import Literal

from simulator.engine import Engine
from stepscope.exam.error import ExamError
from stepscope.exam.marking import Guess
from stepscope.exam.names import checked_name, same_name_key
from stepscope.exam.paper import Paper
from stepscope.exam.participant import BURST, PER_SECOND, Participant, Submission
from stepscope.exam.rate import Bucket
from stepscope.exam.sitting import Row, Sitting

State = Literal["idle", "running", "ended", "revealed"]

MOST_PARTICIPANTS = 64
MOST_SUBMISSIONS = 20
"""Of one participant; the last one counts."""
MOST_SECONDS = 4 * 3600.0
"""An exam lasts, extensions included."""
JOIN_BURST, JOINS_PER_SECOND = MOST_PARTICIPANTS, 2.0
"""A room joins at once; who floods it waits."""
SHOWN_SEED = 0
"""What the run says its seed is."""


class Exam:
    """The exam of one engine. May be used from any thread; nothing here waits for the engine but `start`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.RLock()
        self._starting = threading.Lock()
        self._preparing = False
        self._sitting: Sitting | None = None
        self._count = 0

    # -- looking ------------------------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        """Where it is."""
        sitting = self._sitting
        if sitting is None:
            return "idle"
        if sitting.revealed:
            return "revealed"
        return "ended" if self.elapsed(sitting) >= sitting.length_seconds else "running"

    @property
    def hides(self) -> bool:
        """Whether what is wrong with the run must be kept from those who have no token."""
        sitting = self._sitting
        return self._preparing or (sitting is not None and not sitting.revealed)

    @property
    def sitting(self) -> Sitting | None:
        """The present exam; None while the lab is idle."""
        return self._sitting

    def elapsed(self, sitting: Sitting) -> float:
        """Seconds since it began, at most until it was over."""
        return min(max(0.0, self._now() - sitting.began), sitting.length_seconds)

    def board(self) -> list[Row]:
        """Everybody with what their answers are worth now: the best first, of equals who answered first."""
        with self._lock:
            return [] if self._sitting is None else self._sitting.board()

    # -- the facilitator ----------------------------------------------------------------------------------------

    def start(self, make: Callable[[int, int], Paper], *, duration_seconds: float, hint_cost: float) -> Sitting:
        """Begin: `make(incident seed, run seed)` gives the paper, whose job takes the place of the run.

        Both seeds are drawn here and come out of no open path. Raises ExamError `state` while another exam is not
        revealed, and whatever `make` and `Engine.start_job` raise; then nothing has changed.
        """
        with self._starting:
            if self.hides:
                raise ExamError("state", "Another exam is not over: reveal or forget it first.")
            # From before the first trace of it on, nobody without the token sees the log, the faults, or the like.
            self._preparing = True
            try:
                # 127 bits and 63 bits: neither list is short enough to try.
                paper = make(secrets.randbits(127), secrets.randbits(63))
                label = self._unused_label()
                self._engine.start_job(
                    paper.preset, seed=paper.seed, run=label, faults=paper.faults, shown_seed=SHOWN_SEED
                )
                clock = self._engine.clock
                now = clock.monotonic()
                joins = Bucket(size=JOIN_BURST, per_second=JOINS_PER_SECOND, at_seconds=now)
                sitting = Sitting(label, paper, duration_seconds, hint_cost, now, clock.time(), joins)
                self._sitting = sitting
            finally:
                self._preparing = False
        return sitting

    def extend(self, seconds: float) -> None:
        """Give more time; MOST_SECONDS in all at most. ExamError `state` unless it is running."""
        with self._lock:
            sitting = self._running()
            if sitting.duration_seconds + seconds > MOST_SECONDS:
                raise ExamError("state", f"An exam may last {MOST_SECONDS:g} seconds at most, extensions included.")
            sitting.duration_seconds += seconds

    def stop(self) -> None:
        """End it now; nothing is shown yet. ExamError `state` unless it is running."""
        with self._lock:
            sitting = self._running()
            sitting.over_after_seconds = self.elapsed(sitting)

    def reveal(self) -> None:
        """Show everything to everybody. ExamError `state` unless it has ended; again changes nothing."""
        with self._lock:
            if self.state in ("idle", "running"):
                raise ExamError("state", f"The exam is {self.state}; only one that has ended can be revealed.")
            assert self._sitting is not None
            self._sitting.revealed = True

    def forget(self) -> None:
        """Back to idle, with nothing kept. The run goes on, and its faults with it."""
        with self._lock:
            self._sitting = None

    def remove(self, id_: str) -> None:
        """Take a participant out. ExamError `missing` where there is none of this id."""
        with self._lock:
            if self._sitting is None or self._sitting.participants.pop(id_, None) is None:
                raise ExamError("missing", "There is no participant of this id.")

    # -- participants -------------------------------------------------------------------------------------------

    def join(self, name: str) -> Participant:
        """A new participant under a name that nobody else has. ValueError for the name itself, ExamError else."""
        shown = checked_name(name)
        with self._lock:
            sitting = self._running()
            if len(sitting.participants) >= MOST_PARTICIPANTS:
                raise ExamError("full", f"{MOST_PARTICIPANTS} have joined, which is all that there is room for.")
            _take(sitting.joins, self._now())
            key = same_name_key(shown)
            if any(same_name_key(other.name) == key for other in sitting.participants.values()):
                raise ExamError("taken", "Somebody else has this name, or one that looks like it.")
            sitting.joined += 1
            bucket = Bucket(size=BURST, per_second=PER_SECOND, at_seconds=self._now())
            participant = Participant(f"p{sitting.joined}", shown, self.elapsed(sitting), bucket)
            sitting.participants[participant.id] = participant
            return participant

    def who(self, secret: str) -> Participant:
        """Whose secret this is. ExamError `stranger` where it is nobody's; takes the same time for each of them."""
        given, found = secret.encode("utf-8", "surrogatepass"), None
        with self._lock:
            for participant in self._sitting.participants.values() if self._sitting else ():
                if participant.knows(given):
                    found = participant
        if found is None:
            raise ExamError("stranger", "This is no secret of a participant of the present exam.")
        return found

    def submit(self, participant: Participant, guess: Guess) -> None:
        """Take an answer; the last one before the end counts, with its own time. The same again changes nothing."""
        with self._lock:
            sitting = self._running(participant)
            _take(participant.bucket, self._now())
            if participant.submission is not None and participant.submission.guess == guess:
                return
            if participant.submissions >= MOST_SUBMISSIONS:
                raise ExamError("many", f"{MOST_SUBMISSIONS} answers were given; the last one stands.")
            participant.submissions += 1
            participant.submission = Submission(guess, self.elapsed(sitting))

    def hint(self, participant: Participant, number: int) -> str:
        """Hint `number`, from 1 on, for its price; one that was taken before costs nothing again."""
        with self._lock:
            sitting = self._running(participant)
            _take(participant.bucket, self._now())
            if not 1 <= number <= len(sitting.paper.hints):
                raise ExamError("missing", f"There are {len(sitting.paper.hints)} hints.")
            if number > participant.hints + 1:
                raise ExamError("order", f"Hints come one after the other; the next one is {participant.hints + 1}.")
            participant.hints = max(participant.hints, number)
            return sitting.paper.hints[number - 1]

    def _running(self, participant: Participant | None = None) -> Sitting:
        sitting, state = self._sitting, self.state
        if state != "running" or sitting is None:
            over = "No exam is running." if state == "idle" else "The exam is over."
            raise ExamError("state", over)
        if participant is not None and sitting.participants.get(participant.id) is not participant:
            raise ExamError("stranger", "This participant was removed.")
        return sitting

    def _unused_label(self) -> str:
        self._count += 1
        if self._engine.run_label == f"exam-{self._count}":
            self._count += 1
        return f"exam-{self._count}"

    def _now(self) -> float:
        return self._engine.clock.monotonic()


def _take(bucket: Bucket, now: float) -> None:
    wait = bucket.take(now)
    if wait:
        raise ExamError("fast", "Too many requests at once; come back in a moment.", retry_after_seconds=wait)
