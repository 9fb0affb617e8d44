"""The folder's README: every recorded series and every alert, which are names that others build on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rulebook.alert import Alert
from rulebook.profile import Profile, duration
from rulebook.recording import Recording

_INTRO = """# Prometheus: scrape configuration and rules

<!-- Written by prometheus/build_rules.py. Do not edit. -->

`prometheus.yml` with `rules/` is what the compose stack runs: the profile *workshop*. `production/` has the same rules
with longer times; start Prometheus with `--config.file=/etc/prometheus/production/prometheus.yml` for it. `make rules`
writes both from `rulebook/`; thresholds are in [diagnosis/thresholds.py](../diagnosis/thresholds.py). Nothing needs
more than Prometheus 3.5.

Names and labels below are a public interface, as those in [METRICS.md](../METRICS.md) are. What to do when an alert
fires is in [RUNBOOK.md](../RUNBOOK.md).
"""

_RECORDED = """## Recorded series

Over one minute, per run (label `run`) or per rank (`run`, `rank`); boards and alerts read the same. Evaluating
them costs about a millisecond of one core per rank.
"""

_ALERTS = """## Alerts

Labels `set` (`training` or `traditional`) and `severity`; as a query, `ALERTS{set="training"}`. `for` is given for
workshop and production.
"""

_TESTS = """## Tests

`tests/` holds promtool tests by hand: each alert fires once and stays silent for every reason that could be mistaken
for its own. The simulator tests the same files: runs of every fault kind, and healthy ones, are scraped from the
exporter's own pages and given to `promtool test rules` (tests/stack/test_alerts_simulated.py). A new kind of fault has
to say in tests/prometheus/expectations.py what it fires.
"""


def document(profiles: Sequence[Profile], recordings: Iterable[Recording], alerts: Iterable[Alert]) -> str:
    """The whole file."""
    times = [
        ("scrape and evaluation interval", [profile.scrape for profile in profiles]),
        ("window over raw series", [profile.window for profile in profiles]),
        ("`for` of most alerts", [profile.confirm for profile in profiles]),
        ("`for` of the traditional device alerts", [profile.settle for profile in profiles]),
        ("`keep_firing_for`", [profile.hold for profile in profiles]),
    ]
    parts = [
        _INTRO,
        _table(
            ["", *(profile.name for profile in profiles)],
            ([name, *map(duration, values)] for name, values in times),
        ),
        _RECORDED,
        _table(["series", "meaning"], ([f"`{rule.record}`", rule.about] for rule in recordings)),
        _ALERTS,
        _table(
            ["alert", "set", "severity", "`for`", "says"],
            (
                [
                    f"[`{alert.name}`](../{alert.runbook_url})",
                    alert.set,
                    alert.severity,
                    ", ".join(duration(profile.seconds(alert.patience)) for profile in profiles),
                    alert.summary,
                ]
                for alert in alerts
            ),
        ),
        _TESTS,
    ]
    return "\n".join(parts)


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"
