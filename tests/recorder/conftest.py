"""A recorder at hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.recorder.parts import Bench, recording


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A recorder of rank 0 of 1, on a clock of its own."""
    with recording(tmp_path) as made:
        yield made
