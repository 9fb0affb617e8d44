"""The lab of the Prometheus benchmark: `python -m benchmarks.big_lab RANKS PORT`, a process of its own.

Serves the 42 ms anatomy on so many GPUs, which is no preset. Looks every few milliseconds how late the engine is, and
prints the worst of each second as JSON when it is stopped.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from typing import TYPE_CHECKING

from stepscope.cli.runtime import one_blas_thread

one_blas_thread()

if TYPE_CHECKING:
    from simulator.engine import Engine

_EVERY_SECONDS = 0.005


def main() -> None:
    """Serve until SIGTERM."""
    from benchmarks.scaled import anatomy
    from simulator.engine import Engine
    from stepscope.api import serve
    from stepscope.api.settings import Settings

    ranks, port = int(sys.argv[1]), int(sys.argv[2])
    engine = Engine(anatomy(ranks), seed=1)
    lags: list[tuple[float, float]] = []
    watch = threading.Thread(target=_watch, args=(engine, lags), daemon=True)
    watch.start()
    serve.run(Settings(port=port), engine)
    if engine.failure is not None:
        raise RuntimeError(f"the engine stopped: {engine.failure}")
    print(json.dumps({"lags": lags, "skipped_seconds": engine.skipped_seconds}))


def _watch(engine: Engine, lags: list[tuple[float, float]]) -> None:
    """Append (Unix seconds, greatest lag in seconds) once a second, from the first tick on."""
    while engine.tick is None:
        time.sleep(_EVERY_SECONDS)
    while True:
        began, worst = time.monotonic(), 0.0
        while time.monotonic() - began < 1.0:
            worst = max(worst, engine.lag_seconds)
            time.sleep(_EVERY_SECONDS)
        lags.append((time.time(), worst))


if __name__ == "__main__":
    main()
