"""What somebody who has just started the lab may want to type."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence

from stepscope.cli.output import table

DEFAULT_PORT = 8000
_HERE = ("127.0.0.1", "localhost", "0.0.0.0", "::")
"""Addresses to listen at that 127.0.0.1 reaches."""


def first_steps(host: str, port: int, *, needs_token: bool, program: str) -> str:
    """Commands to try in another terminal, with what they need to find this lab (port 0: not known yet)."""
    told: list[tuple[str, str]] = []
    here = "127.0.0.1" if host in _HERE else f"[{host}]" if ":" in host else host
    if (here, port) != ("127.0.0.1", DEFAULT_PORT):
        url = f"http://{here}:{port}" if port else "<the address below>"
        told.append(("find it", f"export STEPSCOPE_URL={url}"))
    if needs_token:
        told.append(("be let in", "export STEPSCOPE_TOKEN=<the lab's token>"))
    told += [
        ("starve it", f"{program} fault add film io_starvation --duration 120"),
        ("look", f"{program} fault list"),
        ("put it back", f"{program} fault reset"),
    ]
    return table(("try first", "in another terminal"), told, indent="  ")


def program_name(argv: Sequence[str] = sys.argv) -> str:
    """How this program can be called again: by name where the shell finds it, else by the path that was used."""
    called = argv[0] if argv else ""
    if os.path.basename(called) == "stepscope" and os.sep in called and shutil.which("stepscope") is None:
        return called
    return "stepscope"
