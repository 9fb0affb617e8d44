"""The OpenAPI document: what FastAPI knows, plus what only the registry of faults and the guards know."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.openapi.utils import get_openapi
from starlette.responses import JSONResponse

from stepscope.api import remedy_schema, scenario_schema, schema
from stepscope.api.access import SAFE_METHODS, is_for_participants, is_hidden_in_exam, is_participants_own, is_secret
from stepscope.api.problems import MEDIA_TYPE

Json = dict[str, Any]

router = APIRouter(include_in_schema=False)

_PROBLEM = {"$ref": "#/components/schemas/ProblemView"}
_REF_422 = "#/components/schemas/HTTPValidationError"
_TAGS = {
    "faults": "Break the job, and put it right again.",
    "job": "What runs.",
    "remedies": "What to do about it.",
    "scenarios": "Scripted incidents.",
    "state": "How it does.",
    "exam": "A hidden incident, and who finds it.",
    "events": "What happened.",
    "metrics": "Pages for Prometheus.",
    "operations": "Health and version.",
}


@router.get("/openapi.json")
def openapi_json(request: Request) -> JSONResponse:
    """The document."""
    app = request.app
    if app.openapi_schema is None:
        app.openapi_schema = document(app)
    return JSONResponse(app.openapi_schema)


def document(app: FastAPI) -> Json:
    """The OpenAPI document of the application, the same at every call and on every machine."""
    found = get_openapi(
        title=app.title,
        version=app.version,
        summary=app.summary,
        routes=app.routes,
        tags=[{"name": name, "description": text} for name, text in _TAGS.items()],
        openapi_version="3.1.0",
        separate_input_output_schemas=True,
    )
    components: Json = found["components"]
    components["schemas"].update(schema.components() | scenario_schema.components() | remedy_schema.components())
    for name in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(name, None)
    components["schemas"] = dict(sorted(components["schemas"].items()))
    components["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer", "description": "The lab's own: STEPSCOPE_TOKEN."},
        "participant": {"type": "http", "scheme": "bearer", "description": "What joining an exam answers with."},
    }
    for path, operations in found["paths"].items():
        for method, operation in operations.items():
            _name_problems(operation)
            _name_security(operation, path, method)
    named, unnamed = found["paths"]["/v1/faults/{name}"], found["paths"]["/v1/faults"]
    named["put"]["requestBody"] = unnamed["post"]["requestBody"] = _body("FaultWrite", schema.EXAMPLES)
    named["patch"]["requestBody"] = _body("FaultChange", schema.CHANGES)
    found["paths"]["/v1/playbacks"]["post"]["requestBody"] = _body("PlaybackWrite", scenario_schema.EXAMPLES)
    found["paths"]["/v1/remedies"]["post"]["requestBody"] = _body("RemedyWrite", remedy_schema.EXAMPLES)
    return found


def _name_problems(operation: Json) -> None:
    """Errors are `application/problem+json`; FastAPI's own shape of a 422 never leaves this lab."""
    if _REF_422 in json.dumps(operation["responses"].get("422")):
        del operation["responses"]["422"]
    for answer in operation["responses"].values():
        content = answer.get("content", {})
        if content.get("application/json", {}).get("schema") == _PROBLEM:
            answer["content"] = {MEDIA_TYPE: {"schema": _PROBLEM}}
        elif "application/json" in content and len(content) > 1:
            # Pages that are not JSON: FastAPI adds its default all the same.
            del content["application/json"]


def _name_security(operation: Json, path: str, method: str) -> None:
    if is_secret(path):
        operation["security"] = [{"token": []}]
    elif is_participants_own(path):
        operation["security"] = [{"participant": []}]
    elif is_for_participants(path):
        return
    elif method.upper() not in SAFE_METHODS or is_hidden_in_exam(path, method.upper()):
        # Whether a write needs the token depends on the address that the lab is bound to; during an exam every write
        # does, and so does whatever tells of the truth.
        operation["security"] = [{}, {"token": []}]


def _body(component: str, examples: Json) -> Json:
    content = {"schema": {"$ref": f"#/components/schemas/{component}"}, "examples": examples}
    return {"required": True, "content": {"application/json": content}}
