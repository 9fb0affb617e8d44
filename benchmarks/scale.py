"""What large jobs cost: a core's share and memory in real time, and the price of a rank-step by the size of the job."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from benchmarks.labs import ROOT, environment
from benchmarks.row import Row, amount

if TYPE_CHECKING:
    from simulator.run import Run

FLEET = "fleet-131072"
SMALL, LARGE = 1_024, 131_072
_QUICK_FLEET, _QUICK_LARGE = "honest-64xh100", 2_048
SMALL_CORE_PERCENT, LARGE_CORE_PERCENT = 5.0, 20.0
LARGE_MIB = 1_024.0
RANK_STEP_RATIO = 1.5


def rows(*, quick: bool) -> Iterator[Row]:
    """1,024 ranks of short steps, 131,072 ranks of long ones, and both sizes with short steps against each other."""
    seconds = 1.0 if quick else 60.0
    small, large = _running(str(SMALL), seconds), _running(_QUICK_FLEET if quick else FLEET, seconds)
    yield Row(
        "1,024 ranks with 42 ms steps", 100.0 * small["cpu_share"], "%", at_most=SMALL_CORE_PERCENT,
        detail=f"of one core, engine in real time without scrapes for {seconds:.0f} s; {_seen(small)}",
    )  # fmt: skip
    yield Row(
        "131,072 ranks with 5 s steps", 100.0 * large["cpu_share"], "%", at_most=LARGE_CORE_PERCENT,
        detail=f"of one core, {FLEET} in real time without scrapes for {seconds:.0f} s; {_seen(large)}",
    )  # fmt: skip
    yield Row("the same, memory", large["peak_mib"], "MiB", at_most=LARGE_MIB, detail="the most the process held")
    yield _rank_steps(quick=quick)


def _running(job: str, seconds: float) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.running", job, str(seconds)]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    if found["failure"] is not None:
        raise RuntimeError(f"the engine stopped: {found['failure']}")
    return found


def _seen(found: dict[str, Any]) -> str:
    step = (
        amount(found["step_seconds"], "s") if found["step_seconds"] >= 1.0 else f"{1e3 * found['step_seconds']:.0f} ms"
    )
    return f"healthy step {step}, {found['steps']:,} steps, skipped {found['skipped_seconds']:.0f} s"


def _rank_steps(*, quick: bool) -> Row:
    """Seconds per rank and step of both sizes, best of five each, in alternation."""
    large = _QUICK_LARGE if quick else LARGE
    ticks = {SMALL: 2, large: 1} if quick else {SMALL: 20, large: 3}
    runs = {ranks: _warm(ranks) for ranks in ticks}
    best = dict.fromkeys(ticks, float("inf"))
    for _ in range(1 if quick else 5):
        for ranks, run in runs.items():
            best[ranks] = min(best[ranks], _per_rank_step(run, ticks[ranks]))
    each = ", ".join(f"{ranks:,} ranks {1e9 * cost:.0f} ns" for ranks, cost in best.items())
    return Row(
        "131,072 ranks against 1,024, per rank-step", best[large] / best[SMALL], "×", at_most=RANK_STEP_RATIO,
        detail=f"42 ms steps both, best of 5 each in alternation; {each}",
    )  # fmt: skip


def _warm(ranks: int) -> Run:
    from benchmarks.scaled import anatomy
    from simulator.run import Run

    run = Run(anatomy(ranks), seed=1, run="bench")
    run.advance()
    return run


def _per_rank_step(run: Run, ticks: int) -> float:
    first, cpu = run.next_step, time.process_time()
    for _ in range(ticks):
        run.advance()
    return (time.process_time() - cpu) / (run.next_step - first) / run.spec.ranks
