"""Writes the rule files of every profile, and README.md: `python prometheus/build_rules.py [--check]`.

What they say is in `rulebook/`. The workshop's rules are `rules/`, where prometheus.yml loads them; `production/` has
the same rules with longer times, and prometheus.yml with its intervals.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from rulebook import readme
from rulebook.alert import Alert
from rulebook.monitoring import monitoring_alerts
from rulebook.profile import PRODUCTION, PROFILES, WORKSHOP, Profile, duration
from rulebook.recording import RECORDINGS
from rulebook.text import alert_file, recording_file
from rulebook.traditional import TRADITIONAL_ALERTS
from rulebook.training import training_alerts

__all__ = ["PROFILES", "RECORDINGS", "ROOT", "alerts", "files", "main"]

ROOT = Path(__file__).parent


def alerts(profile: Profile = WORKSHOP) -> tuple[Alert, ...]:
    """Every alert, the training set first."""
    return (*training_alerts(profile), *monitoring_alerts(profile), *TRADITIONAL_ALERTS)


def files() -> dict[str, str]:
    """Text of every file that is written, by its path below ROOT."""
    texts = {
        "README.md": readme.document(PROFILES, RECORDINGS, alerts()),
        "production/prometheus.yml": _scrape_config(PRODUCTION),
    }
    for profile in PROFILES:
        folder = "rules" if profile is WORKSHOP else f"{profile.name}/rules"
        texts[f"{folder}/stepscope.yml"] = recording_file("stepscope", RECORDINGS)
        for name in ("training", "traditional"):
            chosen = [alert for alert in alerts(profile) if alert.set == name]
            texts[f"{folder}/{name}.yml"] = alert_file(name, chosen, profile)
    return texts


def _scrape_config(profile: Profile) -> str:
    """prometheus.yml with the intervals of a profile."""
    text = (ROOT / "prometheus.yml").read_text(encoding="utf-8")
    for key, seconds in (
        ("scrape_interval", profile.scrape),
        ("scrape_timeout", profile.timeout),
        ("evaluation_interval", profile.evaluate),
    ):
        text, count = re.subn(rf"^  {key}: \w+$", f"  {key}: {duration(seconds)}", text, flags=re.MULTILINE)
        assert count == 1, f"prometheus.yml has {key} {count} times in its global block"
    return f"# Written by build_rules.py from ../prometheus.yml, with the times of {profile.name}.\n{text}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the files, or with --check says whether they are what would be written (exit status 1 when not)."""
    parser = argparse.ArgumentParser(description="Write the Prometheus rules.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file differs")
    check: bool = parser.parse_args(arguments).check
    differing = []
    for name, text in files().items():
        path = ROOT / name
        if check:
            if not path.is_file() or path.read_text(encoding="utf-8") != text:
                differing.append(name)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if differing:
        print(f"not what build_rules.py writes: {', '.join(differing)}; run `make rules`", file=sys.stderr)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
