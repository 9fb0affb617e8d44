"""METRICS.md from the catalogue: `python -m exporter.metrics_md` writes it, `--check` fails when it is out of date."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from exporter.budget import PER_GPU_LIMIT, PER_NODE_LIMIT, PER_RUN_LIMIT, budget
from exporter.catalogue import (
    DCGM_FAMILIES,
    ENGINE_FAMILIES,
    EXPORT_FAMILIES,
    EXPORTER_FAMILIES,
    GPU_LABELS,
    NODE_FAMILIES,
    PROCESS_FAMILIES,
    RANK_FAMILIES,
    RUN_FAMILIES,
    TRUTH_FAMILIES,
    Family,
)
from exporter.sources.job.book import MAX_AGE_SECONDS, MAX_RANKS, MAX_RUNS
from simulator.names import PHASES

PATH = Path(__file__).resolve().parent.parent / "METRICS.md"

_INTRO = """# Metrics

<!-- Written by `python -m exporter.metrics_md` from exporter/catalogue. Do not edit. -->

Every metric that stepscope exposes. Names, types, units and labels are a public interface: they change only with an
entry in CHANGELOG.md.

| page | what is on it |
|---|---|
| `/metrics/nodes/{node}` | GPUs, ranks, storage and network of one node; one scrape target, as a dcgm-exporter is |
| `/metrics/run` | the run, the exporter, the engine and the process: one more target |
| `/metrics` | all of the above on one page, for a look with `curl` and for small labs |
| `stepscope export`: `/metrics` | GPUs, ranks, run and exporter of one real node, on port 9401 |
| `/metrics/truth` | which faults act; behind the token, and scraped by no Prometheus that an exercise may query |

`/sd/nodes` lists the targets for Prometheus' HTTP service discovery. Pages come as text 0.0.4 or, when asked for, as
OpenMetrics 1.0, and gzipped when the client accepts that. Units are SI unless the unit column says otherwise.

**A reading is a value or absent.** Zero means zero. When the newest tick is more than ten seconds old, or the engine
has stopped, every GPU and training series disappears, `exporter_source_up` is 0 and the other `exporter_*` series stay.
"""

_GPU = f"""Names, types, units and labels are those of NVIDIA's dcgm-exporter, so that boards and rules written for one
work with the other.

* Labels of every family, in this order: {", ".join(f"`{name}`" for name in GPU_LABELS)}.
  Newer dcgm-exporters write `hostname`; `STEPSCOPE_HOSTNAME_LABEL=hostname` makes the lab do so too.
* Counters keep DCGM's names, without `_total`. In text they are typed `counter`; OpenMetrics allows that type only with
  `_total`, so there they are `unknown`. Prometheus stores the same series either way.
* `DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL` is declared a counter and is in truth a rate in MB/s: read it without `rate()`.
* `promtool check metrics` objects to these counters' names and to the label `modelName`, and to nothing else.
* `alias` lists names under which other exporters, older or newer, publish the same reading; (SI) marks those whose
  values are in the SI unit and are converted. Since DCGM 4.7 `DCGM_FI_DEV_GPU_UTIL_RATIO` is a ratio written with a
  decimal point; before, it was a whole number in percent. Both are understood.
"""

_RANK = f"""`rank` is a plain decimal number. `training_rank_info` joins ranks to GPUs; the power of every rank is
`DCGM_FI_DEV_POWER_USAGE * on (UUID) group_left (rank) training_rank_info`.

* Values of `phase`: {", ".join(f"`{name}`" for name in PHASES)}.
  On each rank their sum grows by one per second, inside a long step too.
* `training_collective_bytes_total` counts *bus* bytes: 2(N-1)/N · S for an all-reduce of S bytes over N ranks. So
  `rate(training_collective_bytes_total[1m]) / rate(training_collective_seconds_total[1m])` is bus bandwidth, which
  compares with the links' rate whatever the number of ranks. Spinning counts as time: a rank that waits for a late one
  shows less; the last to arrive shows the bandwidth of the transfer itself.
* A rank of a real job (`source="job"` in `training_run_info`) cannot split waiting from transferring: its `collective`
  is both, and it has no `collective_wait`. Compare it with the least of its peers. `gpu` and `UUID` are missing where
  its GPU cannot be told. The series end {MAX_AGE_SECONDS:.0f} s after its last report, also after that of a recorder
  that was closed, so that a scrape sees the final totals.
* A run of a real job belongs to the user who first reports under its name, for as long as it reports; others are
  refused. A node shows at most {MAX_RUNS} runs and {MAX_RANKS:,} ranks, half of each for one user.
"""

_RUN = """MFU is `rate(training_model_flops_total[1m]) / rate(training_step_seconds_sum[1m])`, divided by
`training_peak_flops_per_second`: right for any step length. The rate of FLOPs over the peak alone is the wall-clock
variant, which also pays for stops.

* Steps, tokens, samples and FLOPs move at the end of a step.
* Loss and gradient norm are exported as `NaN` or `Inf` when they are; before the first step has ended they are absent.
* Under OpenMetrics the bucket of `training_step_seconds` into which the last step fell carries an exemplar: the step
  and its slowest rank.
* Of a real job these stand on the page of the node that rank 0 runs on, without exemplars. The peak is rank 0's times
  the number of ranks. What a job does not report is absent.
