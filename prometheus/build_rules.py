"""Writes rules/stepscope.yml, the recording rules: `python prometheus/build_rules.py [--check]`.

Names follow `level:metric:operations`. Every ratio divides sums, so that it stays right when the parts differ in size,
and each rule says in one sentence what it answers. Windows are one minute: twelve scrapes, and long enough to see a 7 s
step. A denominator of 0 gives no sample rather than NaN: "no step ended" is not a number.

Device readings meet a run through `training_rank_info`, which stands on the many side of the join: while a run is
replaced, two runs may name one GPU for a few seconds, and the rule still evaluates.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

TARGET = Path(__file__).parent / "rules" / "stepscope.yml"
WINDOW = "1m"


@dataclass(frozen=True, slots=True)
class Recording:
    """One recording rule."""

    record: str
    """Name of the recorded series."""
    expr: str
    """PromQL, nothing newer than Prometheus 3.5."""
    about: str
    """One sentence: what the series says, with its unit."""


def _rate_by_run(metric: str) -> str:
    return f"sum by (run) (rate({metric}[{WINDOW}]))"


def _mean_over_gpus(metric: str) -> str:
    """Mean over the run's GPUs of each board's mean over the window; rows that share a board (MIG) count once."""
    return (
        "avg by (run) (\n"
        "  training_rank_info * on (UUID) group_left ()\n"
        f"  max by (UUID) (avg_over_time({metric}[{WINDOW}]))\n"
        ")"
    )


_PEAK = "(max by (run) (training_peak_flops_per_second) > 0)"  # already the sum over the run's GPUs
_DEVICE = (
    ("DCGM_FI_DEV_GPU_UTIL", "GPU utilization, percent: time with any kernel resident"),
    ("DCGM_FI_PROF_SM_ACTIVE", "SM activity, 0-1: SM cycles with a warp resident"),
    ("DCGM_FI_PROF_SM_OCCUPANCY", "SM occupancy, 0-1: resident warps of those that fit"),
    ("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "tensor pipe activity, 0-1"),
    ("DCGM_FI_DEV_POWER_USAGE", "power draw, watts"),
)

RECORDINGS: tuple[Recording, ...] = (
    Recording(
        record=f"run:training_mfu:ratio_rate{WINDOW}",
        expr=(
            f"{_rate_by_run('training_model_flops_total')}\n"
            f"  / ({_rate_by_run('training_step_seconds_sum')} > 0)\n"
            f"  / {_PEAK}"
        ),
        about="Model FLOPs utilization of the steps that ended in the window, 0-1.",
    ),
    Recording(
        record=f"run:training_mfu_wall:ratio_rate{WINDOW}",
        expr=f"{_rate_by_run('training_model_flops_total')}\n  / {_PEAK}",
        about="The same against wall clock, 0-1: it also pays for the time in which no step ran.",
    ),
    Recording(
        record=f"run:training_phase_share:ratio_rate{WINDOW}",
        expr=(
            f"sum by (run, phase) (rate(training_phase_seconds_total[{WINDOW}]))\n"
            f"  / on (run) group_left () ({_rate_by_run('training_phase_seconds_total')} > 0)"
        ),
        about="Share of the ranks' wall clock in each phase, 0-1; the phases of a run add up to 1.",
    ),
    Recording(
        record=f"run:training_step_seconds:mean_rate{WINDOW}",
        expr=(f"{_rate_by_run('training_step_seconds_sum')}\n  / ({_rate_by_run('training_step_seconds_count')} > 0)"),
        about="Mean duration of the steps that ended in the window, seconds.",
    ),
    Recording(
        record=f"run:training_tokens_per_gpu:rate{WINDOW}",
        expr=f"{_rate_by_run('training_tokens_total')}\n  / count by (run) (training_rank_info)",
        about="Tokens per second and GPU, against wall clock.",
    ),
    *(
        Recording(
            record=f"run:{metric}:avg{WINDOW}",
            expr=_mean_over_gpus(metric),
            about=f"Mean over the run's GPUs and the window of {what}.",
        )
        for metric, what in _DEVICE
    ),
)


def render(recordings: Sequence[Recording]) -> str:
    """The rule file as text, one comment and one block scalar per rule."""
    lines = [
        "# Written by build_rules.py; edit that and run `make rules`.",
        "groups:",
        "  - name: stepscope-run",
        "    rules:",
    ]
    for rule in recordings:
        lines += [f"      # {rule.about}", f"      - record: {rule.record}", "        expr: |-"]
        lines += [f"          {line}" for line in rule.expr.splitlines()]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the file, or with --check says whether it is what would be written (exit status 1 when not)."""
    parser = argparse.ArgumentParser(description="Write the Prometheus rules.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail when the file differs")
    check: bool = parser.parse_args(arguments).check
    text = render(RECORDINGS)
    if not check:
        TARGET.parent.mkdir(exist_ok=True)
        TARGET.write_text(text, encoding="utf-8")
        return 0
    if TARGET.is_file() and TARGET.read_text(encoding="utf-8") == text:
        return 0
    print(f"{TARGET.name} is not what build_rules.py writes: run `make rules`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
