from __future__ import annotations

import pytest

from faults.incident import NO_INCIDENTS
from faults.registry import kinds
from faults.scenario_files import scenarios
from simulator.presets import preset
from simulator.run import topology_of
from stepscope.exam.cures import ranks_hit
from stepscope.exam.marking import HEALTHY
from stepscope.exam.paper import Paper, Wish, drawn_paper, scenario_paper

LARGE = Wish("honest-64xh100")
ELSEWHERE = {"loss_scale_collapse": "fragile-4gpu", "nccl_algo": "llama3-405b-16k"}
"""Kinds that show nothing on 64 GPUs in bf16."""


def drawn(kind: str, seed: int = 5) -> Paper:
    wish = Wish(ELSEWHERE.get(kind, LARGE.preset), kinds=[kind], decoys=False)
    return drawn_paper(wish, incident_seed=seed, run_seed=2**62 + seed)


@pytest.mark.parametrize("kind", [name for name in kinds() if name not in NO_INCIDENTS])
def test_every_kind_makes_an_exam_with_an_answer_and_hints_that_do_not_name_it(kind: str) -> None:
    paper = drawn(kind)
    (truth,) = paper.truths
    assert truth.cause == kind
    assert truth.remedies
    assert len(paper.hints) == 3
    # That of a GPU which is gone is a word of the exporter's too.
    words = (truth.remedies - {"none"}) | ({kind} - {"gpu_lost"})
    assert not any(word in hint for hint in paper.hints for word in words)


@pytest.mark.parametrize(
    ("kind", "remedy"),
    [
        ("nccl_small_buffer", "NCCL_BUFFSIZE"),
        ("gdr_disabled", "NCCL_NET_GDR_LEVEL"),
        ("numa_misaffinity", "numa_pin"),
        ("pfc_storm", "pfc_headroom"),
        ("thermal_throttle", "clean_filters"),
        ("io_starvation", "cache_on_nvme"),
        ("dataloader_cpu", "num_workers"),
        ("straggler", "cordon_node"),
        ("gpu_lost", "cordon_node"),
        ("link_degraded", "replace_cable"),
        ("gradient_explosion", "clip_and_lower_lr"),
    ],
)
def test_what_the_matrix_advises_is_right_and_a_restart_that_changes_nothing_is_not(kind: str, remedy: str) -> None:
    (truth,) = drawn(kind).truths
    assert remedy in truth.remedies
    assert "restart_job" not in truth.remedies


def test_the_ranks_of_the_answer_are_those_that_the_run_will_hit() -> None:
    for seed in range(20):
        paper = drawn("power_cap", seed)
        (name, spec), (truth,) = *paper.faults.items(), paper.truths
        hit = ranks_hit(name, spec, topology_of(preset(paper.preset)), seed=paper.seed)
        assert truth.ranks == hit
        assert 1 <= len(hit) <= 3


def test_a_paper_is_a_function_of_its_seeds() -> None:
    assert drawn_paper(LARGE, incident_seed=1, run_seed=2) == drawn_paper(LARGE, incident_seed=1, run_seed=2)
    papers = {drawn_paper(LARGE, incident_seed=seed, run_seed=2).truths for seed in range(12)}
    assert len(papers) > 6


def test_nothing_may_be_wrong_and_then_only_decoys_are_there() -> None:
    paper = drawn_paper(Wish("honest-64xh100", causes=0), incident_seed=3, run_seed=4)
    assert [truth.cause for truth in paper.truths] == [HEALTHY]
    assert all(name.startswith("decoy-") for name in paper.faults)


def test_too_few_kinds_are_refused() -> None:
    with pytest.raises(ValueError, match="kinds"):
        drawn_paper(Wish("workshop-4gpu", kinds=["network_tail_latency"]), incident_seed=1, run_seed=1)


@pytest.mark.parametrize("name", list(scenarios()))
def test_every_scenario_makes_an_exam_that_does_not_say_which_it_is(name: str) -> None:
    scenario = scenarios()[name]
    paper = scenario_paper(scenario, run_seed=2**40)
    assert [truth.cause for truth in paper.truths] == [answer.cause for answer in scenario.answers]
    for truth, answer in zip(paper.truths, scenario.answers, strict=True):
        assert (truth.ranks is None) == (answer.rank is None)
        assert answer.rank is None or answer.rank in (truth.ranks or ())
    assert not any(name in fault for fault in paper.faults)
    assert paper.seed == 2**40 != scenario.seed
