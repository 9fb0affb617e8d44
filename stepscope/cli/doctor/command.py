"""`stepscope doctor`: what on this machine stands in the way, and what to do about it."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from stepscope.cli.errors import FAILED
from stepscope.cli.output import print_json
from stepscope.cli.parser import Commands, add_json, add_server, command, server_url, whole

SOURCE = Path(__file__).parents[3]
"""Top of the repository, where this runs from one."""

_EPILOG = """\
looks at Python, memory, clock, ports, a running lab, GPUs, Docker, and the folder of the containers; changes nothing
and asks nobody but this machine, unless --url names another
exit status: 0 when there is no problem (a warning is none), else 1
ports: the options, else STEPSCOPE_PORT, LAB_PORT, PROMETHEUS_PORT and GRAFANA_PORT of the environment, else .env"""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(
        commands, "doctor", run, summary="look for what stands in the way on this machine, and say what to do",
        epilog=_EPILOG,
    )  # fmt: skip
    for service, title in (("lab", "the lab"), ("prometheus", "Prometheus"), ("grafana", "Grafana")):
        parser.add_argument(
            f"--{service}-port", type=whole(1, 65_535), metavar="PORT", help=f"port that {title} is to have"
        )
    parser.add_argument(
        "--folder", type=Path, metavar="DIR", help="where docker-compose.yml is (default: here, else the repository)"
    )
    add_server(parser, token=False)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Look, judge, print; 1 when there is a problem."""
    from stepscope.cli.client import Client
    from stepscope.cli.doctor import examine, lab, report
    from stepscope.cli.doctor.settings import find_folder, ports, read_env_file

    folder = find_folder(args.folder, here=Path.cwd(), source=SOURCE)
    options = {service: getattr(args, f"{service}_port") for service in ("lab", "prometheus", "grafana")}
    wanted = ports(options, os.environ, read_env_file(folder))
    named = args.url is not None or bool(os.environ.get("STEPSCOPE_URL"))
    url, key = server_url(args)
    if not named and wanted[0].number:
        url = f"http://127.0.0.1:{wanted[0].number}"
    client = Client(url, key=key, timeout_seconds=lab.TIMEOUT_SECONDS)
    checks = list(examine.judge(examine.look(wanted, client, asked_for=named, folder=folder)))
    if args.json:
        print_json([check.to_mapping() for check in checks])
    else:
        print(report.text(checks))
    return FAILED if any(check.status == "problem" for check in checks) else 0
