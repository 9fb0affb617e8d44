from __future__ import annotations

import pytest

from faults.kinds.telemetry_stale import KIND
from faults.spec import INTENSITIES
from faults.target import Target
from tests.faults.kinds.helpers import application, effects_of


@pytest.mark.parametrize(("word", "seconds"), [("mild", 75), ("moderate", 150), ("severe", 300)])
def test_severity_is_the_time_between_readings(word: str, seconds: float) -> None:
    effects = effects_of(KIND, application(KIND, (2, 5), INTENSITIES[word]))
    assert effects.refresh_seconds.tolist() == [0, 0, seconds, 0, 0, seconds, 0, 0]
    assert not effects.stands_still


def test_the_longest_time_counts() -> None:
    each = application(KIND, (1, 2), refresh_seconds=60.0), application(KIND, (2, 3), refresh_seconds=90.0)
    assert effects_of(KIND, *each).refresh_seconds[1:4].tolist() == [60, 90, 90]
    assert effects_of(KIND, *reversed(each)).refresh_seconds[1:4].tolist() == [60, 90, 90]


def test_every_source_is_late_unless_told() -> None:
    assert KIND.default_target_for(KIND.default_params()) == Target("all")
