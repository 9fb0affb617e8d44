"""What holds for every kind that there is, a new one included."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.effects import Effects
from faults.kind import Kind
from faults.registry import kinds
from tests.faults.kinds.helpers import CLUSTER, application, effects_of
from tests.faults.snapshots import is_neutral, per_rank
from tests.faults.strategies import param_values, relaxed

each_kind = pytest.mark.parametrize("kind", kinds().values(), ids=kinds().keys())


def params_of(kind: Kind) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({param.name: param_values(param) for param in kind.params})


@each_kind
@relaxed
@given(st.data())
def test_intensity_zero_is_no_fault(kind: Kind, data: st.DataObject) -> None:
    none_left = application(kind, intensity=0.0, **data.draw(params_of(kind)))
    assert is_neutral(effects_of(kind, none_left), CLUSTER)


@each_kind
@relaxed
@given(st.data())
def test_only_the_target_ranks_are_touched(kind: Kind, data: st.DataObject) -> None:
    effects = effects_of(kind, application(kind, (3,), data.draw(st.floats(0, 1)), **data.draw(params_of(kind))))
    others = [rank for rank in range(8) if rank != 3]
    healthy = per_rank(Effects.neutral(CLUSTER), CLUSTER)
    for name, values in per_rank(effects, CLUSTER).items():
        assert values[others].tolist() == healthy[name][others].tolist(), name
    for of_ranks in (effects.late_batches, effects.host_paths, effects.pauses, effects.unevennesses):
        assert all(each.ranks.tolist() == [3] for each in of_ranks)


@each_kind
def test_application_is_not_changed(kind: Kind) -> None:
    once = application(kind)
    params, ranks = dict(once.params), once.ranks.tolist()
    effects_of(kind, once)
    assert (dict(once.params), once.ranks.tolist()) == (params, ranks)
