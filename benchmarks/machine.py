"""The machine, in words that say what matters for the numbers and nothing that tells it from its like."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

_PACKAGES = ("numpy", "fastapi", "uvicorn", "prometheus-client")


def describe() -> dict[str, str]:
    """CPU, cores, memory, load, operating system, Python and the packages that the numbers depend on."""
    return {
        "CPU": _field(Path("/proc/cpuinfo"), "model name") or platform.machine(),
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "memory": _memory(),
        "load before": f"{os.getloadavg()[0]:.1f} processes wanted to run in the minute before",
        "system": platform.system(),
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "packages": ", ".join(f"{name} {version(name)}" for name in _PACKAGES),
    }


def _memory() -> str:
    kib = _field(Path("/proc/meminfo"), "MemTotal").removesuffix(" kB")
    return f"{int(kib) / 2**20:.0f} GiB" if kib.isdigit() else "unknown"


def _field(path: Path, name: str) -> str:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.partition(":")[0].strip() == name), "")
