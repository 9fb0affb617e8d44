"""`stepscope status`: the containers of the stack, their Prometheus, and whether MFU is stored."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from stepscope.cli.errors import FAILED
from stepscope.cli.output import NOTHING, print_json, share, table, words
from stepscope.cli.parser import Commands, add_json, command
from stepscope.cli.stack_options import add_stack, lease_file, opened

if TYPE_CHECKING:
    from stepscope.stack.status import Service, Status

_EPILOG = """\
exit status: 0 when every container runs, none is unhealthy, every target is up and MFU is stored, else 1
needs the Docker SDK: pip install '.[stack]' in the repository"""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "status", run, summary="the state of the compose stack", epilog=_EPILOG)
    add_stack(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Look and print; 1 when anything is not as it should be."""
    from stepscope.stack.engine import engine_id
    from stepscope.stack.status import look

    with opened(args) as project:
        leases = lease_file().leases(engine=engine_id(project.client), project=project.name)
        status = look(project, leases)
    if args.json:
        print_json(_as_mapping(status))
    else:
        print(_for_people(status))
    return FAILED if status.problems else 0


def _as_mapping(status: Status) -> dict[str, Any]:
    return {
        "project": status.project,
        "ok": not status.problems,
        "problems": list(status.problems),
        "services": [{**asdict(each), "ports": list(each.ports)} for each in status.services],
        "prometheus": None if status.prometheus is None else asdict(status.prometheus),
    }


def _for_people(status: Status) -> str:
    headings = ("service", "state", "health", "ports", "image", "restarts", "memory")
    parts = [table(headings, [_row(each) for each in status.services], right="     >>")]
    parts += [f"{each.service}: broken on purpose, {each.chaos}" for each in status.services if each.chaos]
    watched = status.prometheus
    if watched is not None and watched.reachable:
        mfu = [f"{run} {share(value)}" for run, value in (watched.mfu or {}).items()]
        parts.append(
            f"Prometheus {watched.url}: {watched.targets_up} of {watched.targets} targets up, MFU {words(mfu)}"
        )
    parts.append("all is well" if not status.problems else "\n".join(f"not well: {each}" for each in status.problems))
    return "\n".join(parts)


def _row(service: Service) -> tuple[str, ...]:
    memory = service.memory_bytes
    return (
        service.service,
        service.state,
        service.health or NOTHING,
        words(service.ports),
        service.image,
        str(service.restarts),
        NOTHING if memory is None else f"{memory / 2**20:.0f} MiB",
    )
