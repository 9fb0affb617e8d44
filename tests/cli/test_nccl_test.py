"""`stepscope nccl-test`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simulator.presets import PRESETS, preset
from simulator.sweep import in_job, sweep
from tests.cli.conftest import Command, python

JOB = "honest-64xh100"
COLUMNS = ["size_bytes", "time_us", "algbw_gb_per_s", "busbw_gb_per_s"]
COMPUTE = "straggler:ranks=2,slowdown=1.5"
NETWORK = "network_tail_latency:factor=3"


def swept(stepscope: Command, *words: str, job: str = JOB) -> tuple[list[dict[str, Any]], str]:
    """The list, and what was said of the step."""
    status, out, err = stepscope("nccl-test", "--preset", job, "--json", *words)
    assert status == 0
    assert err.count("\n") == 1
    rows = json.loads(out)
    assert isinstance(rows, list)
    return rows, err


@pytest.mark.parametrize("job", [name for name in PRESETS if PRESETS[name].ranks <= 64])
def test_json_is_the_sweep_of_the_simulator(stepscope: Command, job: str) -> None:
    rows, inside = swept(stepscope, "--seed", "5", job=job)
    assert rows == sweep(preset(job))
    assert [list(row) for row in rows] == [COLUMNS] * 32
    assert [row["size_bytes"] for row in rows] == [8 * 2**power for power in range(32)]
    assert inside == in_job(preset(job), seed=5).sentence + "\n"


def test_sizes_and_nodes(stepscope: Command) -> None:
    rows, _ = swept(stepscope, "--nodes", "2", "--min-bytes", "1M", "--max-bytes", "5M")
    assert [row["size_bytes"] for row in rows] == [2**20, 2**21, 2**22]
    assert rows == sweep(preset(JOB), nodes=2, min_bytes=2**20, max_bytes=5 * 2**20)


def test_a_fault_of_a_gpu_is_seen_inside_the_step_alone(stepscope: Command) -> None:
    calm, calm_inside = swept(stepscope)
    slow, slow_inside = swept(stepscope, "--fault", COMPUTE)
    assert slow == calm
    assert slow_inside != calm_inside


def test_a_fault_of_the_network_is_seen_in_both(stepscope: Command) -> None:
    calm, calm_inside = swept(stepscope)
    slow, slow_inside = swept(stepscope, "--fault", NETWORK)
    for before, after in zip(calm, slow, strict=True):
        assert after["time_us"] == pytest.approx(3.0 * before["time_us"])
        assert after["busbw_gb_per_s"] == pytest.approx(before["busbw_gb_per_s"] / 3.0)
    assert slow_inside != calm_inside


def test_faults_of_the_network_multiply(stepscope: Command) -> None:
    calm, _ = swept(stepscope)
    slow, _ = swept(stepscope, "--fault", NETWORK, "--fault", "network_tail_latency:factor=3,intensity=0.5")
    assert slow[0]["time_us"] == pytest.approx(6.0 * calm[0]["time_us"])


def test_no_network_matters_within_one_node(stepscope: Command) -> None:
    assert swept(stepscope, "--nodes", "1", "--fault", NETWORK)[0] == swept(stepscope, "--nodes", "1")[0]


@pytest.mark.parametrize(
    ("fault", "said", "factor"),
    [
        ("nccl_small_buffer", "NCCL_BUFFSIZE=524288", 1.4),
        ("gdr_disabled", "GPUDirect off", 2.0),
        ("link_degraded:ranks=2", "a slow link that makes transfers 3.28 times as long", 3.28),
        ("nccl_algo", "NCCL_ALGO=ring", 1.0),
    ],
)
def test_what_is_wrong_with_the_network_is_said_and_seen(
    stepscope: Command, fault: str, said: str, factor: float
) -> None:
    calm, _ = swept(stepscope)
    slow, _ = swept(stepscope, "--fault", fault)
    assert calm[-1]["busbw_gb_per_s"] / slow[-1]["busbw_gb_per_s"] == pytest.approx(factor, rel=0.02)
    assert sum(row["time_us"] for row in slow) > sum(row["time_us"] for row in calm)
    _, out, _ = stepscope("nccl-test", "--preset", JOB, "--min-bytes", "1G", "--max-bytes", "1G", "--fault", fault)
    assert out.splitlines()[0].endswith(f"and nothing else on them, {said}")


def test_for_people(stepscope: Command) -> None:
    status, out, err = stepscope(
        "nccl-test", "--preset", JOB, "--min-bytes", "512M", "--max-bytes", "1G", "--fault", NETWORK
    )
    assert (status, err) == (0, "")
    head, columns, half, one, mean, inside = [line for line in out.splitlines() if line]
    assert head == (
        f"{JOB}: all-reduce over 8 nodes × 8 NVIDIA H100 80GB HBM3 and nothing else on them, every collective 3 times "
        "as long on average"
    )
    assert columns.split() == ["size", "(B)", "time", "(us)", "algbw", "(GB/s)", "busbw", "(GB/s)"]
    assert (half.split()[0], one.split()[0]) == ("536,870,912", "1,073,741,824")
    assert mean.startswith("average bus bandwidth over these sizes: ")
    assert inside.startswith("Inside step ")
    assert "waits" in inside


def test_a_process_of_its_own() -> None:
    done = python("-m", "stepscope", "nccl-test", "--max-bytes", "64", "--json")
    assert done.returncode == 0
    assert [row["size_bytes"] for row in json.loads(done.stdout)] == [8, 16, 32, 64]
    assert done.stderr.startswith("Inside step ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--preset", "honest"), f"--preset: 'honest' is not one of {', '.join(PRESETS)}"),
        (("--nodes", "2"), "--nodes: 2 is not a whole number from 1 to 1, the nodes of workshop-4gpu"),
        (("--nodes", "0"), "--nodes: '0' is not a whole number of at least 1"),
        (("--min-bytes", "3X"), "--min-bytes: '3X' is not a number of bytes such as 8, 64K, 512M or 16G"),
        (("--max-bytes", "0"), "--max-bytes: '0' is not a number of bytes such as 8, 64K, 512M or 16G"),
        (("--max-bytes", "4"), "--max-bytes: 4 is not a whole number of bytes from 8 to"),
        (("--fault", "stragler"), "--fault 'stragler': kind: must be one of "),
        (("--fault", NETWORK), f"--fault '{NETWORK}': kind: network_tail_latency needs a network between nodes"),
        (("--preset", JOB, *["--fault", "none"] * 65), "--fault: at most 64 faults may be live at once"),
        (("--seed", "-1"), "--seed: '-1' is not a whole number from 0 to 4294967295"),
    ],
)
def test_wrong_input(stepscope: Command, words: tuple[str, ...], said: str) -> None:
    status, out, err = stepscope("nccl-test", *words)
    assert (status, out) == (2, "")
    assert err.startswith(f"stepscope nccl-test: {said}")
    assert err.count("\n") == 1
