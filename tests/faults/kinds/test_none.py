from __future__ import annotations

from faults.kinds.none import KIND
from tests.faults.kinds.helpers import application, effects_of, is_neutral


def test_does_nothing() -> None:
    assert is_neutral(effects_of(KIND, application(KIND)))
