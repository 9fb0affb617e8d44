from __future__ import annotations

import pytest

from faults.book import FaultBook
from faults.effects import Topology
from faults.errors import FaultError
from faults.kinds.pfc_storm import KIND
from faults.spec import INTENSITIES, FaultSpec
from tests.faults.kinds.helpers import application, effects_of


@pytest.mark.parametrize(
    ("word", "frames", "resent", "spike", "collapsed"),
    [("mild", 5_000, 100, 3.75, False), ("moderate", 10_000, 200, 6.5, False), ("severe", 20_000, 400, 12.0, True)],
)
def test_severity(word: str, frames: float, resent: float, spike: float, collapsed: bool) -> None:
    effects = effects_of(KIND, application(KIND, (2, 5), INTENSITIES[word]))
    (storm,) = effects.pause_storms
    assert (storm.fault, storm.seed, storm.ranks.tolist()) == ("f", 9, [2, 5])
    assert (storm.pause_frames_per_second, storm.retransmits_per_second) == (frames, resent)
    assert (storm.spike_factor, storm.spike_ratio) == (spike, 0.3)
    assert effects.fabric_collapsed is effects.stands_still is collapsed


def test_one_collapse_is_enough_in_any_order() -> None:
    each = application(KIND, intensity=0.3), application(KIND, intensity=0.9)
    assert effects_of(KIND, *each).fabric_collapsed
    assert effects_of(KIND, *reversed(each)).fabric_collapsed


def test_a_job_on_one_node_has_no_network() -> None:
    with pytest.raises(FaultError, match="kind: pfc_storm needs a network between nodes") as caught:
        FaultBook(Topology(4, 4), seed=0).put("f", FaultSpec(KIND.name, open_ended=True), at_seconds=0.0, next_step=0)
    assert caught.value.code == "unsupported"
