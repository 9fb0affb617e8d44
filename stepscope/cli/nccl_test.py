"""`stepscope nccl-test`: the isolated all-reduce sweep, and what a step makes of the same all-reduce."""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from stepscope.cli.errors import UsageError
from stepscope.cli.jobs import add_job, faults_for, job_named
from stepscope.cli.output import print_json, quantity, table
from stepscope.cli.parser import Commands, add_json, command, whole
from stepscope.cli.runtime import one_blas_thread

if TYPE_CHECKING:
    from faults.effects import Effects
    from faults.spec import FaultSpec
    from simulator.fabric import FabricState
    from simulator.job import JobSpec
    from simulator.sweep import SweepRow

DEFAULT_MIN, DEFAULT_MAX = "8", "16G"

_EPILOG = """\
the sweep sees an idle cluster: a fault of a GPU or of storage does not change it, one of the fabric or of NCCL's
settings does, by its mean where it varies; with --nodes 1 no byte leaves the node, so not even that does
under it: what the last of a few steps of the whole job did with its collectives, under the same faults; with --json
standard output has the list alone, and that goes to standard error in one line
sizes are bytes, or K, M, G, T as in nccl-tests (binary); faults are written as in stepscope simulate --fault
examples:
  stepscope nccl-test --preset honest-64xh100
  stepscope nccl-test --preset honest-64xh100 --nodes 2 --min-bytes 1M --max-bytes 1G
  stepscope nccl-test --preset honest-64xh100 --fault straggler:ranks=3,slowdown=1.5"""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(
        commands, "nccl-test", run, summary="time all-reduces on the idle fabric, and show those of a step beside them",
        epilog=_EPILOG,
    )  # fmt: skip
    parser.add_argument(
        "--nodes", type=whole(1), metavar="K", help="use so many nodes for the sweep (default: all of the job's)"
    )
    parser.add_argument("--min-bytes", default=DEFAULT_MIN, metavar="SIZE", help="first size (default: %(default)s)")
    parser.add_argument("--max-bytes", default=DEFAULT_MAX, metavar="SIZE", help="last size (default: %(default)s)")
    add_job(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Sweep, look into a step, and print both."""
    one_blas_thread()
    from simulator.fabric import under
    from simulator.sweep import parse_size, sweep

    job = job_named(args.preset)
    faults = faults_for(job, args.fault)
    nodes = job.cluster.nodes if args.nodes is None else args.nodes
    fabric = under(_effects(job, faults), job, nodes=nodes)
    if fabric.collapsed:
        raise UsageError("--fault: the fabric has collapsed: no all-reduce that leaves a node ever ends")
    try:
        low, high = (parse_size(getattr(args, key), key=key) for key in ("min_bytes", "max_bytes"))
        rows = sweep(
            job, nodes=nodes, min_bytes=low, max_bytes=high, collective_factor=fabric.collective_factor,
            nccl=fabric.nccl, link_slowdown=fabric.link_slowdown,
        )  # fmt: skip
    except ValueError as error:
        key, _, rest = str(error).partition(": ")
        raise UsageError(f"--{key.replace('_', '-')}: {rest}") from None
    if args.json:
        print_json(rows)
    else:
        print(_head(job, nodes, fabric), _for_people(rows), sep="\n\n", end="\n\n")
    print(_inside(job, faults, seed=args.seed), file=sys.stderr if args.json else sys.stdout)
    return 0


def _effects(job: JobSpec, faults: Sequence[FaultSpec]) -> Effects:
    """What these faults do to the job when a run begins."""
    from faults.book import FaultBook
    from faults.errors import FaultError
    from simulator.run import topology_of

    book = FaultBook(topology_of(job), seed=0)
    try:
        for index, fault in enumerate(faults):
            book.put(f"fault-{index}", fault, at_seconds=0.0, next_step=0)
    except FaultError as error:
        raise UsageError(f"--fault: {error}") from None
    return book.effects(0.0).limited()


def _inside(job: JobSpec, faults: Sequence[FaultSpec], *, seed: int) -> str:
    """What a step of the job did with its collectives, in one line."""
    from simulator.sweep import in_job

    try:
        return in_job(job, seed=seed, faults=faults).sentence
    except ValueError as error:
        return f"Inside a step there is nothing to compare: {str(error).partition(': ')[2]}."


def _head(job: JobSpec, nodes: int, fabric: FabricState) -> str:
    cluster, nccl, own = job.cluster, fabric.nccl, job.nccl
    size = f"{nodes:,} node{'s' if nodes > 1 else ''} × {cluster.gpus_per_node} {cluster.gpu.product}"
    said = [f"every collective {fabric.collective_factor:g} times as long on average"]
    said = said if fabric.collective_factor != 1.0 else []
    if nccl.buffer_bytes != own.buffer_bytes:
        said.append(f"NCCL_BUFFSIZE={nccl.buffer_bytes}")
    if nccl.gpudirect != own.gpudirect:
        said.append("GPUDirect off")
    if nccl.algorithm != own.algorithm:
        said.append(f"NCCL_ALGO={nccl.algorithm}")
    if fabric.link_slowdown != 1.0:
        said.append(f"a slow link that makes transfers {fabric.link_slowdown:.3g} times as long")
    return f"{job.preset}: all-reduce over {size} and nothing else on them{''.join(', ' + text for text in said)}"


def _for_people(rows: Sequence[SweepRow]) -> str:
    cells = [
        (
            f"{row['size_bytes']:,}",
            _microseconds(row["time_us"]),
            f"{row['algbw_gb_per_s']:.2f}",
            f"{row['busbw_gb_per_s']:.2f}",
        )
        for row in rows
    ]
    mean = statistics.fmean(row["busbw_gb_per_s"] for row in rows)
    headings = ("size (B)", "time (us)", "algbw (GB/s)", "busbw (GB/s)")
    return f"{table(headings, cells, right='>>>>')}\n\naverage bus bandwidth over these sizes: {quantity(mean)} GB/s"


def _microseconds(value: float) -> str:
    """Few digits, as nccl-tests prints them."""
    return f"{value:,.0f}" if value >= 1_000 else f"{value:.2f}" if value < 100 else f"{value:.1f}"
