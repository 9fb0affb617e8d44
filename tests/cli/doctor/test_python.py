"""Python and its packages."""

from __future__ import annotations

import pytest

from stepscope.cli.doctor.python import Python, judge, look
from stepscope.cli.extras import GPU_PACKAGES, LAB_PACKAGES


def test_this_one_will_do() -> None:
    assert [check.status for check in judge(look())] == ["ok", "ok"]


def test_packages_are_looked_for_by_name() -> None:
    assert look(lambda name: name != "numpy").missing == ("numpy",)
    assert look(lambda _: None).missing == LAB_PACKAGES


def test_a_node_that_only_exports_has_what_it_needs() -> None:
    found = look(lambda name: name in GPU_PACKAGES)
    assert found.exports
    assert "fastapi" in found.missing
    packages = list(judge(found))[1]
    assert packages.status == "ok"
    assert packages.found.startswith("all that stepscope export needs; of the lab's, which `make setup` brings, not ")
    assert not look(lambda name: name in GPU_PACKAGES and name != "pynvml").exports


@pytest.mark.parametrize(
    ("version", "missing", "statuses", "said"),
    [
        ((3, 11, 0), (), ["ok", "ok"], "CPython 3.11.0"),
        ((3, 10, 12), (), ["problem", "ok"], "use Python 3.11 or newer"),
        ((3, 13, 1), ("numpy", "yaml"), ["ok", "problem"], "not installed: numpy, yaml"),
        ((3, 13, 1), ("numpy",), ["ok", "problem"], "make setup in the repository"),
    ],
)
def test_verdicts(version: tuple[int, int, int], missing: tuple[str, ...], statuses: list[str], said: str) -> None:
    checks = list(judge(Python(version, "CPython", missing)))
    assert [check.name for check in checks] == ["python", "packages"]
    assert [check.status for check in checks] == statuses
    assert said in " ".join(check.found + check.advice for check in checks)
