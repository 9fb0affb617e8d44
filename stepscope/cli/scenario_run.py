"""What the actions of `stepscope scenario` do."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from typing import Any

from stepscope.cli.client import Client, path_of
from stepscope.cli.errors import UsageError
from stepscope.cli.output import NOTHING, duration, print_json, table

_POLL_SECONDS = 1.0


def listing(args: argparse.Namespace) -> int:
    """Print what can be played, and what was."""
    client = Client.of(args)
    known = client.call("GET", path_of("scenarios"))["scenarios"]
    played = client.call("GET", path_of("playbacks"))["playbacks"]
    if args.json:
        print_json({"scenarios": known, "playbacks": played})
        return 0
    rows = [(one["id"], one["preset"], duration(one["duration_seconds"]), one["title"]) for one in known]
    print(table(("scenario", "job", "takes", "title"), rows, right="  >"))
    if played:
        states = [(one["id"], one["state"], _progress(one), one["run"]) for one in played]
        print("\n" + table(("playback", "state", "at", "run"), states, right="  >"))
    print("\nplay one: stepscope scenario run ID")
    return 0


def show(args: argparse.Namespace) -> int:
    """Print one scenario: its question, and no more than is asked for."""
    client = Client.of(args)
    found = client.call("GET", path_of("scenarios", args.scenario))
    answer = client.call("GET", path_of("scenarios", args.scenario, "answer")) if args.answer else None
    if args.json:
        print_json(found | ({"answer": answer} if answer else {}))
        return 0
    print(f"{found['id']}: {found['title']}\n{found['question']}")
    print(f"job {found['preset']}, seed {found['seed']}, {duration(found['duration_seconds'])}")
    for hint in found["hints"] if args.hints else []:
        print(f"hint: {hint}")
    if found["hints"] and not args.hints:
        print(f"{len(found['hints'])} hints: stepscope scenario show {found['id']} --hints")
    for one in answer["answers"] if answer else []:
        who = "nobody to name" if one["rank"] is None else f"rank {one['rank']}"
        print(f"answer: {one['cause']}, {who}; {one['remedy']}")
    return 0


def run(args: argparse.Namespace) -> int:
    """Play a scenario."""
    client = Client.of(args)
    body: dict[str, Any] = {"scenario": _scenario(args.scenario)}
    body |= {key: getattr(args, key) for key in ("seed", "speed") if getattr(args, key) is not None}
    typed = {"/scenario": "ID|FILE", "/seed": "--seed", "/speed": "--speed"}
    playback = client.call("POST", path_of("playbacks"), body=body, typed=typed)
    if args.wait:
        playback = _wait(client, playback, quiet=args.json)
    if args.json:
        print_json(playback)
        return 0
    if not args.wait:
        takes = duration(playback["duration_seconds"] / playback["speed"])
        print(f"{playback['id']}: {playback['title']}\n{playback['question']}")
        print(f"run {playback['run']}, over in {takes}; stop it: stepscope scenario stop")
    return 0


def stop(args: argparse.Namespace) -> int:
    """Stop a playback; without a name, the one that plays."""
    client = Client.of(args)
    name = args.playback
    if name is None:
        played = client.call("GET", path_of("playbacks"))["playbacks"]
        name = next((one["id"] for one in reversed(played) if one["state"] == "playing"), None)
        if name is None:
            raise UsageError("PLAYBACK: nothing plays now; see stepscope scenario list")
    client.call("DELETE", path_of("playbacks", name))
    found = client.call("GET", path_of("playbacks", name))
    if args.json:
        print_json(found)
    else:
        print(f"{name}: {found['state']}; the run {found['run']} goes on")
    return 0


def _scenario(word: str) -> object:
    """An id as it is, a file as what it holds."""
    if "/" not in word and not word.endswith((".yaml", ".yml")):
        return word
    from pathlib import Path

    from faults.errors import FaultError
    from faults.scenario_files import read_mapping

    try:
        return read_mapping(Path(word))
    except FaultError as error:
        raise UsageError(f"FILE {word}: {error}") from None
    except OSError as error:
        raise UsageError(f"FILE {word}: cannot be read ({error.strerror})") from None


def _wait(client: Client, playback: dict[str, Any], *, quiet: bool) -> dict[str, Any]:
    name = playback["id"]
    try:
        while playback["state"] == "playing":
            if not quiet and sys.stderr.isatty():
                print(f"\r{name}: {_progress(playback)}  ", end="", file=sys.stderr, flush=True)
            time.sleep(_POLL_SECONDS)
            playback = client.call("GET", path_of("playbacks", name))
    except KeyboardInterrupt:
        client.call("DELETE", path_of("playbacks", name))
        playback = client.call("GET", path_of("playbacks", name))
    if not quiet:
        print(f"{name}: {playback['state']}")
    return playback


def _progress(playback: Mapping[str, Any]) -> str:
    total = playback["duration_seconds"]
    return f"{playback['elapsed_seconds']:.0f} of {total:.0f} s" if total else NOTHING
