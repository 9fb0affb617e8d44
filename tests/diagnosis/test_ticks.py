"""What the simulator's feeder hands on is what scrapes would have stored, no more."""

from __future__ import annotations

import numpy as np
import pytest

from diagnosis.series import Series
from diagnosis.ticks import series_of
from simulator.presets import preset
from tests.simulator.jobs import run_with

ANATOMY = preset("anatomy-32gpu")


def seen(fault: str) -> Series:
    run = run_with(ANATOMY, fault)
    return series_of([run.advance() for _ in range(12)])


def test_of_a_node_that_does_not_answer_nothing_is_known_but_that() -> None:
    series = seen("node_unreachable:nodes=2")
    assert series.up[-1].tolist() == [1, 1, 0, 1]
    gone = series.node_of == 2
    for values in (*series.gpu.values(), *series.rank.values(), series.gpu_up):
        assert np.isnan(values[:, gone]).all()
        assert not np.isnan(values[:, ~gone]).any()
    assert np.isnan(series.phase_seconds[:, :, gone]).all()
    assert not np.isnan(series.phase_seconds[:, :, ~gone]).any()
    links = np.array([link.node for link in series.links]) == 2
    for values in series.link.values():
        assert np.isnan(values[-1]).tolist() == links.tolist()
    assert not np.isnan(series.single["training_steps_total"]).any()


def test_a_lost_gpu_has_no_readings_and_its_rank_has_its_counters() -> None:
    series = seen("gpu_lost:ranks=5")
    for name, values in series.gpu.items():
        assert np.flatnonzero(np.isnan(values[-1])).tolist() == [5], name
    assert series.gpu_up[-1].tolist() == [float(rank != 5) for rank in range(32)]
    assert not np.isnan(series.phase_seconds).any()


def test_held_profiling_counters_are_0_and_device_fields_are_not() -> None:
    series = seen("prof_fields_zero:ranks=5")
    for name, values in series.gpu.items():
        if name.startswith("DCGM_FI_PROF_"):
            assert not values[-1, 5], name
            assert values[-1, 6] > 0, name
    assert series.gpu["DCGM_FI_DEV_GPU_UTIL"][-1, 5] > 50


def test_a_late_source_repeats_its_reading() -> None:
    series = seen("telemetry_stale:ranks=5")
    watts = series.gpu["DCGM_FI_DEV_POWER_USAGE"]
    assert len(set(watts[:, 5].tolist())) == 1
    assert len(set(watts[:, 6].tolist())) > 1


@pytest.mark.parametrize(("word", "xid"), [("mild", 63.0), ("moderate", 94.0)])
def test_the_last_xid_and_the_rows_are_those_of_the_board(word: str, xid: float) -> None:
    series = seen(f"ecc_error:ranks=5,rows=3,intensity={word}")
    assert series.gpu["DCGM_FI_DEV_XID_ERRORS"][-1, 5] == xid
    rows = series.gpu["DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS"][-1]
    assert rows.sum() == rows[5] == (0.0 if word == "mild" else 3.0)
