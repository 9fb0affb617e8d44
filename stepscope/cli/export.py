"""`stepscope export`: real GPUs and training jobs of this node for Prometheus."""

from __future__ import annotations

import argparse
import logging
import os

from stepscope.cli.errors import CliError, UsageError
from stepscope.cli.extras import GPU_PACKAGES
from stepscope.cli.parser import Commands, Parser, command

_EPILOG = """\
auto, the default, takes the GPUs that NVML finds, the profiling fields of a dcgm-exporter that answers at --dcgm-url,
and training jobs always; it goes on looking for what is not there yet, and the log, the page at / and
exporter_source_choice_info say what it chose and why. Where a source is named, it is used whatever happens.

every option can come from the environment: STEPSCOPE_SOURCE, STEPSCOPE_DCGM_URL, STEPSCOPE_HOST, STEPSCOPE_PORT,
STEPSCOPE_INTERVAL, STEPSCOPE_MAX_AGE, STEPSCOPE_SOCKET, STEPSCOPE_HOSTNAME, STEPSCOPE_HOSTNAME_LABEL,
STEPSCOPE_EXIT_AFTER_FAILURES; also STEPSCOPE_ALLOWED_HOSTS, the names by which it may be called"""

OPTIONS = (
    "dcgm_url", "host", "port", "interval", "max_age", "socket", "hostname", "hostname_label", "exit_after_failures",
)  # fmt: skip


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(
        commands, "export", run, summary="real GPUs and training jobs of this node, for Prometheus", epilog=_EPILOG
    )
    parser.add_argument(
        "--source", action="append", metavar="NAME",
        help="auto, nvml, dcgm or job; several with commas or by repeating it (default: auto)",
    )  # fmt: skip
    add_dcgm_url(parser)
    parser.add_argument("--host", help="address to listen at (default: 127.0.0.1, which only this machine can reach)")
    parser.add_argument("--port", help="port to listen at, 0 for a free one (default: 9401)")
    parser.add_argument("--interval", metavar="SECONDS", help="time between two readings of a source (default: 1)")
    parser.add_argument("--max-age", metavar="SECONDS", help="for how long a reading is shown at most (default: 10)")
    parser.add_argument("--socket", metavar="PATH", help="where recorders of training jobs report")
    parser.add_argument("--hostname", help="what series call this machine (default: its host name)")
    parser.add_argument("--hostname-label", help="spelling of that label, Hostname or hostname (default: Hostname)")
    parser.add_argument(
        "--exit-after-failures", metavar="N",
        help="leave with status 1 when a source has failed so often in a row, to be started anew (default: never)",
    )  # fmt: skip


def add_dcgm_url(parser: Parser) -> None:
    """`--dcgm-url`."""
    parser.add_argument(
        "--dcgm-url", metavar="URL", help="page of a dcgm-exporter (default: http://localhost:9400/metrics)"
    )


def run(args: argparse.Namespace) -> int:
    """Serve until SIGTERM or Ctrl-C."""
    overrides = {key: getattr(args, key) for key in OPTIONS}
    overrides["source"] = ",".join(args.source) if args.source is not None else None
    return export(overrides)


def export(overrides: dict[str, str | None]) -> int:
    """Serve what these options and the environment say; the exit status."""
    try:
        from stepscope.api.settings import SettingsError
        from stepscope.export.assemble import assemble
        from stepscope.export.serve import run as serve
        from stepscope.export.settings import load_export_settings
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in GPU_PACKAGES:
            raise
        raise CliError(f"needs {error.name}, which is not installed: pip install '.[gpu]' in the repository") from None
    try:
        settings = load_export_settings(os.environ, overrides)
    except SettingsError as error:
        raise UsageError(str(error)) from None
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    try:
        return serve(settings, assemble(settings))
    except SettingsError as error:
        raise CliError(str(error)) from None
