"""What a dry run asks: the fault, or the remedy, as it would be, in the run as it is now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from faults.admission import LEAST_INTENSITY
from faults.record import FaultRecord
from faults.spec import FaultSpec
from faults.treatment import RemedySpec
from simulator.predict import Course, Prediction, compare
from simulator.run import Run

Ask = Callable[[], Prediction]


def question(run: Run, record: FaultRecord) -> tuple[dict[str, object], Ask]:
    """A fault as the API would show it, and what to call for its effect on the job as it is now."""
    fault = [] if record.is_paused else [record.spec]
    after = [*course(run, without=record.name), *fault]
    return record.to_mapping(run.seconds), partial(compare, run.spec, course(run), after, seed=run.info.seed)


def remedy_question(run: Run, remedy: RemedySpec) -> Ask:
    """What to call for the effect of a remedy on the job as it is now. FaultError where it can do nothing on it."""
    remedy.dose(run.topology)
    before = course(run)
    return partial(compare, run.spec, before, [*before, remedy], seed=run.info.seed)


def course(run: Run, *, without: str = "") -> Course:
    """What acts on the job now, as strong as it is now, and what was done about it, in their order.

    `without` is the name of a fault to leave out.
    """
    now = run.seconds
    steps: list[tuple[int, FaultSpec | RemedySpec]] = [(one.order, one.spec) for one in run.faults.treatments]
    for record in run.faults.acting(now):
        level = record.intensity(now)
        if level >= LEAST_INTENSITY and record.name != without:
            steps.append((record.began or 0, replace(record.spec, intensity=level)))
    return [spec for _, spec in sorted(steps, key=lambda step: step[0])]
