"""The service of the profiles `gpu` and `dcgm` on a real engine, without the GPUs that it would reserve."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.stack.composed import Stack, composed
from tests.stack.real import ROOT, eventually

pytestmark = pytest.mark.stack

WITHOUT_GPUS = "services: {gpu-exporter: {deploy: !reset null}}\n"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    override = tmp_path_factory.mktemp("override") / "without-gpus.yml"
    override.write_text(WITHOUT_GPUS, encoding="utf-8")
    files = f"{ROOT / 'docker-compose.yml'}:{override}"
    with composed("export", COMPOSE_FILE=files, COMPOSE_PROFILES="gpu") as running:
        running.up("simulator", "prometheus", "gpu-exporter")
        yield running


def test_it_is_healthy_without_root_on_a_read_only_root(stack: Stack) -> None:
    found = stack.inspect("gpu-exporter")
    assert found["State"]["Health"]["Status"] == "healthy"
    assert found["Config"]["User"] == "10001:10001"
    assert found["HostConfig"]["ReadonlyRootfs"] is True


def test_the_image_has_all_that_reads_gpus(stack: Stack) -> None:
    done = stack.compose("exec", "--no-TTY", "gpu-exporter", "python3", "-c", "import pynvml, requests")
    assert done.returncode == 0, done.stderr


def test_it_says_what_it_found_and_hears_recorders_of_any_user(stack: Stack) -> None:
    log = stack.compose("logs", "--no-color", "gpu-exporter").stdout
    assert "nvml: not used:" in log
    assert "recorders report to /run/stepscope/recorder.sock" in log
    probe = (
        "import socket; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); "
        "s.sendto(b'{}', '/run/stepscope/recorder.sock')"
    )
    done = stack.compose("exec", "--no-TTY", "--user", "4321:4321", "gpu-exporter", "python3", "-c", probe)
    assert done.returncode == 0, done.stderr


def test_prometheus_finds_it_by_its_name(stack: Stack) -> None:
    def scraped() -> dict[tuple[tuple[str, str], ...], float] | None:
        return stack.prometheus.vector('exporter_source_up{job="gpu", instance="gpu-exporter", source="job"}') or None

    assert set(eventually("it is scraped", scraped, within=60).values()) == {1.0}
    assert not stack.prometheus.vector('exporter_source_up{job="gpu"} == 0'), "a GPU that is not there is not down"
