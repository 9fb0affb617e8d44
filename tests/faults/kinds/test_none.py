from __future__ import annotations

from faults.kinds.none import KIND
from tests.faults.kinds.helpers import CLUSTER, application, effects_of
from tests.faults.snapshots import is_neutral


def test_does_nothing() -> None:
    assert is_neutral(effects_of(KIND, application(KIND)), CLUSTER)
