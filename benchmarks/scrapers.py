"""The client of the scrape benchmark: `python -m benchmarks.scrapers URL SECONDS SCRAPERS PATH…`, a process of its own.

Asks as Prometheus does (OpenMetrics, gzip, one connection kept per target) and prints seconds per answer as JSON.
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from dataclasses import dataclass, field
from http.client import HTTPConnection
from urllib.parse import urlsplit

_HEADERS = {
    "Accept": "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3",
    "Accept-Encoding": "gzip",
}


@dataclass(slots=True)
class Seen:
    """What the scrapers saw together."""

    seconds: list[float] = field(default_factory=list)
    """From sending the request until the last byte of the answer was there."""
    bytes: list[int] = field(default_factory=list)
    failures: int = 0


def scrape(place: str, path: str, *, offset: float, seconds: float, seen: Seen) -> None:
    """Ask once a second, `offset` into each second."""
    connection = HTTPConnection(place, timeout=10)
    began = time.monotonic()
    for turn in range(int(seconds)):
        time.sleep(max(0.0, began + turn + offset - time.monotonic()))
        asked = time.perf_counter()
        try:
            connection.request("GET", path, headers=_HEADERS)
            response = connection.getresponse()
            size = len(response.read())
        except OSError:
            seen.failures += 1
            connection.close()
            continue
        seen.seconds.append(time.perf_counter() - asked)
        seen.bytes.append(size)
        seen.failures += response.status != 200
    connection.close()


def main() -> None:
    """Start all scrapers at moments spread over a second at random, as Prometheus does, and wait for them."""
    url, seconds, scrapers, *paths = sys.argv[1:]
    moments, seen = random.Random(1), Seen()
    threads = [
        threading.Thread(
            target=scrape,
            args=(urlsplit(url).netloc, paths[index % len(paths)]),
            kwargs={"offset": moments.random(), "seconds": float(seconds), "seen": seen},
        )
        for index in range(int(scrapers))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps({"seconds": seen.seconds, "bytes": seen.bytes, "failures": seen.failures}))


if __name__ == "__main__":
    main()
