"""One broken lab, its untouched twin, and the Prometheus that watches both, shared by the tests of a session.

The job's clock is the wall clock and rules look back one minute, so starting these once saves minutes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

import pytest

from tests.stack.real import eventually
from tests.stack.servers import Lab, Prometheus, running_lab, running_prometheus, shipped_config

SEED = "7"


@dataclass(frozen=True, slots=True)
class Stage:
    """What the film is shot on."""

    film: Lab
    """The lab that tests break; job `film`."""
    twin: Lab
    """The same preset and seed, never touched; job `twin`, run `twin`."""
    prometheus: Prometheus


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Both labs under one Prometheus with the shipped configuration and rules."""
    folder = tmp_path_factory.mktemp("stage")
    with ExitStack() as running:
        film = running.enter_context(running_lab(folder / "film.log", "--seed", SEED))
        twin = running.enter_context(running_lab(folder / "twin.log", "--seed", SEED))
        config = shipped_config(film=film, twin=twin)
        # The twins have the same names for everything; rules join by run and UUID, so one of them takes others.
        config["scrape_configs"][1]["metric_relabel_configs"] = [
            {"source_labels": ["run"], "regex": "(.+)", "target_label": "run", "replacement": "twin"},
            {"source_labels": ["UUID"], "regex": "(.+)", "target_label": "UUID", "replacement": "twin-$1"},
        ]
        prometheus = running.enter_context(running_prometheus(folder / "prometheus", config))
        eventually("every target is up", partial(all_up, prometheus, count=4), within=60)
        yield Stage(film, twin, prometheus)


def all_up(prometheus: Prometheus, *, count: int) -> bool | None:
    """Whether this many targets were scraped, each with success."""
    health = [target["health"] for target in prometheus.targets().values()]
    return (len(health) == count and set(health) == {"up"}) or None
