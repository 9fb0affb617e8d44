"""`stepscope fault …` against a lab that runs."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from faults import registry
from faults.life import State
from faults.spec import SHAPES
from stepscope.cli import fault, fault_options, fault_view
from tests.cli.conftest import Command

KINDS = tuple(registry.kinds())


def answered(lab: Command, *words: str) -> Any:
    status, out, err = lab("fault", *words, "--json")
    assert (status, err) == (0, "")
    return json.loads(out)


def test_kinds(lab: Command) -> None:
    out = lab("fault", "kinds").out
    assert [name for name in KINDS if name not in out] == []
    assert "stepscope fault add" in out
    names = [kind["kind"] for kind in answered(lab, "kinds")["kinds"]]
    assert tuple(names) == KINDS


def test_one_kind(lab: Command) -> None:
    out = lab("fault", "kinds", "io_starvation").out
    assert "tail, node, uniform" in out
    assert "0.01 to 5 healthy steps" in out
    assert answered(lab, "kinds", "straggler")["params"]["properties"]["slowdown"]["maximum"] == 4.0


def test_unknown_kind(lab: Command) -> None:
    assert lab("fault", "kinds", "stragler") == (
        2, "",
        f"stepscope fault kinds: KIND: 'stragler' is not one of {', '.join(KINDS)}\n",
    )  # fmt: skip


def test_the_life_of_a_fault(lab: Command) -> None:
    added = lab("fault", "add", "slow", "straggler", "--rank", "2", "--param", "slowdown=1.8")
    assert added.status == 0
    assert added.out.startswith("slow: straggler on rank 2 at intensity 1, active, felt from step ")
    assert (
        "it stays until you clear it; watch it: stepscope fault show slow; end it: stepscope fault clear" in added.out
    )
    assert "slow  straggler  active" in lab("fault", "list").out
    shown = lab("fault", "show", "slow").out
    assert "parameter slowdown   1.8" in shown
    assert lab("fault", "clear", "slow").out.startswith("slow: straggler on rank 2 at intensity 1, cleared")
    assert lab("fault", "clear", "slow").status == 0


def test_every_option_arrives(lab: Command) -> None:
    fault = answered(
        lab, "add", "all", "io_starvation", "--percent", "50", "--param", "mode=uniform", "--param", "lateness_steps=2",
        "--intensity", "moderate", "--duration", "60", "--start-after", "30", "--ramp-up", "5", "--ramp-down", "6",
        "--shape", "linear", "--seed", "9", "--note", "für später",
    )  # fmt: skip
    expected = {
        "kind": "io_starvation", "params": {"mode": "uniform", "lateness_steps": 2.0}, "intensity": 0.5,
        "target": {"mode": "percent", "value": 50.0}, "start_after_seconds": 30.0, "duration_seconds": 60.0,
        "open_ended": False, "ramp_up_seconds": 5.0, "ramp_down_seconds": 6.0, "shape": "linear", "seed": 9,
        "note": "für später", "state": "pending",
    }  # fmt: skip
    assert expected.items() <= fault.items()
    assert "it ends by itself at" in lab("fault", "add", "all2", "none", "--duration", "60").out


@pytest.mark.parametrize(
    ("words", "target"),
    [
        (("--rank", "2", "--rank", "0", "--rank", "2"), {"mode": "ranks", "value": [0, 2]}),
        (("--node", "0"), {"mode": "nodes", "value": [0]}),
        (("--count", "3"), {"mode": "count", "value": 3}),
        (("--one",), {"mode": "one", "value": None}),
        (("--all",), {"mode": "all", "value": None}),
        ((), {"mode": "one", "value": None}),
    ],
)
def test_whom_it_hits(lab: Command, words: tuple[str, ...], target: dict[str, object]) -> None:
    assert answered(lab, "add", "who", "straggler", *words)["target"] == target


def test_the_compact_form(lab: Command) -> None:
    fault = answered(lab, "add", "slow", "straggler:ranks=2+3,slowdown=1.7,intensity=mild", "--intensity", "0.5")
    assert fault["params"] == {"slowdown": 1.7}
    assert fault["resolved_targets"] == [2, 3]
    assert (fault["intensity"], fault["open_ended"]) == (0.5, True)
    fault = answered(lab, "add", "slow", "straggler:ranks=2,slowdown=1.7", "--duration", "9", "--param", "slowdown=2")
    assert (fault["duration_seconds"], fault["open_ended"], fault["params"]) == (9.0, False, {"slowdown": 2.0})


def test_dry_run(lab: Command) -> None:
    answer = answered(lab, "add", "maybe", "straggler", "--rank", "2", "--dry-run")
    assert answer["predicted"]["mfu"]["after"] < answer["predicted"]["mfu"]["before"]
    stopped = lab("fault", "add", "maybe", "hang", "--dry-run").out
    assert "no step ends any more" in stopped
    out = lab("fault", "add", "maybe", "straggler", "--rank", "2", "--dry-run").out
    assert "no step ends any more" not in out
    assert "nothing was applied (dry run)" in out
    assert "GPU utilization" in out
    assert lab("fault", "show", "maybe").status == 2


def test_a_fault_that_fades(lab: Command) -> None:
    lab("fault", "add", "slow", "straggler", "--ramp-down", "600")
    status, out, _ = lab("fault", "clear", "slow")
    assert status == 0
    assert "recovering" in out
    assert "it fades over 600 s; at once: stepscope fault clear slow --immediate" in out
    assert answered(lab, "clear", "slow", "--immediate")["state"] == "cleared"


def test_listing_a_part(lab: Command) -> None:
    lab("fault", "add", "on-one", "straggler", "--rank", "1")
    lab("fault", "add", "quiet", "none", "--start-after", "600")
    assert [fault["name"] for fault in answered(lab, "list", "--state", "pending")["faults"]] == ["quiet"]
    assert [fault["name"] for fault in answered(lab, "list", "--kind", "none", "--state", "active")["faults"]] == []
    found = answered(lab, "list", "--kind", "straggler", "--rank", "1", "--state", "active")["faults"]
    assert [fault["name"] for fault in found] == ["on-one"]
    assert lab("fault", "list", "--state", "expired").out == "no fault of these\n"


def test_shapes_that_come_and_go(lab: Command) -> None:
    fault = answered(lab, "add", "link", "straggler", "--shape", "flap", "--period", "30", "--duty", "0.3")
    assert (fault["shape"], fault["period_seconds"], fault["duty"]) == ("flap", 30.0, 0.3)
    assert answered(lab, "add", "link", "straggler", "--shape", "sine")["period_seconds"] == 60.0


def test_a_fault_is_changed(lab: Command) -> None:
    lab("fault", "add", "slow", "straggler", "--rank", "2")
    status, out, err = lab("fault", "change", "slow", "--intensity", "moderate")
    assert (status, err) == (0, "")
    assert out.startswith("slow: straggler on rank 2 at intensity 0.5, active")
    assert out.endswith("\nit has no end of its own now\n")
    assert "it ends by itself at" in lab("fault", "change", "slow", "--duration", "300").out
    assert ", paused\n" in lab("fault", "change", "slow", "--pause").out
    assert answered(lab, "change", "slow", "--resume", "--open-ended")["paused"] is False
    lab("fault", "clear", "slow")
    status, _, err = lab("fault", "change", "slow", "--pause")
    assert status == 2
    assert "NAME: is cleared; only a pending, ramping, active fault can be changed" in err


def test_ranks_of_a_large_job_are_counted() -> None:
    fault = {
        "name": "slow", "kind": "straggler", "intensity": 1.0, "state": "active", "resolved_targets": [*range(1_024)],
        "resolved_count": 131_072,
    }  # fmt: skip
    line = fault_view.fault_line(fault)
    assert line.startswith("slow: straggler on ranks 0, 1, 2, 3, 4, 5, 6, 7 and 131,064 more at intensity 1")


def test_repeated_constants_agree() -> None:
    assert get_args(State) == fault._STATES
    assert fault_options.SHAPES == SHAPES


def test_reset(lab: Command) -> None:
    lab("fault", "add", "bad", "gradient_explosion")
    assert lab("fault", "reset").out.startswith(
        "every fault is cleared, and the model back at its last good checkpoint"
    )
    assert answered(lab, "show", "bad")["state"] == "cleared"
    assert answered(lab, "reset")["effective_from_step"] > 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("add", "x", "stragler"), f"KIND: must be one of {', '.join(KINDS)}"),
        (("add", "X", "straggler"), "NAME: 'X' is not a name: 1 to 64 of a-z 0-9"),
        (("add", "", "straggler"), "NAME: '' is not a name"),
        (("add", "../x", "straggler"), "NAME: '../x' is not a name"),
        (("add", "x", "straggler", "--rank", "9"), "--rank: ranks of this job go from 0 to 3"),
        (("add", "x", "straggler", "--rank", "two"), "--rank: 'two' is not a whole number"),
        (("add", "x", "straggler", "--rank", "1", "--count", "2"), "--count: not allowed with argument --rank"),
        (("add", "x", "straggler", "--count", "9"), "--count: must be at most 4"),
        (("add", "x", "straggler", "--percent", "0"), "--percent: must be a number above 0 and up to 100"),
        (("add", "x", "straggler", "--param", "slowdown"), "--param: 'slowdown' is not KEY=VALUE"),
        (("add", "x", "straggler", "--param", "speed=2"), "--param speed: is not a key"),
        (("add", "x", "straggler", "--param", "slowdown=fast"), "--param slowdown: must be a number from 1.05 to 4"),
        (("add", "x", "straggler", "--param", "slowdown=1e999"), "--param slowdown: must be a number from 1.05 to 4"),
        (("add", "x", "straggler", "--param", "slowdown=" + "[" * 10_000), "--param slowdown: must be a number"),
        (("add", "x", "io_starvation", "--param", "mode=all"), "--param mode: must be one of tail, node, uniform"),
        (
            ("add", "x", "straggler", "--intensity", "wild"),
            "--intensity: 'wild' is not mild, moderate, severe, or a number",
        ),
        (("add", "x", "straggler", "--intensity", "2"), "--intensity: must be a number above 0 and up to 1"),
        (("add", "x", "straggler", "--duration", "nan"), "--duration: 'nan' is not a number"),
        (("add", "x", "straggler", "--duration", "0"), "--duration: must be a number above 0 and up to 86400"),
        (("add", "x", "straggler", "--shape", "step", "--ramp-up", "3"), "--ramp-up: must be 0 or left out"),
        (("add", "x", "gradient_explosion", "--rank", "1"), "target, here --rank: must be all"),
        (
            ("add", "x", "straggler:slowdown=9"),
            "KIND 'straggler:slowdown=9': slowdown: must be a number from 1.05 to 4",
        ),
        (("list", "--state", "broken"), "--state: 'broken' is not one of pending, ramping, active"),
        (
            ("add", "x", "none", "--shape", "wave"),
            "--shape: 'wave' is not one of linear, exponential, step, sine, flap",
        ),
        (("add", "x", "none", "--shape", "sine", "--duty", "0.5"), "--duty: must be left out"),
        (("add", "x", "none", "--shape", "flap", "--period", "1"), "--period: must be a number from 2 to 3600"),
        (("change", "x"), "give what to change: --intensity, --duration, --open-ended, --pause or --resume"),
        (("change", "x", "--intensity", "wild"), "--intensity: 'wild' is not mild, moderate, severe"),
        (("change", "x", "--pause", "--resume"), "--resume: not allowed with argument --pause"),
        (("change", "never-seen", "--pause"), "NAME: 'never-seen' is not a fault of this run; it has"),
        (("list", "--kind", "stragler"), "--kind: must be one of "),
        (("show", "never-seen"), "NAME: 'never-seen' is not a fault of this run; it has"),
        (("clear", "never-seen"), "NAME: 'never-seen' is not a fault of this run; it has"),
    ],
)
def test_wrong_input(lab: Command, words: tuple[str, ...], said: str) -> None:
    status, out, err = lab("fault", *words)
    assert (status, out) == (2, "")
    assert said in err
    assert err.startswith(f"stepscope fault {words[0]}: ")
    assert err.count("\n") == 1
