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
from pathlib import Path

from rulebook.recording import RECORDINGS, Recording

TARGET = Path(__file__).parent / "rules" / "stepscope.yml"


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
