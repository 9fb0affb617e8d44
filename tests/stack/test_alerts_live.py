"""The shipped rules in a real Prometheus: labs are broken over REST, and their training alerts fire within a minute.

One lab for each fault and one that is left alone run side by side, so that the minute passes once.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

import pytest

from tests.stack.conftest import all_up
from tests.stack.real import eventually
from tests.stack.servers import Prometheus, running_lab, running_prometheus, shipped_config

pytestmark = pytest.mark.stack

MINUTE = 60
HEALTHY = "healthy"
FIRES: Mapping[str, set[str]] = {
    "straggler": {"TrainingRankStraggling", "TrainingMfuLow"},
    "io_starvation": {"TrainingInputStarved", "TrainingMfuLow"},
    "gradient_explosion": {"TrainingGradNormExploding"},
    "thermal_throttle": {"GpuThermalThrottle", "TrainingRankStraggling", "TrainingMfuLow"},
    HEALTHY: set(),
}
NAMING = {"TrainingRankStraggling", "GpuThermalThrottle"}
"""Alerts that name a rank."""


@dataclass(frozen=True, slots=True)
class Broken:
    """Labs under one Prometheus, by the fault that each has, and when and whom it was put on."""

    prometheus: Prometheus
    put_at: Mapping[str, float]
    """Unix time of the PUT."""
    targets: Mapping[str, list[int]]
    """Ranks that it hit."""


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broken]:
    """A fault in every lab but one, put once the rules know what each job can do."""
    folder = tmp_path_factory.mktemp("alerts")
    with ExitStack() as running:
        labs = {name: running.enter_context(running_lab(folder / f"{name}.log", "--seed", "7")) for name in FIRES}
        config = shipped_config(**labs)
        for job in config["scrape_configs"]:
            # The labs call everything the same, and rules join by run and UUID.
            job["metric_relabel_configs"] = [
                {
                    "source_labels": [label],
                    "regex": "(.+)",
                    "target_label": label,
                    "replacement": f"{job['job_name']}$1",
                }
                for label in ("run", "UUID")
            ]
        prometheus = running.enter_context(running_prometheus(folder / "prometheus", config))
        eventually("every target is up", partial(all_up, prometheus, count=2 * len(labs)), within=60)
        eventually("every job has a best", partial(best_known, prometheus, count=len(labs)), within=60)
        put_at, targets = {}, {}
        for name, lab in labs.items():
            put_at[name] = time.time()
            if name != HEALTHY:
                targets[name] = lab.put_fault("broken", kind=name, open_ended=True)["resolved_targets"]
        yield Broken(prometheus, put_at, targets)


def best_known(prometheus: Prometheus, *, count: int) -> bool | None:
    """Whether the rules know what every job can do."""
    return len(prometheus.vector("run:training_mfu:max15m")) == count or None


def firing(prometheus: Prometheus, fault: str, *, at: float | None = None) -> dict[str, set[int]]:
    """Training alerts that fire for a lab, and the ranks that each names."""
    found: dict[str, set[int]] = {}
    for labels in prometheus.vector(f'ALERTS{{alertstate="firing", set="training", run=~"{fault}.+"}}', at=at):
        alert = dict(labels)
        found.setdefault(alert["alertname"], set()).update({int(alert["rank"])} if "rank" in alert else ())
    return found


def all_fire(broken: Broken) -> bool | None:
    """Whether every alert that is expected fires; as an AssertionError, those that do not yet."""
    missing = {fault: alerts - set(firing(broken.prometheus, fault)) for fault, alerts in FIRES.items()}
    assert not any(missing.values()), {fault: alerts for fault, alerts in missing.items() if alerts}
    return True


def test_training_alerts_fire_within_a_minute(broken: Broken) -> None:
    left = max(broken.put_at.values()) + MINUTE - time.time()
    eventually("every lab's training alerts fire", partial(all_fire, broken), within=left)


@pytest.mark.parametrize("fault", FIRES)
def test_nothing_else_fires_and_culprits_alone_are_named(broken: Broken, fault: str) -> None:
    found = firing(broken.prometheus, fault)
    assert set(found) == FIRES[fault]
    for alert in NAMING & set(found):
        assert found[alert] == set(broken.targets[fault])


def test_the_traditional_set_is_silent(broken: Broken) -> None:
    """Severe heat is pending by then, as it should be, and nothing else."""
    alerts = broken.prometheus.vector('max_over_time(ALERTS{set="traditional"}[10m])')
    told = {(dict(labels)["alertname"], dict(labels)["alertstate"]) for labels in alerts}
    assert told <= {("GpuTemperatureHigh", "pending")}
