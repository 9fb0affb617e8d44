"""`stepscope lab`: simulator, API, page and metrics on one port."""

from __future__ import annotations

import argparse
import logging
import os
import socket
from collections.abc import Mapping

from stepscope.cli.errors import CliError, UsageError
from stepscope.cli.export import export
from stepscope.cli.first_steps import DEFAULT_PORT, first_steps, program_name
from stepscope.cli.jobs import job_named
from stepscope.cli.parser import DEFAULT_PRESET, DEFAULT_SEED, Commands, command, seed
from stepscope.cli.runtime import one_blas_thread

_EPILOG = """\
--source auto shows the GPUs of this machine, where NVML finds any, as `stepscope export` does: real numbers, so no
faults and no API. Without a GPU it is the lab.

every option can come from the environment: STEPSCOPE_SOURCE, STEPSCOPE_PRESET, STEPSCOPE_SEED, STEPSCOPE_HOST,
STEPSCOPE_PORT, STEPSCOPE_TOKEN; also STEPSCOPE_TOKEN_FILE (shares the token with other programs),
STEPSCOPE_ALLOWED_HOSTS, STEPSCOPE_PUBLISHED_ON (address at which a container engine publishes the port),
STEPSCOPE_OPEN_WRITES and STEPSCOPE_CONFIG, a TOML file of settings"""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(commands, "lab", run, summary="run a job in real time, with API, page and metrics", epilog=_EPILOG)
    parser.add_argument("--preset", help=f"job to run, see stepscope presets (default: {DEFAULT_PRESET})")
    parser.add_argument("--seed", type=seed, help=f"fixes every random draw (default: {DEFAULT_SEED})")
    parser.add_argument("--source", help="simulated, or auto for real GPUs where there are any (default: simulated)")
    parser.add_argument("--host", help="address to listen at (default: 127.0.0.1, which only this machine can reach)")
    parser.add_argument("--port", help="port to listen at, 0 for a free one (default: 8000)")
    parser.add_argument(
        "--token", help="token that guards the truth and, off this machine, writes (default: made at start)"
    )


def run(args: argparse.Namespace) -> int:
    """Serve until SIGTERM or Ctrl-C."""
    if _source(args, os.environ) == "auto" and _has_gpus():
        return export({"source": "auto", "host": args.host, "port": _port(args, os.environ)})
    one_blas_thread()
    from stepscope.api.settings import SettingsError, load_settings
    from stepscope.api.token_file import share_token

    try:
        overrides = {"host": args.host, "port": args.port, "token": args.token}
        settings = share_token(load_settings(os.environ, overrides=overrides))
    except SettingsError as error:
        raise UsageError(str(error)) from None
    preset, key = _preset(args, os.environ)
    job, job_seed = job_named(preset, key=key), _seed(args, os.environ)

    from simulator.engine import Engine
    from stepscope.api import serve

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    print(f"{job.preset}: {job.title}; seed {job_seed}")
    needs_token = settings.writes_need_token
    print(first_steps(settings.host, settings.port, needs_token=needs_token, program=program_name()), flush=True)
    try:
        return serve.run(settings, Engine(job, seed=job_seed))
    except SettingsError as error:
        raise CliError(str(error)) from None


def _source(args: argparse.Namespace, environ: Mapping[str, str]) -> str:
    given = args.source if args.source is not None else environ.get("STEPSCOPE_SOURCE")
    if given and given not in ("simulated", "auto"):
        key = "--source" if args.source is not None else "STEPSCOPE_SOURCE"
        raise UsageError(f"{key}: {given!r} is not one of simulated, auto; stepscope export takes the others")
    return given or "simulated"


def _has_gpus() -> bool:
    """Whether there are real GPUs to show; says so."""
    from exporter.sources.nvml.source import NvmlSource
    from stepscope.export.probe import gpus_of

    count, words = gpus_of(NvmlSource(hostname=socket.gethostname()))
    if count:
        print(f"{words}: showing these, as stepscope export does; --source simulated is the lab", flush=True)
    else:
        print(f"no real GPU to show ({words}): simulating", flush=True)
    return bool(count)


def _port(args: argparse.Namespace, environ: Mapping[str, str]) -> str:
    return str(args.port if args.port is not None else environ.get("STEPSCOPE_PORT") or DEFAULT_PORT)


def _preset(args: argparse.Namespace, environ: Mapping[str, str]) -> tuple[str, str]:
    if args.preset is not None:
        return args.preset, "--preset"
    return environ.get("STEPSCOPE_PRESET") or DEFAULT_PRESET, "STEPSCOPE_PRESET"


def _seed(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    if args.seed is not None:
        return int(args.seed)
    text = environ.get("STEPSCOPE_SEED")
    try:
        return seed(text) if text else DEFAULT_SEED
    except argparse.ArgumentTypeError as error:
        raise UsageError(f"STEPSCOPE_SEED: {error}") from None
