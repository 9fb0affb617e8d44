"""`stepscope fault kinds`, `list` and `show`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from stepscope.cli.client import Client, path_of
from stepscope.cli.errors import UsageError
from stepscope.cli.output import NOTHING, print_json, quantity, table, words
from stepscope.cli.problem import NOT_FOUND, RefusedError

_ENDED = ("cleared", "expired", "aborted")


def kinds(args: argparse.Namespace) -> int:
    """Print the catalogue, or one kind of it in full."""
    client = Client.of(args)
    if args.kind is None:
        answer = client.call("GET", path_of("kinds"))
        if args.json:
            print_json(answer)
        else:
            rows = [(kind["kind"], ", ".join(kind["params"]["properties"]) or NOTHING, kind["summary"])
                    for kind in answer["kinds"]]  # fmt: skip
            print(table(("kind", "parameters", "what breaks"), rows))
            print("\nin full: stepscope fault kinds KIND; try one: stepscope fault add slow straggler --rank 2")
        return 0
    answer = _known_kind(client, args.kind)
    if args.json:
        print_json(answer)
    else:
        print(_kind(answer))
    return 0


def listing(args: argparse.Namespace) -> int:
    """Print the faults of this run."""
    query = {key: str(value) for key in ("state", "kind", "rank") if (value := getattr(args, key)) is not None}
    typed = {f"/{key}": f"--{key}" for key in query}
    answer = Client.of(args).call("GET", path_of("faults"), query=query, typed=typed)
    if args.json:
        print_json(answer)
    elif answer["faults"]:
        print(_faults(answer["faults"], all_of_them="state" in query))
    else:
        print("no fault" + (" of these" if query else "; try: stepscope fault add slow straggler --rank 2"))
    return 0


def show(args: argparse.Namespace) -> int:
    """Print one fault."""
    client = Client.of(args)
    with names_faults(client, args.name):
        answer = client.call("GET", path_of("faults", args.name), typed={"/name": "NAME"})
    if args.json:
        print_json(answer)
    else:
        print(_fault(answer))
    return 0


@contextmanager
def names_faults(client: Client, name: str) -> Iterator[None]:
    """Turn the lab's "no such fault" into a line that names those there are."""
    try:
        yield
    except RefusedError as error:
        if error.http_status != NOT_FOUND:
            raise
        names = [fault["name"] for fault in client.call("GET", path_of("faults"))["faults"]]
        there = f"it has had {words(names)}" if names else "it has had none"
        raise UsageError(f"NAME: {name!r} is not a fault of this run; {there}") from None


def fault_line(fault: Mapping[str, Any]) -> str:
    """A fault in one line."""
    when = fault.get("effective_from_step")
    since = f", felt from step {when}" if when is not None else ""
    return (
        f"{fault['name']}: {fault['kind']} on {_ranks(fault)} at intensity "
        f"{quantity(fault['intensity'])}, {fault['state']}{since}"
    )


def _known_kind(client: Client, name: str) -> Any:
    try:
        return client.call("GET", path_of("kinds", name))
    except RefusedError as error:
        if error.http_status != NOT_FOUND:
            raise
        names = ", ".join(kind["kind"] for kind in client.call("GET", path_of("kinds"))["kinds"])
        raise UsageError(f"KIND: {name!r} is not one of {names}") from None


def _faults(faults: Sequence[Mapping[str, Any]], *, all_of_them: bool) -> str:
    """Those that live as a table; those that have ended in one line, unless they were asked for."""
    ended = [] if all_of_them else [fault["name"] for fault in faults if fault["state"] in _ENDED]
    shown = [fault for fault in faults if all_of_them or fault["state"] not in _ENDED]
    text = _table(shown) if shown else "no fault now"
    return text + (
        f"\n{len(ended)} ended: {words(ended, most=8)} (stepscope fault list --state cleared)" if ended else ""
    )


def _table(faults: Sequence[Mapping[str, Any]]) -> str:
    headings = ("name", "kind", "state", "intensity now", "ranks", "from step", "ends")
    rows = [
        (
            fault["name"],
            fault["kind"],
            fault["state"],
            f"{quantity(fault['effective_intensity'])} of {quantity(fault['intensity'])}",
            _listed(fault, most=8),
            NOTHING if fault["effective_from_step"] is None else str(fault["effective_from_step"]),
            fault["expires_at"] or (NOTHING if fault["state"] in _ENDED else "when cleared"),
        )
        for fault in faults
    ]
    return table(headings, rows, right="   > >")


def _fault(fault: Mapping[str, Any]) -> str:
    hidden = ("name", "kind", "state", "params", "target", "resolved_targets", "resolved_count", "resolved_ranges")
    rows = [("kind", fault["kind"]), ("state", fault["state"])]
    rows += [(f"parameter {key}", _text(value)) for key, value in fault["params"].items()]
    rows += [("target", _target(fault["target"])), ("ranks hit", _listed(fault, most=32))]
    rows += [(key.replace("_", " "), _text(value)) for key, value in fault.items() if key not in hidden and value != ""]
    return table(("name", fault["name"]), rows)


def _ranks(fault: Mapping[str, Any]) -> str:
    return f"rank{'s' if fault['resolved_count'] != 1 else ''} {_listed(fault, most=8)}"


def _listed(fault: Mapping[str, Any], *, most: int) -> str:
    """The ranks that it hits; of many, the answer names only the first."""
    named: Sequence[int] = fault["resolved_targets"][:most]
    more = fault["resolved_count"] - len(named)
    return words(named, most=most) + (f" and {more:,} more" if more else "")


def _target(target: Mapping[str, Any] | None) -> str:
    if target is None:
        return NOTHING
    value = target.get("value")
    return target["mode"] if value is None else f"{target['mode']} {words(value) if isinstance(value, list) else value}"


def _kind(kind: Mapping[str, Any]) -> str:
    lines = [
        f"{kind['kind']}: {kind['summary']}",
        f"look at: {kind['look_at']}",
        f"hits: {_target(kind['default_target'])} unless told otherwise; can be told {', '.join(kind['target_modes'])}",
        f"lengthens: {', '.join(kind['phases']) or 'no phase'}",
        f"moves: {', '.join(kind['metrics']) or 'no series'}",
        f"several at once: {kind['composition']}",
    ]
    params = kind["params"]["properties"]
    if params:
        rows = [(name, _text(schema.get("default")), _valid(schema), schema.get("description", ""))
                for name, schema in params.items()]  # fmt: skip
        lines += ["", table(("parameter", "default", "valid", "what it is"), rows)]
    return "\n".join(lines)


def _valid(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    low, high, unit = schema.get("minimum"), schema.get("maximum"), schema.get("x-unit", "")
    if low is None and high is None:
        return str(schema.get("type", ""))
    span = f"{quantity(low)} to {quantity(high)}" if high is not None else f"at least {quantity(low)}"
    return f"{span} {unit}".rstrip()


def _text(value: object) -> str:
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    return quantity(value) if isinstance(value, float) else str(value)
