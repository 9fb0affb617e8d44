from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.errors import FaultError
from faults.parse import parse_fault
from faults.registry import kinds
from faults.spec import FaultSpec
from faults.target import Target
from tests.faults.conftest import AddKind
from tests.faults.strategies import check_report, relaxed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("none", {}),
        ("none:", {}),
        ("straggler:ranks=2", {"target": Target("ranks", (2,))}),
        ("straggler:ranks=5+2,slowdown=2", {"target": Target("ranks", (2, 5)), "params": {"slowdown": 2.0}}),
        ("straggler:nodes=0+1", {"target": Target("nodes", (0, 1))}),
        ("straggler:count=3", {"target": Target("count", 3)}),
        ("straggler:percent=12.5", {"target": Target("percent", 12.5)}),
        ("straggler:target=all", {"target": Target("all")}),
        ("straggler:target=one", {"target": Target("one")}),
        ("straggler:intensity=mild", {"intensity": 0.25}),
        ("straggler:intensity=moderate", {"intensity": 0.5}),
        ("straggler:intensity=severe", {"intensity": 1.0}),
        ("straggler:intensity=.3", {"intensity": 0.3}),
        (" straggler : seed = 7 ", {"seed": 7}),
        ("io_starvation:mode=node", {"params": {"mode": "node", "lateness_steps": 0.5}}),
        ("gradient_explosion:growth_steps=6", {"params": {"peak_factor": 3000.0, "growth_steps": 6}}),
        (
            "none:start_after_seconds=5,ramp_up_seconds=1e1,ramp_down_seconds=2,shape=linear",
            {"start_after_seconds": 5.0, "ramp_up_seconds": 10.0, "ramp_down_seconds": 2.0},
        ),
        ("none:shape=flap,period_seconds=8,duty=.25", {"shape": "flap", "period_seconds": 8.0, "duty": 0.25}),
        ("none:shape=exponential", {"shape": "exponential"}),
    ],
)
def test_parsed(text: str, expected: dict[str, Any]) -> None:
    spec = parse_fault(text)
    defaults: dict[str, Any] = {"params": kinds()[spec.kind].default_params(), "open_ended": True}
    assert spec == FaultSpec(spec.kind, **(defaults | expected))
    assert spec.kind == text.split(":")[0].strip()


def test_a_duration_ends_it() -> None:
    spec = parse_fault("none:duration_seconds=30")
    assert (spec.duration_seconds, spec.open_ended) == (30.0, False)


def test_parameters_of_every_type(add_kind: AddKind) -> None:
    add_kind("fake")
    spec = parse_fault("fake:strength=3,on=false,label=a=b")
    assert dict(spec.params) == {"strength": 3, "on": False, "label": "a=b"}
    with pytest.raises(FaultError, match=r"^on: must be true or false, not 'no'$"):
        parse_fault("fake:on=no")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "kind: must be one of "),
        ("stragler:ranks=2", "not 'stragler'"),
        (
            "straggler:slow=2",
            "slow: is not a key of straggler (did you mean slowdown?); valid keys: slowdown, ranks, nodes, count, ",
        ),
        ("straggler:mode=tail", "mode: is not a key of straggler"),
        ("straggler:note=x", "note: is not a key of straggler"),
        ("straggler:slowdown", "'slowdown' is not key=value; keys of straggler: slowdown, "),
        ("straggler:slowdown=2,", "'' is not key=value"),
        ("straggler:slowdown=2,slowdown=3", "slowdown: is given twice"),
        ("straggler:slowdown=9", "slowdown: must be a number from 1.05 to 4, not 9"),
        ("straggler:slowdown=fast", "slowdown: must be a number from 1.05 to 4, not 'fast'"),
        ("straggler:slowdown=", "slowdown: must be a number from 1.05 to 4, not ''"),
        ("straggler:slowdown=nan", "slowdown: must be a number from 1.05 to 4, not nan"),
        ("straggler:slowdown=1_5", "not '1_5'"),
        ("io_starvation:mode=all", "mode: must be one of tail, node, uniform, not 'all'"),
        ("straggler:ranks=a", "ranks: must be an integer of at least 0, not 'a'"),
        ("straggler:ranks=1+", "ranks: must be an integer of at least 0, not ''"),
        ("straggler:ranks=1+1", "ranks: must name none of the ranks twice"),
        ("straggler:nodes=-1", "nodes: must be an integer of at least 0, not -1"),
        ("straggler:count=0", "count: must be an integer of at least 1, not 0"),
        ("straggler:percent=101", "percent: must be a number above 0 and up to 100, not 101"),
        ("straggler:target=half", "target: must be all or one, not 'half'; or use one of ranks, nodes, count, percent"),
        ("straggler:ranks=1,target=all", "ranks: must be the only one of ranks, nodes, count, percent, target"),
        ("straggler:intensity=2", "intensity: must be mild, moderate, severe or a number above 0 and up to 1, not 2"),
        ("straggler:intensity=bad", "intensity: must be mild, moderate, severe or a number above 0 and up to 1"),
        ("straggler:seed=1.5", "seed: must be an integer from 0 to 4294967295, not '1.5'"),
        (f"straggler:seed={'9' * 5000}", "seed: must be an integer from 0 to 4294967295"),
        ("none:duration_seconds=0", "duration_seconds: must be a number above 0 and up to 86400, not 0"),
        ("none:shape=step,ramp_up_seconds=3", "ramp_up_seconds: must be 0 or left out when shape is step"),
        (
            "none:period_seconds=3",
            "period_seconds: must be left out when shape is linear; it goes with shape sine, flap",
        ),
        ("gradient_explosion:ranks=1", "ranks: must be all, which is all that gradient_explosion takes"),
        ("straggler:slowdown=9,intensity=0", "intensity: must be mild, moderate, severe or a number above 0"),
    ],
)
def test_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(FaultError) as caught:
        parse_fault(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@relaxed
@given(
    st.text(st.characters())
    | st.from_regex(r"(straggler|io_starvation|none):([a-z_]{1,9}=[0-9a-z+.\-]{0,6},?){0,4}", fullmatch=True)
)
def test_any_text_is_a_fault_or_a_fault_error(text: str) -> None:
    try:
        parse_fault(text)
    except FaultError as error:
        check_report(error)


@pytest.mark.parametrize(
    ("typed", "meant"), [("rank", "ranks"), ("duration", "duration_seconds"), ("slow", "slowdown")]
)
def test_a_key_that_is_nearly_right_is_answered_with_the_right_one(typed: str, meant: str) -> None:
    with pytest.raises(FaultError, match=f"did you mean {meant}\\?"):
        parse_fault(f"straggler:{typed}=2")
