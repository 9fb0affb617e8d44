from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from faults.registry import kinds
from simulator.presets import PRESETS
from stepscope.api import openapi
from stepscope.api.access import is_hidden_in_exam, is_participants_own, is_secret
from tests.api.conftest import Bench

METHODS = {"get", "put", "post", "patch", "delete"}


@pytest.fixture
def document(bench: Bench) -> dict[str, Any]:
    return bench.get("/openapi.json")


def test_the_committed_document_is_the_served_one(document: dict[str, Any]) -> None:
    assert document == json.loads(openapi.FILE.read_text(encoding="utf-8"))
    assert openapi.main(["--check"]) == 0


def test_a_difference_is_found_and_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(openapi, "FILE", tmp_path / "openapi.json")
    assert openapi.main(["--check"]) == 1
    assert "out of date" in capsys.readouterr().err
    assert openapi.main([]) == 0
    assert openapi.main(["--check"]) == 0


def test_every_operation_documents_its_errors_as_problems(document: dict[str, Any]) -> None:
    for path, operations in document["paths"].items():
        assert set(operations) <= METHODS
        for method, operation in operations.items():
            errors = {code: answer for code, answer in operation["responses"].items() if int(code) >= 400}
            assert {"403", "421"} <= set(errors), path
            for answer in errors.values():
                assert list(answer["content"]) == ["application/problem+json"], path
            guarded = is_secret(path) or is_participants_own(path) or is_hidden_in_exam(path, method.upper())
            assert ("security" in operation) == guarded, path
            assert operation["description"], path


def test_what_depends_on_the_code_is_in_the_document(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    assert {f"FaultWrite_{kind}" for kind in kinds()} <= set(schemas)
    assert schemas["JobWrite"]["properties"]["preset"]["enum"] == list(PRESETS)
    assert "HTTPValidationError" not in schemas
    named, unnamed = document["paths"]["/v1/faults/{name}"], document["paths"]["/v1/faults"]
    bodies = ((named["put"], "FaultWrite"), (unnamed["post"], "FaultWrite"), (named["patch"], "FaultChange"))
    for operation, component in bodies:
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        assert schema == {"$ref": f"#/components/schemas/{component}"}
    assert "Location" in unnamed["post"]["responses"]["201"]["headers"]


def test_pages_for_prometheus_are_not_json(document: dict[str, Any]) -> None:
    for path in ("/metrics", "/metrics/run", "/metrics/truth", "/metrics/nodes/{node}"):
        content = document["paths"][path]["get"]["responses"]["200"]["content"]
        assert set(content) == {"text/plain", "application/openmetrics-text"}
