"""Rules as the YAML that Prometheus reads, one comment for each, so that the file can be read without its code."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from textwrap import indent

from rulebook.alert import Alert
from rulebook.profile import Profile, duration
from rulebook.recording import Recording

_HEAD = "# Written by prometheus/build_rules.py from prometheus/rulebook; edit that and run `make rules`.\ngroups:\n"


def recording_file(group: str, recordings: Iterable[Recording]) -> str:
    """A file with one group of recording rules."""
    return _file(group, [[f"# {rule.about}", f"- record: {rule.record}", *_expr(rule.expr)] for rule in recordings])


def alert_file(group: str, alerts: Iterable[Alert], profile: Profile) -> str:
    """A file with one group of alerts."""
    return _file(group, [_alert(alert, profile) for alert in alerts])


def _file(group: str, rules: Sequence[Sequence[str]]) -> str:
    lines = [line for rule in rules for line in rule]
    return f"{_HEAD}  - name: {group}\n    rules:\n" + "".join(f"      {line}\n" for line in lines)


def _alert(alert: Alert, profile: Profile) -> list[str]:
    lines = [f"# {alert.about}", f"- alert: {alert.name}", *_expr(alert.expr)]
    lines.append(f"  for: {duration(profile.seconds(alert.patience))}")
    if alert.holds:
        lines.append(f"  keep_firing_for: {duration(profile.hold)}")
    lines += ["  labels:", f"    severity: {alert.severity}", f"    set: {alert.set}", "  annotations:"]
    for name in ("summary", "description", "runbook_url"):
        lines.append(f"    {name}: {json.dumps(getattr(alert, name), ensure_ascii=False)}")
    return lines


def _expr(expr: str) -> list[str]:
    return ["  expr: |-", *indent(expr, "    ").splitlines()]
