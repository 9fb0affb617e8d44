"""Files of per-rank step times: both layouts, and every mistake with its line."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.ranks.table import COMPUTE, INPUT, WAITING, read_ranks

HEADER = "step,rank,phase,seconds"


def test_long_rows_add_up_by_kind_of_time() -> None:
    times = read_ranks(
        [
            HEADER,
            "1,0,forward,1",
            "1,0,backward,2",
            "1,0,data_wait,0.5",
            "1,0,collective,4",
            "1,1,forward,3",
            "1,,step,8",
        ]
    )
    assert [place.rank for place in times.places] == ["0", "1"]
    assert times.seconds[COMPUTE, 0].tolist() == [3.0, 3.0]
    assert times.seconds[INPUT, 0].tolist() == [0.5, 0.0]
    assert times.seconds[WAITING, 0].tolist() == [4.0, 0.0]
    assert times.step_seconds.tolist() == [8.0]


def test_wide_columns_are_ranks() -> None:
    times = read_ranks(["step,rank0,rank1,10\n", "7,1.0,2.0,3.0\n", "8,1.5,2.5,3.5\n"])
    assert [place.rank for place in times.places] == ["0", "1", "10"]
    assert times.steps == ("7", "8")
    assert times.seconds[COMPUTE].tolist() == [[1.0, 2.0, 3.0], [1.5, 2.5, 3.5]]
    assert times.step_seconds.tolist() == [3.0, 3.5]


def test_a_mark_of_byte_order_blank_lines_and_foreign_columns_are_borne() -> None:
    times = read_ranks(["\ufeffseconds,note,phase,rank,step\n", "\n", "1.5,hi,forward,3,1\n"])
    assert times.places[0].rank == "3"
    assert times.seconds[COMPUTE, 0, 0] == 1.5


def test_a_rank_that_lacks_a_step_is_not_taken_for_a_quick_one() -> None:
    times = read_ranks([HEADER, "1,0,forward,1", "1,1,forward,1", "2,0,forward,1"])
    assert np.isnan(times.seconds[:, 1, 1]).all()


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "line 1: the file is empty"),
        (["a,b,c"], "line 1: needs the columns"),
        (["step,rank,phase"], "line 1: needs the columns"),
        (["step,rank,rank,phase,seconds"], "line 1: the column 'rank' comes twice"),
        ([HEADER], "line 2: no row"),
        ([HEADER, "1,0,forward"], "line 2: seconds: is missing"),
        ([HEADER, "1,0,forward,fast"], "line 2: seconds: 'fast' is not a number of seconds"),
        ([HEADER, "1,0,forward,1", "2,0,forward,-1"], "line 3: seconds: '-1'"),
        ([HEADER, "1,0,forward,nan"], "line 2: seconds: 'nan'"),
        ([HEADER, "1,0,fwd,1"], "line 2: phase: 'fwd' is not one of step, data_wait, h2d"),
        ([HEADER, "1,,forward,1"], "line 2: rank: is empty"),
        ([HEADER, ",0,forward,1"], "line 2: step: is empty"),
        ([HEADER, "1,0,forward,1", "1,0,forward,2"], "line 3: step 1 of rank 0 has two rows"),
        ([HEADER + ",stage", "1,0,forward,1,0", "2,0,forward,1,1"], "line 3: rank 0 has another dp_rank or stage"),
        (["step,0,1", "1,1"], "line 2: 1: is missing"),
        (["step,0,1", "1,1,2", "1,1,2"], "line 3: step 1 has two rows"),
        ([HEADER, '1,0,"forward,1'], "line 2: unexpected end of data"),
    ],
)
def test_a_mistake_is_said_with_its_line(lines: list[str], said: str) -> None:
    with pytest.raises(ValueError, match=r"^line") as caught:
        read_ranks([line + "\n" for line in lines])
    assert str(caught.value).startswith(said)


@given(st.lists(st.text(max_size=40), max_size=8))
def test_no_file_raises_anything_but_a_value_error(lines: list[str]) -> None:
    with suppress(ValueError):
        read_ranks(lines)
