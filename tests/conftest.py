"""What holds for a whole session of tests, in the process that leads it."""

from __future__ import annotations

import os

import pytest


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A skipped test fails the session where STEPSCOPE_REQUIRE_STACK=1 says that nothing may be skipped."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("STEPSCOPE_REQUIRE_STACK") == "1" and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
