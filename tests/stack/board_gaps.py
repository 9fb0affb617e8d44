"""Queries that have nothing to show, each with its reason: the one place where a board may stay empty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.stack.gallery import IN_FP16, NODES, ONE_NODE, Scene

DCGM = Scene(name="dcgm-exporter", preset="")
"""A real exporter's page instead of a lab."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """One or several queries that return nothing."""

    board: str
    panel: str
    legend: str = ""
    """The query's legend; empty for every query of the panel."""
    where: Callable[[Scene], bool]
    """The scenes in which they do."""
    sure: bool = True
    """Whether they always do there; when not, they may."""
    why: str


def _healthy(scene: Scene) -> bool:
    return not scene.kind


def _broken(scene: Scene) -> bool:
    return bool(scene.kind)


def _one_node(scene: Scene) -> bool:
    return scene.preset in (ONE_NODE, IN_FP16)


STOPPED = ("ecc_error", "gpu_lost", "hang", "pfc_storm")
"""Kinds under which no step ends, as severe as they are in the gallery."""


def _no_step(board: str, panel: str) -> Gap:
    return Gap(
        board=board,
        panel=panel,
        where=lambda scene: scene.kind in STOPPED,
        sure=False,
        why="no step ends, and what is said per step has nothing to say",
    )


def _network(panel: str, legend: str = "") -> Gap:
    return Gap(
        board="network-and-collectives",
        panel=panel,
        legend=legend,
        where=_one_node,
        why="a job that never leaves its node has no network interfaces",
    )


def _queue(panel: str, legend: str = "") -> Gap:
    return Gap(
        board="input-and-storage",
        panel=panel,
        legend=legend,
        where=lambda scene: scene.preset == NODES,
        why="this preset loads in the training process: there is no queue",
    )


def _not_a_number(board: str, panel: str, legend: str = "") -> Gap:
    return Gap(
        board=board,
        panel=panel,
        legend=legend,
        where=lambda scene: scene.kind == "nan_loss",
        sure=False,
        why="a value that is not a number has no place on a scale; steps that were not finite are counted beside it",
    )


def _not_collected(panel: str, legend: str = "") -> Gap:
    return Gap(
        board="gpus",
        panel=panel,
        legend=legend,
        where=lambda scene: scene == DCGM,
        why="not in dcgm-exporter's default list of counters",
    )


GAPS = (
    _network("What communication costs", "Pause frames, worst node"),
    _network("What communication costs", "Retransmits, worst node"),
    _network("Sent by each node"),
    _network("Pause frames received per second"),
    _network("Packets sent again per second"),
    _network("Sent by each interface"),
    _network("Interfaces"),
    _queue("Is the job fed?", "Emptiest queue"),
    _queue("Fill of the loaders' queues"),
    _not_a_number("learning", "Loss"),
    _not_a_number("learning", "Gradient norm, before clipping"),
    _not_a_number("the-trap", "What the job gets", "Loss"),
    _not_a_number("the-trap", "Gradient norm, before clipping"),
    _not_collected("From resident to useful", "SM active"),
    _not_collected("From resident to useful", "SM occupancy"),
    _not_collected("GPUs held down, by reason"),
    _not_collected("Time held down, on the worst GPU"),
    _not_collected("Other arithmetic pipes"),
    Gap(
        board="the-trap",
        panel="What traditional alerts say",
        legend="{{alertname}}",
        where=lambda scene: _healthy(scene) and _one_node(scene),
        why="no alert is raised; the line above says so",
    ),
    Gap(
        board="the-trap",
        panel="What traditional alerts say",
        legend="{{alertname}}",
        where=lambda scene: scene.preset == NODES,
        sure=False,
        why="silent, but for a utilization that this preset has below 70 % even when healthy",
    ),
    Gap(
        board="the-trap",
        panel="What traditional alerts say",
        legend="{{alertname}}",
        where=lambda scene: _broken(scene) and _one_node(scene),
        sure=False,
        why="traditional alerts stay silent under most faults; the line above says so",
    ),
    Gap(
        board="the-trap",
        panel="What training alerts say",
        legend="{{alertname}}",
        where=_healthy,
        why="no alert is raised; the line above says so",
    ),
    Gap(
        board="the-trap",
        panel="What training alerts say",
        legend="{{alertname}}",
        where=_broken,
        sure=False,
        why="some alerts wait for a minute, and the null fault raises none",
    ),
    Gap(
        board="exporter-and-lab-health",
        panel="GPUs without readings",
        where=lambda scene: True,
        sure=False,
        why="every GPU gives readings, unless the fault takes one away",
    ),
    _no_step("input-and-storage", "Copy to the device, per step"),
    _no_step("learning", "What the hardware says meanwhile"),
    _no_step("ranks", "Work per step, rank by rank"),
    _no_step("ranks", "Ranks by slowness against the median of their peers"),
    _no_step("ranks", "Copy to the device, per step"),
    _no_step("step-anatomy", "One step in numbers"),
    _no_step("step-anatomy", "What a step is made of"),
    _no_step("step-anatomy", "Step time"),
    _no_step("step-anatomy", "MFU of the steps, and against wall clock"),
    _no_step("the-trap", "What the job gets"),
    _no_step("the-trap", "The trap: utilization and MFU on one axis"),
    _no_step("the-trap", "Step time"),
    _no_step("the-trap", "MFU of the steps, and against wall clock"),
    *(
        Gap(board="instructor", panel=panel, legend=legend, where=_healthy, why="no fault acts or has changed")
        for panel, legend in (
            ("Faults over time", "{{kind}}: {{name}} on {{target}}"),
            ("Acting now", ""),
            ("Changes of state", ""),
        )
    ),
)


def gap(scene: Scene, board: str, panel: str, legend: str) -> Gap | None:
    """Why this query may have nothing to show in a scene; None when it must show something."""
    found = [
        entry
        for entry in GAPS
        if (entry.board, entry.panel) == (board, panel) and entry.legend in ("", legend) and entry.where(scene)
    ]
    assert len(found) <= 1, f"listed twice: {board}: {panel}: {legend}"
    return found[0] if found else None
