"""The pages of the project's case collection."""

from __future__ import annotations

from pathlib import Path

CASES = Path(__file__).parents[2] / "data" / "dcgm"


def page(case: str, name: str = "payload") -> str:
    """One page by the start of its case's name, `04` for example."""
    (path,) = CASES.glob(f"{case}-*/{name}.prom")
    return path.read_bytes().decode("utf-8")


def pages() -> list[str]:
    """All of them."""
    return [path.read_bytes().decode("utf-8") for path in sorted(CASES.glob("*/*.prom"))]
