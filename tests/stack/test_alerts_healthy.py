"""The shipped rules over simulated jobs that are well: what looks odd and is not, and every preset."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rulebook.profile import PRODUCTION
from simulator.headless import start
from simulator.job import JobSpec
from simulator.presets import PRESETS, preset
from tests.prometheus.expectations import BUILT_SO
from tests.prometheus.promtool import ask, fired
from tests.prometheus.simulated import scraped

pytestmark = pytest.mark.stack

SEED = 7
SMALL = 64
"""Most ranks of a job that is run whole: the time that promtool takes grows with them."""


def one_copy(spec: JobSpec) -> JobSpec:
    """A large job on as many nodes as one copy of its model takes: the same step, without its replicas."""
    return replace(spec, cluster=replace(spec.cluster, nodes=spec.model_ranks // spec.cluster.gpus_per_node))


@pytest.mark.parametrize("name", [name for name, spec in PRESETS.items() if spec.ranks <= SMALL])
def test_a_healthy_job_fires_nothing(name: str, tmp_path: Path) -> None:
    stored = scraped(start(preset(name), seed=SEED), seconds=121)
    assert not (problems := ask(stored, [fired(BUILT_SO.get(name, ()), until=120)], folder=tmp_path)), problems


def test_steps_longer_than_the_scrape_interval_fire_nothing(tmp_path: Path) -> None:
    """Steps, tokens and FLOPs move once in 6.7 s, and a seventh of the time is pipeline bubble."""
    stored = scraped(start(one_copy(preset("llama3-405b-16k")), seed=SEED), seconds=121)
    assert not (problems := ask(stored, [fired((), until=120)], folder=tmp_path)), problems


def test_checkpoints_gradient_spikes_and_a_quarter_of_an_hour_fire_nothing(tmp_path: Path) -> None:
    stored = scraped(start(preset("workshop-4gpu"), seed=SEED), seconds=901)
    assert not (problems := ask(stored, [fired((), until=900)], folder=tmp_path)), problems


@pytest.mark.parametrize("seed", [1, 2])
def test_stalls_and_long_checkpoints_fire_nothing(seed: int, tmp_path: Path) -> None:
    """A job on four GPUs with the steps, checkpoints and stalls of one on 64, more often than that one has them."""
    small, large = preset("workshop-4gpu"), preset("honest-64xh100")
    spec = replace(
        small,
        training=replace(small.training, gradient_accumulation=17, checkpoint_every_steps=60, checkpoint_seconds=8.0),
        noise=replace(large.noise, stall_rate=1 / 80),
    )
    stored = scraped(start(spec, seed=seed), seconds=901)
    assert not (problems := ask(stored, [fired((), until=900)], folder=tmp_path)), problems


def test_a_checkpoint_of_a_job_that_waits_in_the_open_fires_nothing(tmp_path: Path) -> None:
    """While it is written, the job waits for neither data nor network, and afterwards as long as ever."""
    spec = preset("anatomy-32gpu")
    spec = replace(spec, training=replace(spec.training, checkpoint_every_steps=2400, checkpoint_seconds=20.0))
    stored = scraped(start(spec, seed=SEED), seconds=216)
    assert not (problems := ask(stored, [fired((), until=215)], folder=tmp_path)), problems


def test_a_new_job_in_place_of_another_fires_nothing(tmp_path: Path) -> None:
    """From 4 GPUs to 32 of another model and back; runs end while their series are still within every range."""
    stored = scraped(start(preset("workshop-4gpu"), seed=SEED, run="first"), seconds=90)
    stored = scraped(start(preset("anatomy-32gpu"), seed=SEED, run="second"), seconds=60, after=stored)
    stored = scraped(start(preset("workshop-4gpu"), seed=SEED, run="third"), seconds=91, after=stored)
    assert not (problems := ask(stored, [fired((), until=240)], folder=tmp_path)), problems


def test_a_restart_under_the_same_name_fires_nothing(tmp_path: Path) -> None:
    """Every counter begins again at 0."""
    stored = scraped(start(preset("workshop-4gpu"), seed=SEED), seconds=120)
    stored = scraped(start(preset("workshop-4gpu"), seed=SEED), seconds=121, after=stored)
    assert not (problems := ask(stored, [fired((), until=240)], folder=tmp_path)), problems


def test_production_times_fire_nothing_either(tmp_path: Path) -> None:
    stored = scraped(start(preset("honest-64xh100"), seed=SEED), seconds=241, profile=PRODUCTION)
    questions = [fired((), until=240)]
    assert not (problems := ask(stored, questions, folder=tmp_path, profile=PRODUCTION)), problems
