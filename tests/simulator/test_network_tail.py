"""A fabric with a latency tail: everybody's transfers take longer, nobody's wait does."""

from __future__ import annotations

import numpy as np
import pytest

from faults.errors import FaultError
from faults.parse import parse_fault
from simulator.headless import start
from simulator.job import JobSpec
from simulator.presets import preset
from tests.simulator.jobs import small
from tests.simulator.watching import Watched, watch

HONEST = preset("honest-64xh100")
SMALL = small(nodes=2, gpus_per_node=4)
"""DDP over two nodes, with a step of 25 ms."""


def exposed_share(watched: Watched) -> float:
    """Share of the step in transfers that no compute hides."""
    return float(watched.phase("collective").mean()) / watched.step_seconds


@pytest.mark.parametrize(
    ("spec", "seconds", "util"), [(HONEST, 900, 99.0), (SMALL, 60, 98.7)], ids=["honest-64xh100", "small-ddp"]
)
def test_every_rank_transfers_longer_and_none_waits_longer(spec: JobSpec, seconds: int, util: float) -> None:
    healthy, seen = watch(spec, seconds=seconds), watch(spec, "network_tail_latency", seconds=seconds)
    transfer = seen.phase("collective")
    assert np.ptp(transfer) <= 1e-12
    assert transfer.mean() > 5 * healthy.phase("collective").mean()
    assert exposed_share(seen) > exposed_share(healthy) + 0.04
    assert seen.mfu < 0.92 * healthy.mfu
    waited = np.abs(seen.phase("collective_wait") - healthy.phase("collective_wait"))
    assert waited.max() < 0.008 * healthy.step_seconds, "no rank waits for another one"
    kernels = [w.counters.collective_seconds / w.counters.steps for w in (seen, healthy)]
    assert (kernels[0] > 1.1 * kernels[1]).all()
    assert (seen.mean("gpu_util_percent") >= util).all()
    assert (seen.mean("gpu_util_percent") >= healthy.mean("gpu_util_percent") - 0.01).all()
    tensor = seen.mean("tensor_active") / healthy.mean("tensor_active")
    assert np.ptp(tensor) < 0.01
    assert (seen.mean("power_watts") < healthy.mean("power_watts")).all()


def test_a_long_tail_makes_the_bubble_of_38_percent() -> None:
    seen = watch(HONEST, "network_tail_latency:factor=2.7", seconds=900)
    assert exposed_share(seen) == pytest.approx(0.38, abs=0.03)
    assert (seen.mean("gpu_util_percent") >= 99.0).all()


def test_it_varies_from_step_to_step_and_its_mean_is_the_factor() -> None:
    spec = small(nodes=2, gpus_per_node=4, overlap=False).without_noise()
    run = start(spec, seed=1, faults=[parse_fault("network_tail_latency:factor=4")])
    calm = start(spec, seed=1).model.chain.total_seconds
    times: list[float] = []
    while len(times) < 2_000:
        run.advance()
        times += [float(block.phases[0, 5, 0]) / calm for block, _ in run.ended]
    assert np.mean(times) == pytest.approx(4.0, rel=0.05)
    assert min(times) >= 1.0
    assert np.std(times) > 1.0
    assert max(times) > 8.0


def test_cleared_equals_never_injected() -> None:
    broken, calm = start(SMALL, seed=5), start(SMALL, seed=5)
    broken.faults.put("f", parse_fault("network_tail_latency"), at_seconds=0.0, next_step=0)
    phases: dict[str, dict[int, np.ndarray]] = {"broken": {}, "calm": {}}
    for second in range(40):
        if second == 10:
            broken.faults.clear("f", at_seconds=broken.seconds)
        for name, run in (("broken", broken), ("calm", calm)):
            run.advance()
            if second >= 15:
                phases[name] |= {block.first_step: block.phases[0] for block, _ in run.ended}
    shared = sorted(phases["broken"].keys() & phases["calm"].keys())
    assert len(shared) > 500
    for step in shared:
        np.testing.assert_array_equal(phases["broken"][step], phases["calm"][step])


@pytest.mark.parametrize("name", ["workshop-4gpu", "trap-87"])
def test_a_job_on_one_node_says_why_not(name: str) -> None:
    with pytest.raises(FaultError, match="needs a network between nodes"):
        start(preset(name), seed=1, faults=[parse_fault("network_tail_latency")])
