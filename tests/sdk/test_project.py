"""Which containers are the project's."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from requests.exceptions import ReadTimeout

from stepscope.stack.errors import StackError
from stepscope.stack.project import DEFAULT_NAME, OPT_IN, Project, project_name, service_of
from tests.sdk.fake import PROJECT, FakeEngine, stack

ROOT = Path(__file__).parents[2]


def test_name_and_label_are_those_of_the_compose_file() -> None:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    assert compose["name"] == DEFAULT_NAME
    assert OPT_IN in compose["services"]["simulator"]["labels"]


@pytest.mark.parametrize(
    ("option", "environ", "expected"),
    [
        (None, {}, "stepscope"),
        (None, {"COMPOSE_PROJECT_NAME": ""}, "stepscope"),
        (None, {"COMPOSE_PROJECT_NAME": "room"}, "room"),
        ("mine", {"COMPOSE_PROJECT_NAME": "room"}, "mine"),
    ],
)
def test_option_over_environment_over_default(option: str | None, environ: dict[str, str], expected: str) -> None:
    assert project_name(option, environ) == expected


def test_the_engine_is_asked_for_this_project_alone() -> None:
    engine = stack()
    services = [service_of(container) for container in Project(engine, PROJECT).containers()]
    assert services == ["grafana", "prometheus", "simulator"]
    assert engine.asked == [{"label": [f"com.docker.compose.project={PROJECT}"]}]


def test_what_compose_run_left_is_no_service() -> None:
    engine = stack()
    engine.add("simulator", id="one-off", more_labels={"com.docker.compose.oneoff": "True"})
    assert "simulator" not in [service_of(container) for container in Project(engine, PROJECT).containers()]


def test_no_containers_is_one_line_that_says_how_to_start_them() -> None:
    with pytest.raises(StackError, match=r"^project 'stepscope' has no containers on this engine: docker compose up"):
        Project(FakeEngine(), PROJECT).containers()


def test_none_that_opted_in() -> None:
    engine = FakeEngine()
    engine.add("simulator", opted_in=False)
    with pytest.raises(StackError, match=r"those that may be broken: none$"):
        Project(engine, PROJECT).breakable("simulator")


def test_an_engine_that_goes_away_is_one_line() -> None:
    engine = stack()
    engine.fails = ReadTimeout("read timed out")
    with pytest.raises(StackError, match=r"^the Docker engine does not answer: read timed out$"):
        Project(engine, PROJECT).containers()
