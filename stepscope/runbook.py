"""`python -m stepscope.runbook [--check]`: write the causes of RUNBOOK.md, or fail when they are not as the code says.

What is seen and why comes from the kind of fault, the commands and what to do from the verdict, and what ends it in
the lab from trying every remedy on it.
"""

from __future__ import annotations

import argparse
import sys
from functools import cache
from pathlib import Path

from diagnosis.cause import Cause
from diagnosis.registry import causes
from faults.book import FaultBook
from faults.effects import Topology
from faults.registry import kinds
from faults.remedy_registry import remedies
from faults.spec import FaultSpec
from faults.target import Target
from faults.treatment import RemedySpec

FILE = Path(__file__).parents[1] / "RUNBOOK.md"
BEGIN = "<!-- From here on written by `make runbook`. -->"

_HEAD = """\
# Causes

One entry per cause that a verdict can name: `stepscope diagnose` says which, on a lab or on any Prometheus. *In the
lab* are the remedies that end it (`stepscope remedy apply`), found by trying every one.
"""
_WHOLE_JOB = Topology(16, 8, True, scales_loss=True, board_watts=700.0, loader_workers=4, loader_prefetch=2)
"""A job that can show every kind."""


def section() -> str:
    """The part of the runbook that is written here, from BEGIN on."""
    return "\n".join([BEGIN, "", _HEAD, *(_entry(cause) for cause in causes().values())]).rstrip() + "\n"


def _entry(cause: Cause) -> str:
    kind = kinds().get(cause.name)
    seen = kind.look_at if kind is not None else _STAGE_IMBALANCE
    why = f"{cause.title}. {kind.summary}" if kind is not None else f"{cause.title}."
    moved = ", ".join(f"`{name}`" for name in kind.metrics) if kind is not None else "`training_step_seconds`"
    ended = ", ".join(f"`{name}`" for name in ended_by(cause.name))
    parts = [
        f"### {cause.name}",
        f"**You see** {seen}",
        f"**Why** {why}",
        f"**Confirm** {cause.confirm}.",
        f"**Fix** {cause.remedy}" + (f" In the lab: {ended}." if ended else ""),
        f"**It worked when** {moved} are back where they were before, and the verdict no longer names it.",
    ]
    return "\n\n".join(parts) + "\n"


_STAGE_IMBALANCE = (
    "One pipeline stage takes longer than the others, on every worker alike; the others wait for it in each step. "
    "Needs per-rank phases with a `stage` column: `stepscope diagnose --ranks file.csv`."
)


@cache
def ended_by(kind: str) -> tuple[str, ...]:
    """Remedies that end this kind of fault at their default value, applied everywhere; none for what is no kind."""
    if kind not in kinds():
        return ()
    specific = tuple(name for name in remedies() if _ends(kind, name))
    # What any start of the job does is said once.
    starts = {name for name, found in remedies().items() if found.restarts}
    return ("restart_job",) if starts <= set(specific) else specific


def _ends(kind: str, name: str) -> bool:
    book = FaultBook(_WHOLE_JOB, seed=0, now=lambda: 0.0)
    book.put("ill", FaultSpec(kind, open_ended=True), at_seconds=0.0, next_step=0)
    found = remedies()[name]
    target = Target("nodes", tuple(range(_WHOLE_JOB.nodes))) if found.target_modes[0] == "nodes" else None
    value = found.setting.default if found.setting is not None else None
    _, ended = book.treat(RemedySpec(name, value, target), at_seconds=1.0, next_step=1, restart_seconds=1.0)
    return bool(ended)


def main(arguments: list[str] | None = None) -> int:
    """Exit status 1 when `--check` finds a difference."""
    parser = argparse.ArgumentParser(prog="python -m stepscope.runbook", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    found = FILE.read_text(encoding="utf-8")
    by_hand, _, _ = found.partition(BEGIN)
    wanted = by_hand.rstrip() + "\n\n" + section()
    if not parser.parse_args(arguments).check:
        FILE.write_text(wanted, encoding="utf-8")
        return 0
    if found != wanted:
        sys.stderr.write("RUNBOOK.md is out of date: run make runbook\n")
    return int(found != wanted)


if __name__ == "__main__":
    raise SystemExit(main())
