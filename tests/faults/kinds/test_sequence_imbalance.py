from __future__ import annotations

import pytest

from faults.kinds.sequence_imbalance import KIND
from faults.target import Target
from tests.faults.kinds.helpers import application, effects_of


@pytest.mark.parametrize(("intensity", "excess"), [(0.25, 0.125), (0.5, 0.25), (1.0, 0.5)])
def test_spreads_the_work_of_its_ranks(intensity: float, excess: float) -> None:
    effects = effects_of(KIND, application(KIND, (2, 5), intensity))
    (uneven,) = effects.unevennesses
    assert (uneven.fault, uneven.seed, uneven.ranks.tolist(), uneven.excess) == ("f", 9, [2, 5], excess)
    assert (effects.compute_slowdown == 1.0).all(), "nobody is slow"


def test_several_stand_side_by_side() -> None:
    effects = effects_of(KIND, application(KIND), application(KIND, longest=2.5))
    assert [uneven.excess for uneven in effects.unevennesses] == [0.5, 1.5]


def test_even_the_cheapest_batch_takes_some_work() -> None:
    (longest,) = KIND.params
    assert longest.maximum is not None
    assert 1.0 - 0.5 * (longest.maximum - 1.0) > 0.2


def test_every_rank_unless_told() -> None:
    assert KIND.default_target_for(KIND.default_params()) == Target("all")
