"""Targets for Prometheus."""

from __future__ import annotations

from dataclasses import replace

from exporter.catalogue import FAMILIES
from exporter.discovery import targets
from tests.exporter.ticks import run_info


def test_one_target_per_node_and_one_for_the_run() -> None:
    found = targets(run_info(ranks=16, gpus_per_node=8), "simulator:8000")
    assert [group["labels"] for group in found] == [
        {"__metrics_path__": "/metrics/run", "instance": "run"},
        {"__metrics_path__": "/metrics/nodes/node-00", "instance": "node-00"},
        {"__metrics_path__": "/metrics/nodes/node-01", "instance": "node-01"},
    ]
    assert all(group["targets"] == ["simulator:8000"] for group in found)


def test_before_the_first_tick_the_run_page_is_announced() -> None:
    assert [group["labels"]["instance"] for group in targets(None, "localhost:8000")] == ["run"]


def test_no_label_that_a_sample_has() -> None:
    ours = {label for family in FAMILIES for label in family.labels}
    for group in targets(run_info(), "localhost:8000"):
        assert not ours & group["labels"].keys()


def test_a_node_name_is_quoted_in_the_path() -> None:
    info = replace(run_info(), hostnames=("rack 1/node?0",))
    labels = targets(info, "localhost:8000")[1]["labels"]
    assert labels == {"__metrics_path__": "/metrics/nodes/rack%201%2Fnode%3F0", "instance": "rack 1/node?0"}
