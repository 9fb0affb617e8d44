"""The fake as the module `pynvml` of a whole process: this folder goes to the front of PYTHONPATH."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[4]))

from tests.exporter.nvml.fake import FakeNvml

_fake = FakeNvml.from_environment()


def __getattr__(name: str) -> Any:
    return getattr(_fake, name)