"""

_EXPORTER = """Present from the first request, before there is a tick. A page cannot contain what rendering it costs, so
collect time, scrape duration and exposition size are those of the tick served before. `exporter_gpu_up` stands on the
node pages with the other series of a GPU; its `reason` is empty while the GPU is up.
"""

_EXPORT = """On the page of `stepscope export` only, where the families above have one series for each source: `nvml`,
`dcgm` and `job`.

* Every source that is used has all of its series from the first request, one at 0 for each reason that it can give. One
  that `auto` looked for and did not find has only its `exporter_source_choice_info`: it is not down, and what goes
  wrong with it is not counted.
* These series come once per node: about 60 with NVML and training jobs, 90 with a dcgm-exporter too.
* `exporter_last_success_timestamp_seconds` of `job` is when recorders could last report, whether there are any or not.
* A source that is down keeps its last readings for as long as `--max-age` says; then they are gone, and each of its
  GPUs has `exporter_gpu_up` 0.
* `chosen` is `true` or `false`. `reason` is `asked` (by `--source`), `gpus_found`, `answers`, `always`; or why not:
  `starting`, `no_gpus`, or the reason of `exporter_source_errors_total`.
"""

_PROCESS = """From prometheus-client. `process_*` exists on Linux only. Its `python_gc_*` families are left out: nine
series that say nothing about a training job and would break the budget below.
"""

_TRUTH = """Only on `/metrics/truth`, which needs the token."""

_GROUPS: tuple[tuple[str, str, tuple[Family, ...]], ...] = (
    ("GPU", _GPU, DCGM_FAMILIES),
    ("Training: per rank", _RANK, RANK_FAMILIES),
    (
        "Training: per node",
        "The network families exist where the job leaves a node. A real job has none of these: no process sees them.",
        NODE_FAMILIES,
    ),
    ("Training: per run", _RUN, RUN_FAMILIES),
    ("The exporter about itself", _EXPORTER, EXPORTER_FAMILIES),
    ("The sources of a real node", _EXPORT, EXPORT_FAMILIES),
    ("The simulator's engine", "", ENGINE_FAMILIES),
    ("The process", _PROCESS, PROCESS_FAMILIES),
    ("Truth", _TRUTH, TRUTH_FAMILIES),
)

_SIZES = ((4, 1, 0), (8, 1, 0), (64, 8, 8))
"""GPUs, nodes, network interfaces per node."""


def document() -> str:
    """The whole of METRICS.md."""
    parts = [_INTRO, *(_group(*group) for group in _GROUPS), _budget()]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def _group(title: str, text: str, families: tuple[Family, ...]) -> str:
    gpus = families is DCGM_FAMILIES
    columns = ["metric", "type", "unit", *(["alias"] if gpus else ["labels"]), "meaning"]
    rows = [
        (
            f"`{family.name}`",
            family.type,
            family.unit if family.unit != "info" else "",
            _aliases(family) if gpus else ", ".join(f"`{name}`" for name in family.labels),
            family.help,
        )
        for family in families
    ]
    head = [f"## {title}", ""] + ([text.rstrip("\n"), ""] if text else [])
    return "\n".join([*head, *_table(columns, rows)])


def _aliases(family: Family) -> str:
    both = [f"`{name}`" for name in family.aliases]
    return ", ".join(both + [f"`{name}` (SI)" for name in family.si_aliases if name not in family.aliases])


def _budget() -> str:
    lone, wired = budget(nics=0), budget(nics=8)
    counts = (
        ("GPU", lone.per_gpu, PER_GPU_LIMIT, f"{len(DCGM_FAMILIES)} of DCGM, `exporter_gpu_up`, the rest its rank"),
        ("node", wired.per_node, PER_NODE_LIMIT, f"with 8 network interfaces; {lone.per_node} without"),
        ("run", wired.per_run, PER_RUN_LIMIT, "the run, the exporter, the engine and the process"),
    )
    sizes = [
        (gpus, nodes, nics, budget(nics=nics).total(gpus=gpus, nodes=nodes), _limit(gpus=gpus, nodes=nodes))
        for gpus, nodes, nics in _SIZES
    ]
    lines = [
        "## Series budget",
        "",
        "Series that a Prometheus scrapes, counted from the catalogue and, in a test, from the pages themselves.",
        "",
        *_table(["per", "series", "at most", ""], counts),
        "",
        *_table(["GPUs", "nodes", "interfaces per node", "series", "at most"], sizes),
    ]
    return "\n".join(lines)


def _limit(*, gpus: int, nodes: int) -> int:
    return gpus * PER_GPU_LIMIT + nodes * PER_NODE_LIMIT + PER_RUN_LIMIT


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return lines + ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write METRICS.md, or compare it with the catalogue; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m exporter.metrics_md", description="METRICS.md from the catalogue.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail when the file is not up to date")
    options = parser.parse_args(arguments)
    wanted = document()
    if not options.check:
        PATH.write_text(wanted, encoding="utf-8")
        return 0
    found = PATH.read_text(encoding="utf-8") if PATH.exists() else ""
    if found == wanted:
        return 0
    sys.stderr.writelines(
        difflib.unified_diff(found.splitlines(True), wanted.splitlines(True), PATH.name, "from the catalogue")
    )
    sys.stderr.write(f"{PATH.name} is not up to date: run `python -m exporter.metrics_md`\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
