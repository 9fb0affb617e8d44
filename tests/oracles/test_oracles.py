"""The model against published measurements: one test per oracle."""

from __future__ import annotations

import pytest

from tests.oracles.explosion import logged
from tests.oracles.fleet import logged_medians
from tests.oracles.oracle import Oracle
from tests.oracles.oracles import ORACLES


@pytest.mark.parametrize("oracle", ORACLES, ids=[oracle.name for oracle in ORACLES])
def test_the_model_agrees_with_what_was_measured(oracle: Oracle) -> None:
    text = f"{oracle.what}: asked {oracle.asked}, reached {oracle.reached}"
    if oracle.miss:
        assert not oracle.holds(), f"{text}: it holds now, so its `miss` must go"
    else:
        assert oracle.holds(), text


def test_oracles_have_names_of_their_own() -> None:
    assert len({oracle.name for oracle in ORACLES}) == len(ORACLES)


def test_the_log_itself_has_the_shape_that_an_explosion_is_asked_for() -> None:
    shape = logged()
    assert ((shape.growth >= 2.5) & (shape.growth <= 10.0)).all()
    assert 1_000 <= shape.total <= 5_000
    assert shape.loss_lag_steps == 1
    assert shape.step_time_moved < 0.015


def test_the_published_fleets_have_the_medians_that_ours_is_asked_for() -> None:
    assert min(logged_medians("gpu_util_pct")) >= 97.0
    assert max(logged_medians("sm_active_pct")) <= 55.0
