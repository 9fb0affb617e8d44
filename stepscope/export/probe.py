"""Has this machine real GPUs? Asked once, before a lab decides what to show."""

from __future__ import annotations

import time

from exporter.collector import DEADLINE_SECONDS
from exporter.source import Source, SourceError


def gpus_of(source: Source) -> tuple[int, str]:
    """GPUs that give readings now, and what to say of it; 0 and why where there is none. Closes the source."""
    try:
        reading = source.collect(time.monotonic() + DEADLINE_SECONDS)
    except SourceError as error:
        return 0, error.detail
    finally:
        source.close()
    count = sum(gpu.up for gpu in reading.gpus)
    return count, f"{count} of {reading.expected} GPUs answer" if reading.expected else "the driver sees no GPU"
