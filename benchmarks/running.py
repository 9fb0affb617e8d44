"""The child of the scale benchmark: `python -m benchmarks.running JOB SECONDS`, a process of its own.

Runs an engine in real time without anybody asking it, and prints what that took as JSON. JOB is the name of a preset or
a number of ranks of the 42 ms anatomy.
"""

from __future__ import annotations

import json
import sys
import time

from stepscope.cli.runtime import one_blas_thread

one_blas_thread()


def main() -> None:
    """Run and print."""
    from benchmarks.scaled import anatomy
    from simulator.engine import Engine
    from simulator.presets import preset

    name, seconds = sys.argv[1], float(sys.argv[2])
    job = anatomy(int(name)) if name.isdigit() else preset(name)
    engine = Engine(job, seed=1)
    engine.start()
    # The first seconds pay for what is made once.
    time.sleep(min(3.0, seconds))
    first, cpu, began = engine.next_step, time.process_time(), time.perf_counter()
    time.sleep(seconds)
    cpu, took, steps = time.process_time() - cpu, time.perf_counter() - began, engine.next_step - first
    engine.stop()
    found = {
        "failure": engine.failure,
        "ranks": job.ranks,
        "step_seconds": engine.healthy_step_seconds,
        "cpu_share": cpu / took,
        "steps": steps,
        "skipped_seconds": engine.skipped_seconds,
        "peak_mib": _peak_mib(),
    }
    print(json.dumps(found))


def _peak_mib() -> float:
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


if __name__ == "__main__":
    main()
