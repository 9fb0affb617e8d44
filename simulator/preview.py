"""What a dry run asks: the fault as it would be, in the run as it is now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from faults.admission import LEAST_INTENSITY
from faults.record import FaultRecord
from simulator.predict import Prediction, predict
from simulator.run import Run


def question(run: Run, record: FaultRecord) -> tuple[dict[str, object], Callable[[], Prediction]]:
    """A fault as the API would show it, and what to call for its effect on the job as it is now."""
    acting = {other.name: other for other in run.faults.acting(run.seconds)}
    levels = {name: other.intensity(run.seconds) for name, other in acting.items()}
    now = {
        name: replace(acting[name].spec, intensity=level) for name, level in levels.items() if level >= LEAST_INTENSITY
    }
    replaced = now.pop(record.name, None)
    fault = None if record.is_paused else record.spec
    ask = partial(predict, run.spec, fault, live=list(now.values()), replaced=replaced, seed=run.info.seed)
    return record.to_mapping(run.seconds), ask
