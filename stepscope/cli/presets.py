"""`stepscope presets`: the jobs that can be run."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from stepscope.cli.output import print_json, table
from stepscope.cli.parser import Commands, add_json, command

if TYPE_CHECKING:
    from simulator.job import JobSpec


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(
        commands, "presets", run, summary="list the jobs that lab and simulate can run",
        epilog="run one: stepscope lab --preset trap-87",
    )  # fmt: skip
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print them."""
    from simulator.presets import PRESETS

    if args.json:
        print_json({"presets": [_described(spec) for spec in PRESETS.values()]})
        return 0
    rows = [
        (spec.preset, f"{spec.cluster.nodes} × {spec.cluster.gpus_per_node}", spec.model.name, spec.title)
        for spec in PRESETS.values()
    ]
    print(table(("preset", "nodes × GPUs", "model", "what it is"), rows))
    return 0


def _described(spec: JobSpec) -> dict[str, object]:
    return {
        "preset": spec.preset,
        "summary": spec.title,
        "model": spec.model.name,
        "parameters": spec.model.parameters,
        "gpu_model": spec.cluster.gpu.product,
        "nodes": spec.cluster.nodes,
        "gpus_per_node": spec.cluster.gpus_per_node,
        "ranks": spec.ranks,
        "strategy": spec.training.strategy,
        "precision": spec.training.precision,
        "warnings": list(spec.notes),
    }
