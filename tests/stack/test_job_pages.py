"""What a real Prometheus makes of the job source's text, whatever the runs are called."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from exporter.render import Format
from exporter.sources.job.source import JobSource
from tests.exporter.job.reports import Clock, datagram, no_peak
from tests.stack.pages import job as scrape_job
from tests.stack.pages import serving
from tests.stack.real import eventually
from tests.stack.servers import Prometheus, running_prometheus

pytestmark = pytest.mark.stack

NAMES = (
    "night", 'a"} 1\nfake{run="x', "\\", "\\n", "# EOF\n", "tab\tand\nnewline", "\u2028\u200b\ufeff", "é" * 128,
    "\U0001f680", "a,b={}", " leading", "'",
)  # fmt: skip
PATHS = {format_: f"/{format_.name.lower()}" for format_ in Format}


class Heard:
    """A source that has heard of all these runs just now, by a clock that a test moves."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.source = JobSource(socket_path="/unused", hostname="n", gpus=list, peak=no_peak, clock=self.clock)
        for user, name in enumerate(NAMES):
            self.source.take(datagram(run=name, model=name, rank=0, loss="NaN"), user)

    def page(self, format_: Format) -> str:
        """As the exporter ends it."""
        return "".join(self.source.families(format_)) + format_.ending


@pytest.fixture(scope="module")
def heard() -> Heard:
    return Heard()


@pytest.fixture(scope="module")
def prometheus(heard: Heard, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """Scrapes both formats each second."""
    pages = {path: (lambda format_=format_: heard.page(format_)) for format_, path in PATHS.items()}
    types = {path: format_.value for format_, path in PATHS.items()}
    with serving(pages, types=types) as address:
        config = {
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
            "scrape_configs": [scrape_job(format_.name, address, path) for format_, path in PATHS.items()],
        }
        with running_prometheus(tmp_path_factory.mktemp("prometheus"), config) as running:
            yield running


@pytest.mark.parametrize("format_", Format)
def test_every_run_is_stored_under_its_own_name_and_no_other(prometheus: Prometheus, format_: Format) -> None:
    def stored() -> set[str] | None:
        assert prometheus.value(f'up{{job="{format_.name}"}}') == 1.0, prometheus.targets()
        found = prometheus.vector(f'count by (run, model) ({{__name__="training_run_info", job="{format_.name}"}})')
        return {dict(labels)["run"] for labels in found if dict(labels)["run"] == dict(labels)["model"]} or None

    assert eventually("runs are stored", stored, within=30) == set(NAMES)
    names = prometheus.api("label/__name__/values", **{"match[]": f'{{job="{format_.name}"}}'})
    assert not [name for name in names if "fake" in name]
    steps = prometheus.vector(f'training_steps_total{{job="{format_.name}"}}')
    assert sorted(steps.values()) == [20.0] * len(NAMES)


def test_runs_that_fall_silent_end_at_the_next_scrape(prometheus: Prometheus, heard: Heard) -> None:
    """A gap, at once: not for the five minutes in which Prometheus repeats a target that is gone."""
    eventually("runs are stored", lambda: prometheus.vector("training_steps_total") or None, within=30)
    heard.clock.now += 60

    def ended() -> bool | None:
        return (not prometheus.vector('{__name__=~"training_.*"}') and prometheus.value("min(up)") == 1.0) or None

    assert eventually("series have ended", ended, within=15)
