"""The collected cases as a page shows them: this source under its collector, scraped."""

from __future__ import annotations

from typing import Any

from exporter.catalogue import DCGM_FAMILIES
from exporter.collector import Pace
from exporter.sources.nvml.source import NvmlSource
from tests.exporter.exposition import Exposition, read
from tests.exporter.nodes import Stage
from tests.exporter.nvml.fake import Device, FakeNvml, healthy
from tests.exporter.nvml.support import HOSTNAME, scenario

MAX_AGE = 10.0


def uuid(index: int) -> str:
    return str(healthy(index)["uuid"])


class Scraped:
    """A node with NVML alone."""

    def __init__(self, *devices: Device, script: dict[str, Any] | None = None) -> None:
        self.stage: Stage | None = None
        self.fake = FakeNvml(*devices, scenario=script, clock=self._now)
        source = NvmlSource(library=self.fake, hostname=HOSTNAME, clock=self._now, max_age_seconds=MAX_AGE)
        self.stage = Stage((source,), asked=("nvml",), pace=Pace(max_age=MAX_AGE))  # type: ignore[arg-type]

    def _now(self) -> float:
        return self.stage.clock.now if self.stage is not None else 0.0

    def ready(self) -> bool:
        assert self.stage is not None
        return self.stage.node.readiness()[0]

    def text(self) -> str:
        assert self.stage is not None
        return self.stage.pages.page().body.decode()

    def at(self, second: float) -> Exposition:
        """The page then, after all cycles that were due."""
        assert self.stage is not None
        self.stage.run_until(second)
        return read(self.text().encode())


def test_a_line_is_dcgm_exporter_s() -> None:
    node = Scraped(healthy(0))
    node.at(1.0)
    assert (
        f'DCGM_FI_DEV_POWER_USAGE{{gpu="0",UUID="{uuid(0)}",pci_bus_id="00000000:1A:00.0",device="nvidia0",'
        'modelName="NVIDIA H100 80GB HBM3",Hostname="lab-node-a",DCGM_FI_DRIVER_VERSION="550.90.07"} 612.345000\n'
    ) in node.text()
    assert "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{" in node.text()
    assert '"} 129931554972\n' in node.text()


def test_a_healthy_board_has_every_family_from_the_second_cycle() -> None:
    page = Scraped(healthy(0)).at(1.0)
    assert {family.name for family in DCGM_FAMILIES} <= page.types.keys()


def test_errors_per_board() -> None:
    page = Scraped(script=scenario("per_device_errors.json")).at(0.0)
    assert page.value("exporter_source_up", source="nvml") == 1
    assert page.value("exporter_gpus_expected", source="nvml") == 8
    assert page.value("exporter_gpus_present", source="nvml") == 6
    assert page.value("exporter_gpu_up", gpu="1", UUID=uuid(1), reason="gpu_lost") == 0
    assert page.value("exporter_gpu_up", gpu="4", UUID="", reason="gpu_lost") == 0
    assert page.value("exporter_gpu_up", gpu="0", UUID=uuid(0), reason="") == 1
    assert page.value("exporter_source_errors_total", source="nvml", reason="gpu_lost") == 2


def _up(page: Exposition) -> float:
    return page.value("exporter_source_up", source="nvml")


def _errors(page: Exposition, reason: str) -> float:
    return page.value("exporter_source_errors_total", source="nvml", reason=reason)


def test_a_driver_that_is_not_there_yet() -> None:
    node = Scraped(healthy(0), healthy(1), script=scenario("init_failures.json"))
    for second in (0.0, 34.0):
        assert _up(node.at(second)) == 0
        assert not node.ready()
    for reason in ("library_not_found", "driver_not_loaded", "version_mismatch"):
        assert _errors(node.at(34.0), reason) >= 1


def test_a_driver_that_goes_and_comes_back() -> None:
    script = [{"t": 5, "every_call": 1}, {"t": 20, "every_call": 999}, {"t": 140, "device_count": 2, "note": "swapped"}]
    node = Scraped(healthy(0), healthy(1), script={"sequence": script})
    assert _up(node.at(4.5)) == 1
    page = node.at(5.5)
    assert (_up(page), _errors(page, "uninitialized")) == (0, 1)
    page = node.at(8.0)
    assert (_up(page), page.value("exporter_gpus_present", source="nvml")) == (1, 2)
    page = node.at(25.0)
    assert _up(page) == 0
    assert _errors(page, "unknown") >= 1
    assert len(page.of("DCGM_FI_DEV_GPU_UTIL")) == 2
    page = node.at(31.0)
    assert not [name for name in page.types if name.startswith("DCGM")]
    assert not node.ready()
    page = node.at(140.0 + 61.0)
    assert node.ready()
    labels = [dict(sample.labels) for sample in page.of("DCGM_FI_DEV_GPU_UTIL")]
    assert {(found["UUID"], found["gpu"]) for found in labels} == {(uuid(1), "0"), (uuid(0), "1")}
