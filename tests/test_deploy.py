"""What deploy/ holds fits Kubernetes, the exporter's settings and the recorder; systemd checks its unit among the
stack tests.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
import yaml

from exporter.sources.job.wire import socket_paths
from stepscope.export.settings import DEFAULT_PORT, KEYS, load_export_settings

ROOT = Path(__file__).parents[1]
VARIABLES = {f"STEPSCOPE_{key.upper()}" for key in KEYS}
OLDEST, NEWEST = "1.29", "1.37"


def documents() -> list[dict[str, Any]]:
    text = (ROOT / "deploy" / "kubernetes" / "stepscope-export.yaml").read_text(encoding="utf-8")
    return [dict(document) for document in yaml.safe_load_all(text)]


@pytest.fixture(scope="module")
def pod() -> dict[str, Any]:
    found: dict[str, Any] = documents()[1]["spec"]["template"]["spec"]
    return found


@pytest.fixture(scope="module")
def container(pod: dict[str, Any]) -> dict[str, Any]:
    (found,) = pod["containers"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
def test_kubernetes_knows_every_key_and_type(version: str) -> None:
    kinds = []
    for document in documents():
        kubernetes_validate.validate(document, version, strict=True)
        kinds.append(document["kind"])
    assert kinds == ["Namespace", "DaemonSet"]


def test_the_validator_refuses_a_wrong_key_and_a_wrong_type() -> None:
    wrong_key, wrong_type = documents()[1], documents()[1]
    wrong_key["spec"]["template"]["spec"]["runtimeClas"] = "nvidia"
    wrong_type["spec"]["template"]["spec"]["containers"] = {}
    for document in (wrong_key, wrong_type):
        with pytest.raises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(document, NEWEST, strict=True)


def test_the_pod_has_no_privilege(pod: dict[str, Any], container: dict[str, Any]) -> None:
    own = container["securityContext"]
    assert own["capabilities"] == {"drop": ["ALL"]}
    assert own["allowPrivilegeEscalation"] is False
    assert own["readOnlyRootFilesystem"] is True
    assert "privileged" not in own
    assert not {"hostNetwork", "hostPID", "hostIPC"} & pod.keys()
    assert pod["automountServiceAccountToken"] is False


def test_its_settings_are_settings_and_mean_what_they_should(container: dict[str, Any]) -> None:
    given = {entry["name"]: entry.get("value", "a-node") for entry in container["env"]}
    ours = {name: value for name, value in given.items() if name.startswith("STEPSCOPE_")}
    assert ours.keys() <= VARIABLES
    ours["STEPSCOPE_DCGM_URL"] = ours["STEPSCOPE_DCGM_URL"].replace("$(NODE_ADDRESS)", "10.0.0.1")
    settings = load_export_settings(ours)
    assert settings.socket_path == socket_paths({})[0], "recorders find it without being told"
    assert settings.exit_after_failures > 0
    assert list(given).index("NODE_ADDRESS") < list(given).index("STEPSCOPE_DCGM_URL"), "it may refer to what is before"


def test_ports_and_places_agree(pod: dict[str, Any], container: dict[str, Any]) -> None:
    (port,) = container["ports"]
    annotations = documents()[1]["spec"]["template"]["metadata"]["annotations"]
    assert str(port["containerPort"]) == annotations["prometheus.io/port"] == str(DEFAULT_PORT)
    assert {probe["httpGet"]["port"] for key, probe in container.items() if key.endswith("Probe")} == {port["name"]}
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == volumes.keys()
    (folder,) = (mount["mountPath"] for mount in container["volumeMounts"] if mount["name"] == "socket")
    assert volumes["socket"]["hostPath"]["path"] == folder
    assert socket_paths({})[0].startswith(f"{folder}/")


def test_the_image_is_the_labs(container: dict[str, Any]) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert container["image"] == f"stepscope:{version}"


def test_the_unit_names_settings_and_the_socket_that_recorders_try_first() -> None:
    unit = (ROOT / "deploy" / "systemd" / "stepscope-export.service").read_text(encoding="utf-8")
    assert set(re.findall(r"STEPSCOPE_\w+", unit)) <= VARIABLES
    assert f"STEPSCOPE_SOCKET={socket_paths({})[0]}\n" in unit
    assert "\nRuntimeDirectory=stepscope\nRuntimeDirectoryMode=0755\n" in unit
