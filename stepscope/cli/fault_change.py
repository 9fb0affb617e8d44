"""`stepscope fault change`: another intensity or end, pause and resume."""

from __future__ import annotations

import argparse

from stepscope.cli.client import Client, path_of
from stepscope.cli.errors import UsageError
from stepscope.cli.fault_add import intensity
from stepscope.cli.fault_view import fault_line, names_faults
from stepscope.cli.output import print_json

_TYPED = {
    "/name": "NAME",
    "/intensity": "--intensity",
    "/duration_seconds": "--duration",
    "/open_ended": "--open-ended",
}


def run(args: argparse.Namespace) -> int:
    """Change one fault and print what it is now."""
    change = _change(args)
    if not change:
        raise UsageError("give what to change: --intensity, --duration, --open-ended, --pause or --resume")
    client = Client.of(args)
    with names_faults(client, args.name):
        fault = client.call("PATCH", path_of("faults", args.name), body=change, typed=_TYPED)
    if args.json:
        print_json(fault)
    else:
        paused = ", paused" if fault["paused"] else ""
        ends = f"it ends by itself at {fault['expires_at']}" if fault["expires_at"] else "it has no end of its own now"
        print(f"{fault_line(fault)}{paused}\n{ends}")
    return 0


def _change(args: argparse.Namespace) -> dict[str, object]:
    change: dict[str, object] = {}
    if args.intensity is not None:
        change["intensity"] = intensity(args.intensity)
    if args.duration is not None:
        change["duration_seconds"] = args.duration
    if args.open_ended:
        change["open_ended"] = True
    if args.pause or args.resume:
        change["paused"] = bool(args.pause)
    return change
