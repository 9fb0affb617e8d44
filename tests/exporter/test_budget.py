"""Series are counted on the pages, and the catalogue's arithmetic must agree."""

from __future__ import annotations

import sys

import pytest

from exporter.budget import PER_GPU_LIMIT, PER_NODE_LIMIT, PER_RUN_LIMIT, budget
from exporter.catalogue import DCGM_FAMILIES, PROCESS_FAMILIES, RANK_FAMILIES
from exporter.pages import Pages
from exporter.sources.job.source import JobSource
from exporter.sources.nvml.source import NvmlSource
from tests.exporter.exposition import Exposition, read
from tests.exporter.nodes import FakeJob, Scripted, Stage, board, failing, reading
from tests.exporter.ticks import StubClock, StubEngine, run_info, tick


def pages_of(*, gpus: int, gpus_per_node: int, nics: int) -> Pages:
    source = tick(run_info(ranks=gpus, gpus_per_node=gpus_per_node, nics=nics))
    return Pages(StubEngine(tick=source), clock=StubClock(source.timestamp))


def series_of_nodes(page: Exposition) -> int:
    return sum(sample.name.startswith(("training_storage", "training_network")) for sample in page.samples)


@pytest.mark.parametrize(("gpus", "gpus_per_node", "nics"), [(4, 4, 0), (8, 8, 0), (8, 8, 8), (64, 8, 8)])
def test_the_budget_holds(gpus: int, gpus_per_node: int, nics: int) -> None:
    pages = pages_of(gpus=gpus, gpus_per_node=gpus_per_node, nics=nics)
    planned, nodes = budget(nics=nics), gpus // gpus_per_node
    for node in range(nodes):
        page = read(pages.node(f"node-{node:02d}").body)
        of_node = series_of_nodes(page)
        of_gpus = len(page.samples) - of_node
        assert of_gpus == gpus_per_node * planned.per_gpu <= gpus_per_node * PER_GPU_LIMIT
        assert of_node == planned.per_node <= PER_NODE_LIMIT
    run = read(pages.run().body)
    absent = sum(not run.of(family.name) for family in PROCESS_FAMILIES)
    assert absent == 0 or sys.platform != "linux"
    assert len(run.samples) + absent == planned.per_run <= PER_RUN_LIMIT
    total = planned.total(gpus=gpus, nodes=nodes)
    assert len(read(pages.all().body).samples) + absent == total
    assert total <= gpus * PER_GPU_LIMIT + nodes * PER_NODE_LIMIT + PER_RUN_LIMIT


def test_openmetrics_has_no_series_more() -> None:
    pages = pages_of(gpus=8, gpus_per_node=8, nics=8)
    assert len(read(pages.all("application/openmetrics-text").body).samples) == len(read(pages.all().body).samples)


@pytest.mark.parametrize("gpus", [4, 8])
def test_a_real_node_keeps_the_budget_too(gpus: int) -> None:
    """Its own series stand on every node's page, not on one per run; a job of its own stands beside them."""
    boards = [board(number) for number in range(gpus)]
    values = {family.name: 1.0 for family in DCGM_FAMILIES}
    source = NvmlSource(library=object(), hostname="a")
    scripted = Scripted(
        lambda _: reading(*boards, values=values),
        error_reasons=source.error_reasons,
        drop_reasons=source.drop_reasons,
    )
    away = Scripted(failing("connect"), name="dcgm")
    job = FakeJob(error_reasons=JobSource.error_reasons, drop_reasons=JobSource.drop_reasons)
    stage = Stage((scripted, away), auto=True, job=job)
    stage.run_until(0)
    page = read(stage.pages.page().body)
    of_ranks = gpus * sum(family.series for family in RANK_FAMILIES)
    own = len([sample for sample in page.samples if not sample.name.startswith("training_")])
    assert own + of_ranks <= gpus * PER_GPU_LIMIT + PER_NODE_LIMIT + (PER_RUN_LIMIT if gpus < 8 else 0)
