"""Service discovery: one simulated node is one scrape target, the run is one more."""

from __future__ import annotations

from typing import TypedDict
from urllib.parse import quote

from simulator.observation import RunInfo

RUN_INSTANCE = "run"
"""`instance` of the run page's target."""


class TargetGroup(TypedDict):
    """One entry of Prometheus' HTTP service discovery."""

    targets: list[str]
    labels: dict[str, str]


def targets(info: RunInfo | None, host: str) -> list[TargetGroup]:
    """Targets of the run behind `info`, all at `host` (the request's own Host, so that it is reachable).

    Never sets a label that a sample has, such as Hostname: Prometheus would rename the sample's own. Without a run only
    the run page is announced, which always answers.
    """
    nodes = info.hostnames if info is not None else ()
    pages = [(RUN_INSTANCE, "/metrics/run"), *((name, f"/metrics/nodes/{quote(name, safe='')}") for name in nodes)]
    return [{"targets": [host], "labels": {"__metrics_path__": path, "instance": instance}} for instance, path in pages]
