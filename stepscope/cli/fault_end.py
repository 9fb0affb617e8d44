"""`stepscope fault clear` and `reset`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from stepscope.cli.client import Client, path_of
from stepscope.cli.fault_view import fault_line, names_faults
from stepscope.cli.output import print_json
from stepscope.cli.problem import NOT_FOUND, RefusedError


def clear(args: argparse.Namespace) -> int:
    """End one fault and print what has become of it."""
    client = Client.of(args)
    query = {"immediate": "true"} if args.immediate else {}
    with names_faults(client, args.name):
        client.call("DELETE", path_of("faults", args.name), query=query, typed={"/name": "NAME"})
    fault = _what_became_of(client, args.name)
    if args.json:
        print_json(fault)
    else:
        print(_cleared(fault))
    return 0


def reset(args: argparse.Namespace) -> int:
    """End all of them and say from when on."""
    answer = Client.of(args).call("POST", path_of("reset"))
    if args.json:
        print_json(answer)
    else:
        step = answer["effective_from_step"]
        print(f"every fault is cleared, and the model back at its last good checkpoint, from step {step} on")
    return 0


def _what_became_of(client: Client, name: str) -> dict[str, Any]:
    try:
        fault: dict[str, Any] = client.call("GET", path_of("faults", name))
    except RefusedError as error:
        if error.http_status != NOT_FOUND:
            raise
        # It ended so long ago that the run remembers its name alone.
        return {"name": name, "state": "cleared"}
    return fault


def _cleared(fault: Mapping[str, Any]) -> str:
    name = fault["name"]
    if "kind" not in fault:
        return f"{name}: ended long ago"
    if fault["state"] != "recovering":
        return fault_line(fault)
    fades = f"it fades over {fault['ramp_down_seconds']:g} s; at once: stepscope fault clear {name} --immediate"
    return f"{fault_line(fault)}\n{fades}"
