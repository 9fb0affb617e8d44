"""`stepscope straggler`: what slow ranks, jitter and stalls cost a synchronous job, by its size."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from stepscope.cli.errors import UsageError
from stepscope.cli.output import print_json, share, table
from stepscope.cli.parser import DEFAULT_SEED, Commands, Parser, add_json, command, number, one_of, seed, whole
from stepscope.cli.runtime import one_blas_thread
from stepscope.cli.straggler_says import sentence

DEFAULT_GPUS = (8, 64, 1_024, 16_384, 131_072)
# These repeat what the simulator says, so that parsing words does not import NumPy; a test holds them together.
MOST_GPUS = 1_000_000
DISTRIBUTIONS = ("normal", "lognormal")

_OPTIONS = {"slow_ranks": "--ranks"}
"""Keys of the calculator that are typed under another name."""

_EPILOG = """\
efficiency is the exact answer; the Monte Carlo column draws the steps instead, as a check on it
examples:
  stepscope straggler --gpus 8,64,1024 --slowdown 1.1
  stepscope straggler --gpus 8,1024,131072 --jitter 0.01
  stepscope straggler --slowdown 1.5 --ranks 8 --jitter 0.005 --distribution lognormal
  stepscope straggler --stall-factor 2.5 --stall-rate 0.005
  stepscope straggler --slowdown 1.1 --communication 0.4 --overlap 0.8"""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(
        commands, "straggler", run, summary="what slow ranks, jitter and stalls cost a synchronous job of N GPUs",
        epilog=_EPILOG,
    )  # fmt: skip
    parser.add_argument(
        "--gpus", type=_counts, default=DEFAULT_GPUS, metavar="N,N,…",
        help=f"sizes of the job (default: {','.join(map(str, DEFAULT_GPUS))})",
    )  # fmt: skip
    _add_causes(parser)
    parser.add_argument("--seed", type=seed, default=DEFAULT_SEED, help="of the drawn steps (default: %(default)s)")
    add_json(parser)


def _add_causes(parser: Parser) -> None:
    slow = parser.add_argument_group("slow ranks")
    slow.add_argument("--slowdown", type=number, default=1.0, metavar="F", help="factor on their steps that stays")
    slow.add_argument("--ranks", type=whole(0), default=1, metavar="K", help="how many are slow (default: %(default)s)")
    jitter = parser.add_argument_group("jitter: each rank's steps vary, each by itself")
    jitter.add_argument("--jitter", type=number, default=0.0, metavar="C", help="spread over the mean; 0.01 is 1 %%")
    jitter.add_argument(
        "--distribution", type=one_of(*DISTRIBUTIONS), default=DISTRIBUTIONS[0], metavar="D",
        help=f"{' or '.join(DISTRIBUTIONS)} (default: %(default)s)",
    )  # fmt: skip
    stalls = parser.add_argument_group("stalls of the whole job")
    stalls.add_argument("--stall-factor", type=number, default=1.0, metavar="F", help="length of such a step, in steps")
    stalls.add_argument("--stall-rate", type=number, default=0.0, metavar="P", help="share of steps, 0 to 1")
    talk = parser.add_argument_group("communication of every step")
    talk.add_argument("--communication", type=number, default=0.0, metavar="C", help="over compute, 0 to 1")
    talk.add_argument("--overlap", type=number, default=0.0, metavar="O", help="share beside compute, 0 to 1")


def run(args: argparse.Namespace) -> int:
    """Calculate and print."""
    one_blas_thread()
    from simulator import straggler

    causes = {
        "slowdown": args.slowdown,
        "slow_ranks": args.ranks,
        "jitter": args.jitter,
        "distribution": args.distribution,
        "stall_factor": args.stall_factor,
        "stall_rate": args.stall_rate,
        "communication": args.communication,
        "overlap": args.overlap,
    }
    try:
        rows = straggler.table(args.gpus, seed=args.seed, **causes)
    except ValueError as error:
        raise UsageError(_as_typed(str(error))) from None
    if args.json:
        print_json(rows)
    else:
        print(_for_people(rows), sentence(args.gpus, causes), sep="\n\n")
    return 0


def _counts(text: str) -> tuple[int, ...]:
    """A type for GPU counts with commas between them."""
    count = whole(1, MOST_GPUS)
    return tuple(count(part.strip()) for part in text.split(","))


def _as_typed(message: str) -> str:
    key, _, rest = message.partition(": ")
    return f"{_OPTIONS.get(key, '--' + key.replace('_', '-'))}: {rest}"


def _for_people(rows: Sequence[Mapping[str, Any]]) -> str:
    return table(
        ("GPUs", "efficiency", "step factor", "drawn", "± standard error"), [_row(row) for row in rows], right=">>>>>"
    )


def _row(row: Mapping[str, Any]) -> tuple[str, ...]:
    drawn = row["monte_carlo"]
    return (
        f"{row['gpus']:,}",
        share(row["efficiency"]),
        f"{row['step_factor']:.4f}",
        f"{drawn['step_factor']:.4f}",
        f"{drawn['standard_error']:.4f}",
    )
