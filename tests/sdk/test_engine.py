"""Which engine is asked: the one that Docker's command line would ask."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from docker.errors import DockerException

from stepscope.stack.engine import Endpoint, connect, engine_id, find_endpoint
from stepscope.stack.errors import StackError, StackInputError, reason
from tests.sdk.fake import ENGINE, FakeEngine, stack

# Nobody listens at the discard port. Not a socket file: the SDK leaves one that cannot be opened to the collector.
HOSTS = {"colima": "tcp://127.0.0.1:9", "far": "ssh://somebody@far.example"}
COLIMA, FAR = (Endpoint(name, host) for name, host in HOSTS.items())


@pytest.fixture
def contexts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Docker configuration with two contexts, none in use."""
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    for name in ("DOCKER_HOST", "DOCKER_CONTEXT"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "config.json").write_text("{}")
    for name in HOSTS:
        meta = tmp_path / "contexts" / "meta" / hashlib.sha256(name.encode()).hexdigest()
        meta.mkdir(parents=True)
        endpoint = {"Host": HOSTS[name], "SkipTLSVerify": True}
        content = {"Name": name, "Metadata": {}, "Endpoints": {"docker": endpoint}}
        (meta / "meta.json").write_text(json.dumps(content))
    return tmp_path


@pytest.mark.parametrize(
    ("option", "environ", "in_use", "expected"),
    [
        (None, {}, "", None),
        (None, {}, "far", FAR),
        (None, {"DOCKER_CONTEXT": "colima"}, "far", COLIMA),
        (None, {"DOCKER_CONTEXT": "default"}, "far", None),
        (None, {"DOCKER_HOST": "tcp://10.0.0.1:2375", "DOCKER_CONTEXT": "colima"}, "far",
         Endpoint("DOCKER_HOST", "tcp://10.0.0.1:2375")),
        ("far", {"DOCKER_HOST": "tcp://10.0.0.1:2375", "DOCKER_CONTEXT": "colima"}, "", FAR),
    ],
)  # fmt: skip
def test_option_over_host_over_context_over_the_one_in_use(
    contexts: Path, option: str | None, environ: dict[str, str], in_use: str, expected: Endpoint | None
) -> None:
    if in_use:
        (contexts / "config.json").write_text(json.dumps({"currentContext": in_use}))
    found = find_endpoint(option, environ)
    assert found == expected or (expected is None and found.source == "default")


# The SDK leaves the files of its contexts to the collector.
@pytest.mark.filterwarnings("ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    ("option", "environ", "key"), [("nope", {}, "--context"), (None, {"DOCKER_CONTEXT": "nope"}, "DOCKER_CONTEXT")]
)
def test_a_context_that_does_not_exist_lists_those_that_do(
    contexts: Path, option: str | None, environ: dict[str, str], key: str
) -> None:
    """The SDK would fall back to the default socket, and break containers on another engine than was meant."""
    with pytest.raises(StackInputError, match=rf"^{key}: there is no context 'nope'; there are: ") as caught:
        connect(option, environ)
    assert {"default", "colima", "far"} <= set(str(caught.value).rpartition(": ")[2].split(", "))


@pytest.mark.parametrize(
    ("option", "environ", "where"),
    [("colima", {}, COLIMA.url), (None, {"DOCKER_HOST": "tcp://localhost:9"}, "tcp://localhost:9")],
)
def test_no_engine_is_one_line_with_its_address_and_the_reason(
    contexts: Path, option: str | None, environ: dict[str, str], where: str
) -> None:
    with pytest.raises(StackError) as caught:
        connect(option, environ)
    assert str(caught.value).startswith(f"no Docker engine answers at {where} (connection refused);")


def test_an_address_that_is_none(contexts: Path) -> None:
    with pytest.raises(StackError, match=r"no Docker engine answers at gopher://x \("):
        connect(None, {"DOCKER_HOST": "gopher://x"})


def test_a_context_that_cannot_be_read(contexts: Path) -> None:
    for meta in (contexts / "contexts" / "meta").glob("*/meta.json"):
        meta.write_text("{")
    with pytest.raises(StackError, match="context cannot be read"):
        find_endpoint("colima", {})


def test_the_engine_has_an_identity() -> None:
    assert engine_id(stack()) == ENGINE
    with pytest.raises(StackError, match="does not answer: gone"):
        engine_id(FakeEngine(fails=DockerException("gone")))


def test_the_root_of_an_error_is_told() -> None:
    wrapped = DockerException("Error while fetching server API version")
    wrapped.__cause__ = ConnectionError("Connection aborted.", PermissionError(13, "Permission denied"))
    assert reason(wrapped) == "permission denied"
    assert reason(DockerException("plain words")) == "plain words"
    assert reason(DockerException()) == "DockerException"
