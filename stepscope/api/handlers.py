"""Every exception that can leave a route, turned into a problem."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from faults.errors import FaultError
from stepscope.api.problems import ErrorItem, ProblemError, pointer, unprocessable

MethodsOf = Callable[[str], Iterable[str]]
"""All methods that a path answers to."""

_log = logging.getLogger("stepscope.api")


def install(app: FastAPI, methods_of: MethodsOf) -> None:
    """Make `app` answer every error as `application/problem+json`."""

    async def on_problem(_: Request, error: Exception) -> Response:
        assert isinstance(error, ProblemError)
        return error.response()

    async def on_validation(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return unprocessable(_validation_item(item) for item in error.errors()).response()

    async def on_fault(_: Request, error: Exception) -> Response:
        assert isinstance(error, FaultError)
        return _fault_problem(error).response()

    async def on_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return _http_problem(request, error, methods_of).response()

    app.add_exception_handler(ProblemError, on_problem)
    app.add_exception_handler(RequestValidationError, on_validation)
    app.add_exception_handler(FaultError, on_fault)
    app.add_exception_handler(HTTPException, on_http)


class CrashReport:
    """Answers 500 when a route crashes: the traceback goes to the log, once, and never to the client."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        started = False

        async def noting_start(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, noting_start)
        except Exception:
            if started or scope["type"] != "http":
                raise
            _log.exception("%s %s failed", scope["method"], scope["path"])
            problem = ProblemError(500, "internal", "The lab failed to answer this; its log says why.")
            await problem.response()(scope, receive, send)


def _fault_problem(error: FaultError) -> ProblemError:
    items = [
        ErrorItem("path" if problem.pointer == "/name" else "body", problem.pointer, problem.detail)
        for problem in error.problems
    ]
    conflict = {"limit": "too-many-faults", "over": "fault-is-over"}.get(error.code)
    if conflict is not None:
        return ProblemError(409, conflict, str(error), errors=items)
    kind = "unsupported-fault" if error.code == "unsupported" else "invalid-request"
    return ProblemError(422, kind, str(error), errors=items)


def _http_problem(request: Request, error: HTTPException, methods_of: MethodsOf) -> ProblemError:
    path = request.url.path
    if error.status_code == 404:
        return ProblemError(404, "not-found", "There is nothing at this path; /docs lists what there is.")
    if error.status_code == 405:
        allowed = ", ".join(sorted(methods_of(path)))
        detail = f"This path does not answer to {request.method}; it answers to {allowed}."
        return ProblemError(405, "method-not-allowed", detail, headers={"Allow": allowed})
    kind = HTTPStatus(error.status_code).phrase.lower().replace(" ", "-")
    return ProblemError(error.status_code, kind, str(error.detail), headers=error.headers)


def _validation_item(item: Mapping[str, Any]) -> ErrorItem:
    source, *parts = item["loc"]
    message = str(item["msg"]).removeprefix("Value error, ")
    if item["type"] == "extra_forbidden":
        message = "is not a known key"
    elif item["type"] == "missing":
        message = "is required"
    return ErrorItem(str(source), pointer(parts), message)
