"""A real Prometheus and the board *GPUs* on `stepscope export`, fed by a dcgm-exporter's page and by a fake NVML."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack

import pytest

from exporter.catalogue import DCGM_FAMILIES, EXPORTER_FAMILIES
from tests.export.live import environment, running
from tests.exporter.nvml.fake import healthy
from tests.stack.board_gaps import DCGM
from tests.stack.gallery import DCGM_HOST, DCGM_PAGE, Scene
from tests.stack.pages import job, serving
from tests.stack.real import eventually
from tests.stack.servers import Prometheus, running_prometheus, shipped_config
from tests.stack.test_boards import BOARDS, shortfalls

pytestmark = pytest.mark.stack

NVML = Scene(name="nvml", preset="")
HOSTS = {DCGM: DCGM_HOST, NVML: "node-a"}
FORMATS = {DCGM: "PrometheusText0.0.4", NVML: "OpenMetricsText1.0.0"}
ENERGY = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"


def living_page() -> str:
    """The committed page, on which energy grows as it does on a GPU that is on."""
    lines = DCGM_PAGE.read_text(encoding="utf-8").splitlines(keepends=True)
    grown = int(1e6 * time.time()) % 10**12
    return "".join(
        re.sub(r" (\d+)\n$", lambda found: f" {int(found[1]) + grown}\n", line) if line.startswith(ENERGY) else line
        for line in lines
    )


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """Both exporters under one Prometheus with the shipped rules."""
    with ExitStack() as stack:
        page = stack.enter_context(serving({"/metrics": living_page}))
        url = f"http://{page}/metrics"
        numbers = itertools.count()

        def started(scenario: Mapping[str, object] | None = None, **env: str) -> str:
            folder = tmp_path_factory.mktemp(f"exporter{next(numbers)}")
            exporter = stack.enter_context(running(environment(folder, scenario, **env)))
            return exporter.url.removeprefix("http://")

        boards = {"devices": [healthy(0), healthy(1)]}
        addresses = {
            DCGM: started(STEPSCOPE_SOURCE="dcgm,job", STEPSCOPE_DCGM_URL=url),
            NVML: started(boards, STEPSCOPE_SOURCE="nvml,job"),
        }
        config = shipped_config()
        config["scrape_configs"] = [
            {**job(scene.name, address, "/metrics"), "scrape_protocols": [FORMATS[scene]]}
            for scene, address in addresses.items()
        ]
        prometheus = stack.enter_context(running_prometheus(tmp_path_factory.mktemp("prometheus"), config))
        yield prometheus


@pytest.mark.parametrize("scene", HOSTS, ids=lambda scene: scene.name)
def test_every_query_of_the_board_returns_data(watched: Prometheus, scene: Scene) -> None:
    chosen = {"node": HOSTS[scene], "gpu": ".*", "run": ".*"}

    def complete() -> bool:
        lacking = shortfalls(watched, BOARDS["gpus"], scene, chosen, at=time.time())
        assert not lacking, "\n".join(lacking)
        return True

    eventually(f"the board on {scene.name}", complete, within=60)


def test_the_board_offers_both_nodes(watched: Prometheus) -> None:
    def offered() -> bool | None:
        found = set(watched.api("label/Hostname/values", **{"match[]": "DCGM_FI_DEV_GPU_TEMP"}))
        return set(HOSTS.values()) <= found or None

    assert eventually("both nodes are there", offered, within=30)


def test_prometheus_stores_every_family_under_its_name_in_both_formats(watched: Prometheus) -> None:
    def names() -> dict[str, set[str]] | None:
        found = {
            scene.name: set(watched.api("label/__name__/values", **{"match[]": f'{{job="{scene.name}"}}'}))
            for scene in HOSTS
        }
        return found if all("DCGM_FI_DEV_GPU_TEMP" in series for series in found.values()) else None

    stored = eventually("both are stored", names, within=30)
    everywhere = {family.name for family in EXPORTER_FAMILIES}
    assert all(everywhere <= series for series in stored.values())
    unknown_to_the_fake = {"DCGM_FI_PROF_PIPE_FP64_ACTIVE"}
    assert {family.name for family in DCGM_FAMILIES} - stored["nvml"] <= unknown_to_the_fake


def test_no_alert_doubts_an_exporter_that_is_well(watched: Prometheus) -> None:
    """Whatever the page says, it is current: neither is a source down nor a GPU missing."""
    for expr in ("exporter_source_up == 0", "exporter_gpus_present < exporter_gpus_expected", "up == 0"):
        eventually(expr, lambda expr=expr: watched.vector(expr) == {} or None, within=30)  # type: ignore[misc]

    def stale() -> bool | None:
        count = f'count_over_time({ENERGY}{{job="{DCGM.name}"}}[30s]) >= 6'
        assert watched.vector(count), "long enough for the rule to judge"
        return watched.vector(f'ALERTS{{alertname="TelemetryStale", Hostname="{DCGM_HOST}"}}') == {} or None

    assert eventually("no alert on GPUs whose energy grows", stale, within=60)


def test_the_board_of_exporters_says_all_but_what_a_simulator_would(watched: Prometheus) -> None:
    def complete() -> bool:
        found = shortfalls(watched, BOARDS["exporter-and-lab-health"], NVML, {"run": ".*"}, at=time.time())
        lacking = [line for line in found if "simulator_engine" not in line]
        assert not lacking, "\n".join(lacking)
        return True

    eventually("the board of exporters", complete, within=60)
