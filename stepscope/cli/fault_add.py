"""`stepscope fault add`: from options to the fault that the API takes."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping
from typing import Any

from stepscope.cli.client import Client, path_of
from stepscope.cli.errors import UsageError
from stepscope.cli.fault_options import SCHEDULE
from stepscope.cli.fault_view import fault_line
from stepscope.cli.output import duration, print_json, quantity, share, table
from stepscope.cli.parser import number

INTENSITIES = {"mild": 0.25, "moderate": 0.5, "severe": 1.0}
"""As `faults.spec` has them: repeated here because this command works without NumPy."""


def run(args: argparse.Namespace) -> int:
    """Put the fault and print it."""
    body, typed = _compact(args.kind) if ":" in args.kind else ({"kind": args.kind}, {"/kind": "KIND"})
    body, typed = body | _given(args, body), typed | _typed(args)
    query = {"dry_run": "true"} if args.dry_run else {}
    answer = Client.of(args).call("PUT", path_of("faults", args.name), body=body, query=query, typed=typed)
    if args.json:
        print_json(answer)
    elif args.dry_run:
        print(_preview(answer))
    else:
        print(fault_line(answer))
        print(_next_step(args.name, answer))
    return 0


def _compact(text: str) -> tuple[dict[str, Any], dict[str, str]]:
    # One owner for this grammar: the parser that `simulate --fault` uses. It needs NumPy, as the rest of this does not.
    from faults.errors import FaultError
    from faults.parse import parse_fault

    try:
        spec = parse_fault(text)
    except FaultError as error:
        raise UsageError(f"KIND {text!r}: {error}") from None
    body = {key: value for key, value in spec.to_mapping().items() if value is not None}
    return body, {"/target": spec.target.mode} if spec.target is not None else {}


def _given(args: argparse.Namespace, body: dict[str, Any]) -> dict[str, object]:
    """What options say; they win over what `body` has."""
    given: dict[str, object] = {
        key: value for option, (key, _) in SCHEDULE.items() if (value := getattr(args, option)) is not None
    }
    given |= {key: value for key in ("shape", "duty", "seed", "note") if (value := getattr(args, key)) is not None}
    given["open_ended"] = "duration_seconds" not in body | given
    if args.intensity is not None:
        given["intensity"] = intensity(args.intensity)
    if args.param:
        given["params"] = dict(body.get("params", {})) | dict(_param(text) for text in args.param)
    target = _target(args)
    return given | ({"target": target} if target else {})


def _target(args: argparse.Namespace) -> dict[str, object] | None:
    for mode in ("ranks", "nodes", "count", "percent"):
        if getattr(args, mode) is not None:
            value = getattr(args, mode)
            return {"mode": mode, "value": sorted(set(value)) if isinstance(value, list) else value}
    return {"mode": "one"} if args.one else {"mode": "all"} if args.all else None


def intensity(text: str) -> float:
    """The number that a word or a number stands for; UsageError for anything else."""
    try:
        return INTENSITIES[text] if text in INTENSITIES else number(text)
    except argparse.ArgumentTypeError:
        names = ", ".join(INTENSITIES)
        raise UsageError(f"--intensity: {text!r} is not {names}, or a number above 0 and up to 1") from None


def _param(text: str) -> tuple[str, object]:
    """Key and value; a number or true or false where the text is one, else text."""
    key, equals, value = (piece.strip() for piece in text.partition("="))
    if not equals or not key:
        raise UsageError(f"--param: {text!r} is not KEY=VALUE, as in --param slowdown=1.5")
    try:
        found = json.loads(value, parse_constant=str)
    except (ValueError, RecursionError):
        return key, value
    # JSON has no word for what 1e999 is read as; the lab's refusal shows the text.
    return key, value if found in (math.inf, -math.inf) else found


def _typed(args: argparse.Namespace) -> dict[str, str]:
    """The option behind each place in the request, for messages."""
    typed = {f"/{key}": f"--{option.replace('_', '-')}" for option, (key, _) in SCHEDULE.items()}
    typed |= {f"/{key}": f"--{key}" for key in ("shape", "duty", "seed", "note", "intensity")}
    typed |= {"/name": "NAME"} | {f"/params/{_param(text)[0]}": f"--param {_param(text)[0]}" for text in args.param}
    for option in ("ranks", "nodes", "count", "percent", "one", "all"):
        value = getattr(args, option)
        if value is not None and value is not False:
            typed["/target"] = f"--{option.removesuffix('s')}"
            typed["/target/mode"] = f"target, here {typed['/target']}"
    return typed


def _next_step(name: str, fault: Mapping[str, Any]) -> str:
    ends = fault.get("expires_at")
    until = f"it ends by itself at {ends}" if ends else "it stays until you clear it"
    return f"{until}; watch it: stepscope fault show {name}; end it: stepscope fault clear {name}"


def _preview(answer: Mapping[str, Any]) -> str:
    effect = predicted(answer["predicted"], heading="predicted, at its full intensity")
    return f"{fault_line(answer['fault'])}\nnothing was applied (dry run)\n{effect}"


def predicted(found: Mapping[str, Any], *, heading: str) -> str:
    """The prediction of a dry run as a table."""
    shown = (
        ("step", "step_seconds", duration),
        ("MFU", "mfu", share),
        ("GPU utilization", "gpu_util_percent", lambda value: f"{value:.1f} %"),
        ("tokens/s", "tokens_per_second", quantity),
    )
    rows = [
        (title, show(found[key]["before"]), show(found[key]["after"])) for title, key, show in shown if key in found
    ]
    effect = table((heading, "now", "with it"), rows, right=" >>", indent="  ")
    if found.get("stands_still"):
        effect += "\n  no step ends any more: the time of the step is that for which it was followed"
    return effect
