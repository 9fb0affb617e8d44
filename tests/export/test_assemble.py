"""The node that settings describe, and the real sources together: one page, one identity, each value once."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path

import pytest

from exporter.choice import Chooser
from exporter.collector import Collector
from exporter.export_pages import ExportPages
from exporter.node import JOB, Node
from exporter.sources.dcgm.source import DcgmSource
from exporter.sources.job.source import JobSource
from exporter.sources.job.wire import VERSION
from exporter.sources.nvml.source import NvmlSource
from simulator.names import STEP_SECONDS_BUCKETS
from stepscope.api.settings import SettingsError
from stepscope.export.assemble import assemble, pace
from stepscope.export.peaks import peak_flops_per_second
from stepscope.export.settings import ExportSettings, load_export_settings
from tests.exporter.exposition import Exposition, read
from tests.exporter.nvml.fake import FakeNvml, healthy
from tests.stack.pages import serving
from tests.stack.real import eventually

UUIDS = [healthy(n)["uuid"] for n in range(2)]
BOARD = 'gpu="{0}",UUID="{1}",device="nvidia{0}",modelName="H100",hostname="pod-xyz"'
TENSOR, UTIL, FAN = "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_FAN_SPEED"


def settings(tmp_path: Path, **given: str) -> ExportSettings:
    return load_export_settings({"STEPSCOPE_HOSTNAME": "node-a", "STEPSCOPE_SOCKET": str(tmp_path / "s")}, given)


@pytest.mark.parametrize(
    ("source", "states", "choices"),
    [
        ("auto", ["nvml", "dcgm"], {"nvml": False, "dcgm": False, JOB: True}),
        ("nvml", ["nvml"], {"nvml": True}),
        ("dcgm,job", ["dcgm"], {"dcgm": True, JOB: True}),
        ("job", [], {JOB: True}),
        ("auto,dcgm", ["nvml", "dcgm"], {"nvml": False, "dcgm": True, JOB: True}),
    ],
)
def test_sources_are_those_that_were_asked_for(
    source: str, states: list[str], choices: dict[str, bool], tmp_path: Path
) -> None:
    moment = assemble(settings(tmp_path, source=source)).now()
    assert [state.source for state in moment.states] == states
    assert {choice.source: choice.chosen for choice in moment.choices} == choices


def test_a_cycle_is_over_before_its_reading_is_too_old(tmp_path: Path) -> None:
    assert pace(settings(tmp_path)).deadline == 5
    assert pace(settings(tmp_path, max_age="2")).deadline == 2


def test_what_the_dcgm_source_refuses_is_a_setting_that_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="dcgm-url"):
        assemble(settings(tmp_path, dcgm_url="http://höst/metrics"))


@pytest.mark.parametrize(
    ("product", "precision", "peak"),
    [
        ("NVIDIA H100 80GB HBM3", "bf16", 989e12),
        ("nvidia h100 80gb hbm3", "FP8", 1979e12),
        ("NVIDIA H100 80GB HBM3", "torch.bfloat16", 989e12),
        ("NVIDIA H100 80GB HBM3", "bf16-mixed", 989e12),
        ("NVIDIA H100 80GB HBM3", "16-true", 989e12),
        ("NVIDIA H100 PCIe", "bf16", None),
        ("NVIDIA H100 80GB HBM3", "int4", None),
        ("NVIDIA H100 80GB HBM3", "", None),
        ("NVIDIA H100 80GB HBM3", "32-true", None),
        ("", "", None),
    ],
)
def test_peaks_are_of_the_very_product(product: str, precision: str, peak: float | None) -> None:
    assert peak_flops_per_second(product, precision) == peak


def dcgm_page() -> str:
    lines = [
        f"# TYPE {name} gauge\n"
        + "".join(f"{name}{{{BOARD.format(n, uuid)}}} {value}\n" for n, uuid in enumerate(UUIDS))
        for name, value in ((UTIL, 11), (TENSOR, 0.123), (FAN, 40))
    ]
    return "".join(lines)


def report(rank: int, uuid: str) -> bytes:
    now = time.time()
    content = {
        "v": VERSION, "run": "llama", "rank": rank, "world_size": 2, "local_rank": rank, "session": f"s{rank}",
        "started": now - 10, "time": now, "seq": 3, "model": "m", "precision": "bf16", "gpu": {"uuid": uuid},
        "phases": {"forward": 4.0, "backward": 5.0, "collective": 1.0}, "collective_seconds": 1.0,
        "collective_bytes": 1e9, "steps": 10, "tokens": 1000, "samples": 10, "model_flops": 1e15,
        "nonfinite_steps": 0, "skipped_steps": 0, "checkpoints": 0, "grad_norm_spikes": 0,
        "step_seconds": {"sum": 10.0, "counts": [0] * len(STEP_SECONDS_BUCKETS) + [10]}, "last_step_time": now,
    }  # fmt: skip
    return json.dumps(content).encode()


def test_the_real_sources_on_one_page(tmp_path: Path) -> None:
    with serving({"/metrics": dcgm_page}) as address:
        nvml = Collector(NvmlSource(library=FakeNvml(healthy(0), healthy(1)), hostname="node-a"))
        dcgm = Collector(DcgmSource(f"http://{address}/metrics", hostname="node-a"))
        node = Node([nvml, dcgm], Chooser([], auto=True))
        job = JobSource(socket_path=str(tmp_path / "s"), hostname="node-a", gpus=node.gpus, peak=peak_flops_per_second)
        node.attach(job)
        job.start()
        try:
            for collector in (nvml, dcgm):
                collector.cycle()
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as recorder:

                def heard() -> Exposition | None:
                    for rank, uuid in enumerate(UUIDS):
                        recorder.sendto(report(rank, uuid), str(tmp_path / "s"))
                    seen = read(ExportPages(node).page().body)
                    return seen if len(seen.of("training_rank_info")) == len(UUIDS) else None

                page = eventually("the reports are heard", heard, within=20, every=0.05)
        finally:
            node.stop()
    utilization = {dict(s.labels)["UUID"]: s.value for s in page.of(UTIL)}
    assert utilization == dict.fromkeys(UUIDS, 97), "the driver's own"
    assert [s.text for s in page.of(TENSOR)] == ["0.123000"] * 2, "DCGM's"
    assert [s.value for s in page.of(FAN)] == [40, 40], "what only DCGM has"
    for name in (UTIL, TENSOR, FAN):
        assert {(dict(s.labels)["Hostname"], dict(s.labels)["modelName"]) for s in page.of(name)} == {
            ("node-a", "NVIDIA H100 80GB HBM3")
        }
    joined = {dict(s.labels)["rank"]: dict(s.labels)["UUID"] for s in page.of("training_rank_info")}
    assert joined == {str(rank): uuid for rank, uuid in enumerate(UUIDS)}
    assert page.value("training_peak_flops_per_second", run="llama") == 2 * 989e12
    assert page.value("training_phase_seconds_total", rank="1", phase="forward") == 4
