"""What the actions of `stepscope remedy` do."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any

from stepscope.cli.client import Client, path_of
from stepscope.cli.errors import UsageError
from stepscope.cli.fault_add import predicted
from stepscope.cli.output import duration, print_json, table, words


def listing(args: argparse.Namespace) -> int:
    """Print what can be done, and what was."""
    found = Client.of(args).call("GET", path_of("remedies"))
    known = found["remedies"]
    if args.remedy is not None:
        known = [one for one in known if one["remedy"] == args.remedy]
        if not known:
            names = ", ".join(one["remedy"] for one in found["remedies"])
            raise UsageError(f"REMEDY: {args.remedy!r} is not one of {names}")
    if args.json:
        print_json(known[0] if args.remedy is not None else found)
    elif args.remedy is not None:
        print(_in_full(known[0]))
    else:
        print(table(("remedy", "restart", "what it does"), [_row(one) for one in known]))
        for one in found["applied"]:
            print(f"applied at {one['applied_at_seconds']:.0f} s: {_done(one)}")
        print("\napply one: stepscope remedy apply REMEDY[=VALUE] [--node N]; in full: stepscope remedy list REMEDY")
    return 0


def apply(args: argparse.Namespace) -> int:
    """Apply a remedy, or say what it would do."""
    name, equals, text = args.remedy.partition("=")
    body: dict[str, Any] = {"remedy": name.strip()}
    if equals:
        body["value"] = _value(text.strip())
    for mode in ("nodes", "ranks"):
        if getattr(args, mode):
            body["target"] = {"mode": mode, "value": sorted(set(getattr(args, mode)))}
    typed = {"/remedy": "REMEDY", "/value": "VALUE", "/target": "--node or --rank"}
    query = {"dry_run": "true"} if args.dry_run else {}
    answer = Client.of(args).call("POST", path_of("remedies"), body=body, query=query, typed=typed)
    if args.json:
        print_json(answer)
    elif args.dry_run:
        down = answer["restart_seconds"]
        first = f"{name}: the job would be down for {duration(down)}" if down else f"{name}: at once"
        print(f"{first}\nnothing was applied (dry run)\n{predicted(answer['predicted'], heading='predicted')}")
    else:
        print(_done(answer))
        back = f"its processes are back at {answer['back_at']}; " if answer["back_at"] else ""
        print(f"{back}whether it helps, MFU will show a minute later")
    return 0


def _value(text: str) -> object:
    """A number where the text is one, else text."""
    try:
        return json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return text


def _row(one: Mapping[str, Any]) -> tuple[str, str, str]:
    name = one["remedy"] + ("=…" if one["value"] else "")
    where = "" if one["target_modes"][0] == "all" else f" Needs --{one['target_modes'][0].removesuffix('s')}."
    return name, "yes" if one["restarts"] else "", one["summary"] + where


def _in_full(one: Mapping[str, Any]) -> str:
    lines = [f"{one['remedy']}: {one['summary']}"]
    if one["value"]:
        schema = one["value"]
        limits = words(schema["enum"]) if "enum" in schema else f"{schema['minimum']} to {schema['maximum']}"
        unit = f" {schema['x-unit']}" if "x-unit" in schema else ""
        lines.append(f"value: {limits}{unit}, {schema['default']} when left out. {schema['description']}")
    lines.append(f"where: {' or '.join(one['target_modes'])}")
    lines.append("the job is started again for it" if one["restarts"] else "the job goes on meanwhile")
    return "\n".join(lines)


def _done(one: Mapping[str, Any]) -> str:
    value = "" if one["value"] is None else f"={one['value']}"
    target = one["target"]
    where = "" if target is None or target["value"] is None else f" on {target['mode']} {words(target['value'])}"
    down = f", down for {duration(one['restart_seconds'])}" if one["restart_seconds"] else ""
    return f"{one['remedy']}{value}{where}{down}, from step {one['effective_from_step']}"
