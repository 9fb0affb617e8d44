"""By which names the exporter may be called: a page that rebinds its name must not read it."""

from __future__ import annotations

import pytest

from stepscope.export.settings import ExportSettings
from tests.api.conftest import problem
from tests.export.conftest import Bench

LOCAL = ExportSettings(hostname="node-a")
PUBLIC = ExportSettings(hostname="node-a", host="0.0.0.0")
NAMED = ExportSettings(hostname="node-a", host="0.0.0.0", allowed_hosts=("node-a.example",))
FOREIGN = ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", "localhost:1:2", "[::1].x")


def status(settings: ExportSettings, host: str) -> int:
    code: int = Bench(settings).client.get("/metrics", headers={"Host": host}).status_code
    return code


@pytest.mark.parametrize("settings", [LOCAL, PUBLIC, NAMED], ids=["local", "public", "named"])
@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:9401", "127.0.0.1:9401", "[::1]:9401", "10.1.2.3", "[fe80::1]:9401"]
)
def test_addresses_and_localhost_are_always_answered(settings: ExportSettings, host: str) -> None:
    assert status(settings, host) == 200


@pytest.mark.parametrize("host", FOREIGN)
@pytest.mark.parametrize("settings", [LOCAL, NAMED], ids=["local", "named"])
def test_a_foreign_name_is_refused(settings: ExportSettings, host: str) -> None:
    for path in ("/metrics", "/", "/readyz", "/nothing"):
        problem(Bench(settings).client.get(path, headers={"Host": host}), 421)


@pytest.mark.parametrize("host", ["node-a:9401", "gpu-17.cluster.example", "stepscope-export.monitoring.svc:9401"])
def test_beyond_this_machine_a_scraper_may_use_any_name(host: str) -> None:
    assert status(PUBLIC, host) == 200


def test_names_that_are_listed_are_the_only_ones() -> None:
    assert status(NAMED, "node-a.example:9401") == 200
    assert status(NAMED, "gpu-17.cluster.example") == 421
    assert status(ExportSettings(hostname="a", allowed_hosts=("node-a.example",)), "node-a.example") == 200
