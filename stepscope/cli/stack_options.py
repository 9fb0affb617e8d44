"""What the commands on the compose stack share: whose containers, on which engine, and errors of one line."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.cli.errors import CliError, UsageError
from stepscope.cli.parser import Parser

if TYPE_CHECKING:
    from stepscope.stack.client import Client
    from stepscope.stack.lease import LeaseFile
    from stepscope.stack.project import Project


def add_stack(parser: Parser) -> None:
    """`--project` and `--context`; read them with `opened`."""
    parser.add_argument(
        "--project", metavar="NAME", help="the compose project (default: COMPOSE_PROJECT_NAME, else stepscope)"
    )
    parser.add_argument(
        "--context", metavar="NAME",
        help="the Docker context (default: DOCKER_HOST, else DOCKER_CONTEXT, else the one in use)",
    )  # fmt: skip


@contextmanager
def opened(args: argparse.Namespace, environ: Mapping[str, str] = os.environ) -> Iterator[Project]:
    """The project on its engine. Inside the block errors of the stack become errors of the command."""
    from stepscope.stack.errors import StackError, StackInputError
    from stepscope.stack.project import Project, project_name

    try:
        client = _connect(args.context, environ)
        try:
            yield Project(client, project_name(args.project, environ))
        finally:
            client.close()
    except StackInputError as error:
        raise UsageError(str(error)) from error
    except StackError as error:
        raise CliError(str(error)) from error


def lease_file(environ: Mapping[str, str] = os.environ) -> LeaseFile:
    """Where this user's chaos is kept."""
    from stepscope.stack.lease import LeaseFile, state_file

    return LeaseFile(state_file(environ, home=Path.home()))


def _connect(context: str | None, environ: Mapping[str, str]) -> Client:
    """Replaced by tests."""
    from stepscope.stack.engine import connect

    return connect(context, environ)
