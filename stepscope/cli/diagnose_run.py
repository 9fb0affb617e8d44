"""What `stepscope diagnose` does."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from stepscope.cli.client import Client, path_of
from stepscope.cli.diagnose_says import report
from stepscope.cli.errors import CliError, UsageError
from stepscope.cli.output import print_json
from stepscope.cli.runtime import one_blas_thread

_ONLY_FOR = {"label": "--run", "at": "--at", "step": "--step"}
DEFAULT_STEP_SECONDS = 15.0


def run(args: argparse.Namespace) -> int:
    """Diagnose and print."""
    _check(args)
    one_blas_thread()
    if args.ranks is not None:
        found = _file(args)
    elif args.prometheus is not None:
        found = _prometheus(args)
    else:
        found = _lab(args)
    if args.json:
        print_json(found)
    else:
        print(report(found))
    return 0


def _check(args: argparse.Namespace) -> None:
    if args.ranks is not None and args.prometheus is not None:
        raise UsageError("--ranks: not together with --prometheus")
    for key, option in _ONLY_FOR.items():
        if getattr(args, key) is not None and args.prometheus is None:
            raise UsageError(f"{option}: only together with --prometheus")
    if args.ranks is not None and args.window is not None:
        raise UsageError("--window: a file is judged as a whole")
    if args.price is not None and not 0 <= args.price <= 1_000_000:
        raise UsageError("--price: must be from 0 to 1000000")


def _lab(args: argparse.Namespace) -> Mapping[str, Any]:
    query = {}
    if args.window is not None:
        query["window_seconds"] = f"{args.window:g}"
    if args.price:
        query["price_per_gpu_hour"] = repr(args.price)
    typed = {"/window_seconds": "--window", "/price_per_gpu_hour": "--price"}
    found: Mapping[str, Any] = Client.of(args).call("GET", path_of("diagnosis"), query=query, typed=typed)
    return found


def _file(args: argparse.Namespace) -> Mapping[str, Any]:
    from diagnosis.mapping import to_mapping
    from diagnosis.ranks.judge import judge
    from diagnosis.ranks.table import read_ranks

    try:
        with open(args.ranks, encoding="utf-8", newline="") as lines:
            times = read_ranks(lines)
    except OSError as error:
        raise UsageError(f"--ranks {args.ranks}: {(error.strerror or str(error)).lower()}") from None
    except ValueError as error:
        raise UsageError(f"--ranks {args.ranks}: {error}") from None
    return to_mapping(judge(times, name=args.ranks, price_per_gpu_hour=args.price or None))


def _prometheus(args: argparse.Namespace) -> Mapping[str, Any]:
    from diagnosis.engine import diagnose
    from diagnosis.mapping import to_mapping
    from diagnosis.thresholds import DIAGNOSIS_WINDOW_SECONDS
    from stepscope.watching.prometheus import Prometheus, PrometheusError
    from stepscope.watching.run import Asked, series

    window = args.window or DIAGNOSIS_WINDOW_SECONDS
    at = time.time() if args.at is None else _moment(args.at)
    try:
        prometheus = Prometheus(args.prometheus)
    except ValueError as error:
        raise UsageError(f"--prometheus: {error}") from None
    try:
        label = args.label if args.label is not None else _only_run(prometheus, at)
        seen = series(prometheus, Asked(label, at, window, args.step or DEFAULT_STEP_SECONDS))
    except (PrometheusError, ValueError) as error:
        raise CliError(str(error)) from None
    return to_mapping(diagnose(seen, at=at, window_seconds=window, price_per_gpu_hour=args.price or None))


def _only_run(prometheus: Any, at: float) -> str:
    from stepscope.watching.run import runs

    known = runs(prometheus, at=at)
    if not known:
        raise CliError("this Prometheus knows no run at that time: is training_rank_info scraped?")
    if len(known) > 1:
        raise UsageError(f"--run: which one? {', '.join(known[:16])}")
    return known[0]


def _moment(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        try:
            moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
        except ValueError:
            raise UsageError(
                f"--at: {text!r} is neither Unix seconds nor a time such as 2026-03-01T12:00:00Z"
            ) from None
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if not 0 <= seconds < 1e11:
        raise UsageError(f"--at: {text!r} is no moment of this age")
    return seconds
