"""Asking promtool what the shipped rules make of stored series."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import build_rules
from rulebook.profile import WORKSHOP, Profile
from tests.prometheus.simulated import Stored
from tests.stack.real import need, run

QUIET = "Watchdog"
"""Always fires, and says nothing of the job."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query at one time, and the label sets that it must return, each with the value 1."""

    expr: str
    at: int
    """Seconds after the first scrape."""
    expected: frozenset[tuple[tuple[str, str], ...]]


def firing(names: Iterable[str], *, at: int, among: str = "", but: Iterable[str] = ()) -> Question:
    """Exactly these alerts fire at a time. `among` is a regular expression of those that count; `but` do not."""
    return Question(f"group by (alertname) ({_alerts(among, but)})", at, _each("alertname", names))


def fired(names: Iterable[str], *, until: int, among: str = "", but: Iterable[str] = ()) -> Question:
    """Exactly these alerts have fired at some time up to a time."""
    expr = f"group by (alertname) (max_over_time({_alerts(among, but)}[{until + 1}s]))"
    return Question(expr, until, _each("alertname", names))


def named(alert: str, ranks: Iterable[int], *, until: int) -> Question:
    """Exactly these ranks have been named by an alert up to a time."""
    expr = f'group by (rank) (max_over_time(ALERTS{{alertname="{alert}", alertstate="firing"}}[{until + 1}s]))'
    return Question(expr, until, _each("rank", map(str, ranks)))


def ask(stored: Stored, questions: Iterable[Question], *, folder: Path, profile: Profile = WORKSHOP) -> str:
    """What promtool finds wrong with the answers; empty when every one is as expected."""
    rules = build_rules.ROOT / ("rules" if profile is WORKSHOP else f"{profile.name}/rules")
    test = {
        "interval": f"{stored.interval}s",
        "input_series": stored.input_series(),
        "promql_expr_test": [
            {
                "expr": question.expr,
                "eval_time": f"{question.at}s",
                "exp_samples": [{"labels": _selector(dict(labels)), "value": 1} for labels in question.expected],
            }
            for question in questions
        ],
    }
    document = {
        "rule_files": [str(path) for path in sorted(rules.glob("*.yml"))],
        "evaluation_interval": f"{profile.evaluate}s",
        "tests": [test],
    }
    path = folder / "simulated.json"
    path.write_text(json.dumps(document), encoding="utf-8")  # JSON is YAML, and quickly written
    done = run(need("promtool"), "test", "rules", str(path))
    return "" if done.returncode == 0 else done.stdout + done.stderr


def _alerts(among: str, but: Iterable[str]) -> str:
    chosen = f', alertname=~"{among}"' if among else ""
    return f'ALERTS{{alertstate="firing", alertname!~"{"|".join((QUIET, *but))}"{chosen}}}'


def _each(label: str, values: Iterable[str]) -> frozenset[tuple[tuple[str, str], ...]]:
    return frozenset(((label, value),) for value in values)


def _selector(labels: Mapping[str, str]) -> str:
    return "{" + ", ".join(f'{name}="{value}"' for name, value in labels.items()) + "}"
