"""docs/evaluation.md from what `stepscope evaluate --json` printed: `python -m stepscope.evaluation.page FILE`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_HEAD = """\
# How right the verdicts are

Written by `python -m stepscope.evaluation.page` from `stepscope evaluate --incidents {incidents} --seed {seed} --json`.

**No threshold was tuned on seed {seed}.** Thresholds were set on seeds 1000, 2000, 2100, 2200, 2300 and 2400, which
must not be used to report anything; a change of a threshold needs a new seed here.

What is played: random incidents of every kind of fault (kind, target, severity, onset from a seed) on jobs from 4 to
1,024 GPUs; a fifth of the runs are healthy, every seventh has two causes, a third has decoys that are too small to
matter or over before. What is seen: public series at scrapes 15 s apart, two healthy minutes before the onset and three
minutes after it. The verdict that counts is the one at the end. Right means: the right cause comes *first*; a right
culprit is exactly the ranks that were hit.

## Summary

| what | measured | wanted |
|---|---|---|
"""

_WANTED = (
    ("cause_accuracy", "right cause first, moderate and severe", "≥ 95 %"),
    ("culprit_accuracy", "right culprit, of those that have one", "≥ 95 %"),
    ("mild_accuracy", "right cause first, mild", "≥ 80 %"),
    ("false_alarm_rate", "healthy windows with any verdict", "≤ 1 %"),
    ("compound_top3", "two causes, both among the first three", "≥ 85 %"),
)

_TAIL = """
## Why it misses what it misses

* **dataloader_cpu against io_starvation, on one node.** Both leave the loader's queue empty and nothing else: no public
  series tells a mount from a CPU. Both are said; the size of the lateness decides which comes first (above 0.55 of a
  step it is called a CPU shortage). A mild shortage of CPU is therefore called slow storage.
* **nccl_small_buffer against nccl_algo.** At one message size a bandwidth and a latency are one number. What a ring
  could add at most, over so many ranks, decides; below that both are said, and which comes first is a prior. Forced
  algorithms on fewer than 256 ranks, and trees, cost next to nothing and are not played.
* **Two causes of which one hides the other.** A rank that is half as slow again hides what pauses, uneven batches or a
  drained queue add, since everybody waits for it anyway. Causes that stop the job are played alone.
* **What happens seldom.** Mild outages of the monitoring, and a checkpoint every 40 long steps, may not have happened
  within three minutes.
* **Pauses when mild** cost a large job under two percent of its step, as much as waiting varies by itself.

In the lab the transfers' own time is exact; on real machines it varies by a percent or two, and `TRANSFER_SLOWER` in
`diagnosis/thresholds.py` may have to be raised there. Nothing here was measured on real machines.
"""


def page(found: Mapping[str, Any]) -> str:
    """The page as Markdown."""
    summary = found["summary"]
    text = _HEAD.format(incidents=summary["incidents"], seed=found["seed"])
    for key, what, wanted in _WANTED:
        extra = f" ({summary['healthy_windows']} windows)" if key == "false_alarm_rate" else ""
        text += f"| {what}{extra} | {_share(summary[key])} | {wanted} |\n"
    seconds = summary["median_seconds_to_verdict"]
    text += f"| median time from the onset to a right verdict | {_number(seconds)} s | ≤ 60 s |\n"
    text += "\n## By kind\n\n| kind | incidents | mild | moderate | severe | culprit | seconds to a right verdict |\n"
    text += "|---|---|---|---|---|---|---|\n"
    for kind, row in found["by_kind"].items():
        shares = " | ".join(_share(row[key]) for key in ("mild", "moderate", "severe", "culprit"))
        text += f"| `{kind}` | {row['incidents']} | {shares} | {_number(row['median_seconds_to_verdict'])} |\n"
    text += (
        "\n## Confusion\n\nWhat was put, and what was named first instead of it.\n\n| put | named first |\n|---|---|\n"
    )
    for kind, row in found["confusion"].items():
        named = ", ".join(f"{name} {count}" for name, count in _by_count(row))
        text += f"| `{kind}` | {named} |\n"
    return text + _TAIL


def _by_count(row: Mapping[str, int]) -> Sequence[tuple[str, int]]:
    return sorted(row.items(), key=lambda item: (-item[1], item[0]))


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f}"


if __name__ == "__main__":
    sys.stdout.write(page(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
