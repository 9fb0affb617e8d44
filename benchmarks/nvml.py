"""What a cycle of real GPUs costs, on an NVML that answers at once."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.row import Row, spread

if TYPE_CHECKING:
    from exporter.reading import Reading
    from tests.exporter.nvml.support import Rig

_MOST_CPU_MILLISECONDS = 5.0
_MOST_GROWTH_MIB = 1.0
_GPUS = 8
_LEAST_SAMPLES = 60
"""Of one GPU, for the bound to mean anything."""
_PARTITIONS = 4


def rows(*, quick: bool) -> Iterator[Row]:
    """CPU time of a cycle, and what the process holds after very many of them."""
    runs, cycles, long = (2, 3, 20) if quick else (9, 200, 100_000)
    for title, partitions in (("partitioned GPUs", _PARTITIONS), ("whole GPUs", 0)):
        rig = _rig(partitions)
        per_gpu = _samples(rig.cycle()) / _GPUS
        measured = [_milliseconds(rig, cycles) for _ in range(runs)]
        detail = f"{per_gpu:.0f} samples each, CPU time of all threads with the fake's own; {spread(measured, 'ms')}"
        asked = _MOST_CPU_MILLISECONDS if per_gpu >= _LEAST_SAMPLES else None
        name = f"cycle of {_GPUS} {title} over NVML"
        yield Row(name, statistics.median(measured), "ms", at_most=asked, detail=detail)
        rig.source.close()
    yield from _held(long)


def _held(cycles: int) -> Iterator[Row]:
    rig = _rig(_PARTITIONS)
    for _ in range(cycles // 10):
        rig.cycle()
    gc.collect()
    before = _resident_mib()
    for _ in range(cycles):
        rig.cycle()
    gc.collect()
    after = _resident_mib()
    rig.source.close()
    name = f"{_GPUS} partitioned GPUs over NVML, growth of memory"
    if before is None or after is None:
        yield Row(name, None, "MiB", at_most=_MOST_GROWTH_MIB, detail="this system does not tell what a process holds")
        return
    detail = f"over {cycles:,} cycles, after {cycles // 10:,} more; resident {after:.0f} MiB with the whole benchmark"
    yield Row(name, max(0.0, after - before), "MiB", at_most=_MOST_GROWTH_MIB, detail=detail)


def _resident_mib() -> float | None:
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def _rig(partitions: int) -> Rig:
    from tests.exporter.nvml.fake import gpm, healthy
    from tests.exporter.nvml.support import Rig

    parts = [
        {"id": number, "name": "H100 MIG 1g.10gb", "memory": [10 << 30, 4 << 30, 5 << 30], "gpm": gpm()}
        for number in range(partitions)
    ]
    rig = Rig(*(healthy(index, mig=bool(parts), instances=parts) for index in range(_GPUS)))
    rig.cycle()
    return rig


def _samples(reading: Reading) -> int:
    return sum(len(samples) for samples in reading.families.values())


def _milliseconds(rig: Rig, cycles: int) -> float:
    started = time.process_time()
    for _ in range(cycles):
        rig.cycle()
    return (time.process_time() - started) / cycles * 1e3
