"""The fake as `pynvml` of another process, for whoever tests the exporter as a whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.exporter.nvml.fake import SCENARIO_VARIABLE, healthy

ROOT = Path(__file__).parents[3]
_PROGRAM = """
import time
from exporter.sources.nvml.source import NvmlSource
reading = NvmlSource(hostname="a").collect(time.monotonic() + 60.0)
print([(gpu.uuid, gpu.reason) for gpu in reading.gpus], len(reading.families))
"""


@pytest.mark.parametrize("boards", [None, [healthy(3)]])
def test_another_process(tmp_path: Path, boards: list[dict[str, object]] | None) -> None:
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join((str(ROOT / "tests" / "exporter" / "nvml" / "fakelib"), str(ROOT)))
    }
    if boards is not None:
        path = tmp_path / "scenario.json"
        path.write_text(json.dumps({"devices": boards}), encoding="utf-8")
        environment[SCENARIO_VARIABLE] = str(path)
    done = subprocess.run([sys.executable, "-c", _PROGRAM], env=environment, capture_output=True, text=True, check=True)
    expected = [(board["uuid"], "") for board in boards or (healthy(0), healthy(1))]
    assert done.stdout == f"{expected} 21\n"
