"""`stepscope health`: is the lab ready? For healthchecks: exit status 0 or 1."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from stepscope.cli.errors import FAILED, CliError
from stepscope.cli.output import print_json
from stepscope.cli.parser import Commands, add_json, add_server, command, server_url

if TYPE_CHECKING:
    from stepscope.cli.client import Client

TIMEOUT_SECONDS = 3.0


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "health", run, summary="ask a lab whether it is ready: exit status 0 when it is, else 1")
    add_server(parser, token=False)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Ask, print one line, and answer with the exit status."""
    from stepscope.cli.client import Client

    url, key = server_url(args)
    client = Client(url, key=key, timeout_seconds=TIMEOUT_SECONDS)
    try:
        ready, detail, components = _ask(client)
    except CliError as error:
        ready, detail, components = False, str(error), {}
    if args.json:
        print_json({"ready": ready, "detail": detail, "components": components})
    else:
        print(f"{'ready' if ready else 'not ready'}: {detail}")
    return 0 if ready else FAILED


def _ask(client: Client) -> tuple[bool, str, dict[str, Any]]:
    status, _, body = client.exchange("GET", "/readyz")
    try:
        answer = json.loads(body)
    except ValueError:
        answer = None
    if not isinstance(answer, dict) or "status" not in answer:
        raise CliError(f"{client.url} answers, but not as a stepscope lab does (HTTP {status})")
    found = answer.get("components")
    components = found if isinstance(found, dict) else {}
    if status == 200 and components:
        return True, ", ".join(f"{name} {state}" for name, state in components.items()), components
    return status == 200, str(answer.get("detail", f"HTTP {status}")), components
