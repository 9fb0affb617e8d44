from __future__ import annotations

import pytest

from faults.kinds.ecc_error import KIND
from faults.spec import INTENSITIES
from faults.target import Target
from tests.faults.kinds.helpers import application, effects_of


@pytest.mark.parametrize(
    ("word", "xid", "correctable"), [("mild", 63, True), ("moderate", 94, False), ("severe", 48, False)]
)
def test_severity_is_the_xid_and_whether_the_process_dies(word: str, xid: int, correctable: bool) -> None:
    effects = effects_of(KIND, application(KIND, (2, 5), INTENSITIES[word], rows=3))
    (error,) = effects.ecc_errors
    assert (error.fault, error.ranks.tolist(), error.xid, error.rows) == ("f", [2, 5], xid, 3)
    assert error.correctable is correctable
    assert effects.dead.nonzero()[0].tolist() == ([] if correctable else [2, 5])
    assert not effects.lost.any()


def test_hits_one_gpu_unless_told() -> None:
    assert KIND.default_target_for(KIND.default_params()) == Target("one")
