"""The closed forms of the overlapped all-reduce against the plain loop that they replace."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from simulator.overlap import Chain, bucket_sizes, chain_for, kernel_seconds, upper_envelope
from tests.simulator.jobs import small

seconds = st.floats(1e-6, 0.2)


def sequential(ready: np.ndarray, times: np.ndarray, start: np.ndarray, window: np.ndarray) -> tuple[float, np.ndarray]:
    """End of the chain, and time inside its kernels per rank, bucket by bucket."""
    end, inside = 0.0, np.zeros(len(start))
    for share, time in zip(ready, times, strict=True):
        own = start + share * window
        entered = np.maximum(own, end)
        end = max(end, own.max()) + time
        inside += end - entered
    return end, inside


@settings(max_examples=200, deadline=None)
@given(data=st.data(), buckets=st.integers(1, 30), ranks=st.integers(1, 8))
def test_the_end_of_the_chain_and_kernel_time_equal_the_loop(data: st.DataObject, buckets: int, ranks: int) -> None:
    sizes = data.draw(hnp.arrays(float, buckets, elements=st.floats(0.01, 1.0)))
    times = data.draw(hnp.arrays(float, buckets, elements=seconds))
    start = data.draw(hnp.arrays(float, ranks, elements=seconds))
    window = data.draw(hnp.arrays(float, ranks, elements=seconds))
    ready = np.cumsum(sizes) / sizes.sum()
    ready[-1] = 1.0
    slopes, intercepts, breaks = upper_envelope(ready, np.cumsum(times[::-1])[::-1])
    chain = Chain(ready, times, slopes, intercepts, breaks, 0.1, times[:-1].sum(), ready[0], 1.0, 0.0, True)
    expected_end, expected_inside = sequential(ready, times, start, window)
    assert (start + chain.end_after_start(window)).max() == pytest.approx(expected_end, rel=1e-9)
    arrival = start + window
    end = np.array([expected_end])
    inside = kernel_seconds(chain, start[None, :], window[None, :], arrival[None, :], end)
    np.testing.assert_allclose(inside[0], expected_inside, rtol=1e-9, atol=1e-12)


def test_buckets_add_up_and_the_first_one_is_small() -> None:
    sizes = bucket_sizes(100e6, 25e6, 1e6)
    assert sizes.sum() == pytest.approx(100e6)
    assert sizes[0] == 1e6
    assert sizes[1:-1].tolist() == [25e6] * 3
    assert bucket_sizes(0.5e6, 25e6, 1e6).tolist() == [0.5e6]


def test_compute_slows_by_the_sm_share_only_while_a_collective_runs_beside_it() -> None:
    chain = chain_for(small())
    long, short = np.array([1.0]), np.array([1e-3])
    assert chain.contention == pytest.approx(16 / 132)
    assert chain.dilate(long)[0] == pytest.approx(1.0 + chain.contention * chain.hidden_seconds)
    whole_window = 1.0 / (1.0 - chain.contention * (1.0 - chain.first_ready))
    assert chain.dilate(short)[0] == pytest.approx(1e-3 * whole_window)
    alone = chain_for(small(overlap=False))
    assert alone.dilate(long)[0] == 1.0


def test_fsdp_exposes_first_gather_last_scatter_and_what_does_not_fit() -> None:
    spec = small(strategy="fsdp", nodes=4, gpus_per_node=8)
    chain = chain_for(spec)
    half = chain.seconds[0]
    assert len(chain.seconds) == 3 * spec.model.layers
    roomy, tight = 10.0 * chain.total_seconds, 0.5 * chain.total_seconds
    assert chain.end_after_start(np.array([roomy]))[0] == pytest.approx(roomy + 2 * half)
    assert chain.end_after_start(np.array([tight]))[0] == pytest.approx(chain.total_seconds)


def test_overlap_hides_all_but_the_last_bucket_of_a_fast_fabric() -> None:
    spec = small()
    chain = chain_for(spec)
    assert chain.end_after_start(np.array([1.0]))[0] == pytest.approx(1.0 + chain.seconds[-1])
