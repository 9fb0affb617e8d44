"""What the boards are shown: healthy labs, a lab under each kind of fault, a real exporter's page, a large job.

All of them under one Prometheus with the shipped rules, and the truth of the labs under another. The broken labs name
the same GPUs, so every join of the boards meets several runs on one GPU.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from faults.kind import Kind
from faults.registry import kinds
from simulator.presets import preset
from simulator.run import topology_of
from tests.prometheus.expectations import EXPECTED
from tests.stack import large_job
from tests.stack.pages import job, serving
from tests.stack.real import ROOT, eventually
from tests.stack.servers import Lab, Prometheus, running_lab, running_prometheus, shipped_config

TOKEN = "gallery-token"
DCGM_HOST = "gpu-host-7"
DCGM_PAGE = Path(__file__).parent / "data" / "dcgm_exporter.prom"
ONE_NODE, NODES, IN_FP16 = "workshop-4gpu", "anatomy-32gpu", "fragile-4gpu"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One lab, and what is wrong with it. Its name is its job's, its run's, and the beginning of its nodes'."""

    name: str
    preset: str
    kind: str = ""
    """Kind of the fault that acts; empty for a healthy lab."""


HEALTHY = (Scene(name="healthy", preset=ONE_NODE), Scene(name="healthy-nodes", preset=NODES))


def _shown_on(kind: Kind) -> str:
    """The first preset that has what a kind needs, and is not gone with its only node."""
    names = (NODES,) if kind.name == "node_unreachable" else (ONE_NODE, NODES, IN_FP16)
    return next(name for name in names if not kind.unmet_needs(topology_of(preset(name))))


BROKEN = tuple(Scene(name=name.replace("_", "-"), preset=_shown_on(kind), kind=name) for name, kind in kinds().items())
SCENES = HEALTHY + BROKEN


@dataclass(frozen=True, slots=True)
class Gallery:
    """The servers, when every scene has something to show."""

    labs: Mapping[str, Lab]
    """By the name of the scene."""
    prometheus: Prometheus
    answers: Prometheus
    healthy_at: float
    """Unix time before any fault acted."""


@contextmanager
def gallery(folder: Path) -> Iterator[Gallery]:
    """Starts everything, breaks what is to be broken, and waits until each scene can be seen."""
    with ExitStack() as running:
        environment = running.enter_context(pytest.MonkeyPatch.context())
        environment.setenv("STEPSCOPE_TOKEN", TOKEN)
        labs = {
            scene.name: running.enter_context(
                running_lab(folder / f"{scene.name}.log", "--preset", scene.preset, "--seed", str(seed))
            )
            for seed, scene in enumerate(SCENES)
        }
        pages = {"/dcgm": DCGM_PAGE.read_text, "/large": large_job.LargeJob().page}
        address = running.enter_context(serving(pages))
        prometheus = running.enter_context(running_prometheus(folder / "lab", _config(labs, address)))
        answers = running.enter_context(running_prometheus(folder / "answers", _answers(labs, folder)))
        eventually("every scene is recorded", partial(_recorded, prometheus), within=90)
        eventually("the answers are there", partial(_known, answers), within=30)
        healthy_at = time.time()
        for scene in BROKEN:
            labs[scene.name].put_fault(scene.kind, kind=scene.kind, open_ended=True)
        eventually("every fault has acted for a while", partial(_acted, answers), within=120)
        yield Gallery(labs, prometheus, answers, healthy_at)


def _config(labs: Mapping[str, Lab], pages: str) -> dict[str, Any]:
    config = shipped_config(**labs)
    own = {scene.name for scene in HEALTHY}
    own |= {scene.name for scene in BROKEN if any(case.traditional for case in EXPECTED.get(scene.kind, ()))}
    for scrape in config["scrape_configs"]:
        name = scrape["job_name"]
        # What an alert says of a GPU holds for every run that names it, so the GPUs of the healthy have other names, as
        # have those of which a device alert may say something.
        prefixed = ("Hostname", "UUID") if name in own else ("Hostname",)
        scrape["metric_relabel_configs"] = [
            {"source_labels": ["run"], "regex": ".+", "target_label": "run", "replacement": name},
            *(
                {"source_labels": [label], "regex": "(.+)", "target_label": label, "replacement": f"{name}-$1"}
                for label in prefixed
            ),
        ]
    config["scrape_configs"] += [job("dcgm-exporter", pages, "/dcgm"), job("large", pages, "/large")]
    return config


def _answers(labs: Mapping[str, Lab], folder: Path) -> dict[str, Any]:
    """prometheus/answers.yml with these labs and a token file as the containers have one."""
    config: dict[str, Any] = yaml.safe_load((ROOT / "prometheus" / "answers.yml").read_text())
    (truth,) = config["scrape_configs"]
    token = folder / "token"
    token.write_text(TOKEN)
    truth["authorization"]["credentials_file"] = str(token)
    truth["static_configs"] = [{"targets": [lab.address for lab in labs.values()]}]
    return config


def _recorded(prometheus: Prometheus) -> bool | None:
    runs = {scene.name for scene in SCENES} | {large_job.RUN}
    found = prometheus.api("label/run/values", **{"match[]": "rank:training_collective_excess:ratio_rate1m"})
    return runs <= set(found) or None


def _known(answers: Prometheus) -> bool | None:
    return answers.value("count(lab_run_info)") == len(SCENES) or None


def _acted(answers: Prometheus) -> bool | None:
    """Whether each fault was seen acting in at least six scrapes: half a minute, or more than one range of a panel."""
    seen = answers.vector("max by (kind) (count_over_time(lab_fault_active[5m]))")
    counts = {dict(labels)["kind"]: count for labels, count in seen.items()}
    return all(counts.get(scene.kind, 0) >= 6 for scene in BROKEN) or None
