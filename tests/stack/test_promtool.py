"""The shipped Prometheus configuration and rules, as promtool sees them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stack.real import ROOT, need, run

PROMETHEUS = ROOT / "prometheus"
RULE_TESTS = sorted((PROMETHEUS / "tests").glob("*.yml"))

pytestmark = pytest.mark.stack


@pytest.mark.parametrize("path", RULE_TESTS, ids=lambda path: path.stem)
def test_the_rules_pass_their_own_tests(path: Path) -> None:
    done = run(need("promtool"), "test", "rules", path.name, cwd=path.parent)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("folder", [PROMETHEUS, PROMETHEUS / "production"], ids=["workshop", "production"])
def test_the_configuration_and_the_rules_are_accepted_with_every_lint(folder: Path) -> None:
    done = run(need("promtool"), "check", "config", "--lint=all", "--lint-fatal", "prometheus.yml", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
