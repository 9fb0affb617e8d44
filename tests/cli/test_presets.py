"""`stepscope presets`."""

from __future__ import annotations

import json

from simulator.presets import PRESETS
from tests.cli.conftest import Command


def test_for_people(stepscope: Command) -> None:
    status, out, err = stepscope("presets")
    assert (status, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == ["preset", *PRESETS]


def test_for_programs(stepscope: Command) -> None:
    found = json.loads(stepscope("presets", "--json").out)["presets"]
    assert [preset["preset"] for preset in found] == list(PRESETS)
    assert all(preset["nodes"] * preset["gpus_per_node"] == preset["ranks"] for preset in found)
    assert all(preset["summary"] and preset["model"] and preset["gpu_model"] for preset in found)
