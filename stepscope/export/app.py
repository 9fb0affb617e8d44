"""The exporter over HTTP: /metrics, readiness, and a page that says which sources there are."""

from __future__ import annotations

import html
import json
import platform
import time
from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from exporter.export_pages import ExportPages
from exporter.node import Node
from stepscope import __version__
from stepscope.api.crowd import Crowd
from stepscope.api.problems import ProblemError
from stepscope.export.guard import HostGuard
from stepscope.export.settings import ExportSettings

RETRY_AFTER_SECONDS = 2
_STYLE = "body{font:16px/1.5 system-ui,sans-serif;margin:2rem}td,th{padding:.2rem 1rem .2rem 0;text-align:left}"
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
_HEADINGS = ("source", "used", "state", "GPUs", "last success", "failures")


def create_app(node: Node, pages: ExportPages, settings: ExportSettings) -> Starlette:
    """The application that shows `node`. It neither starts nor stops it."""

    # Plain functions: Starlette runs them in its threads, so that no rendering holds up the event loop.
    def metrics(request: Request) -> Response:
        page = pages.page(request.headers.get("accept"), request.headers.get("accept-encoding"))
        return Response(page.body, headers=page.headers)

    def readyz(_: Request) -> Response:
        ready, components = node.readiness()
        if ready:
            return _json({"status": "ready", "components": components})
        detail = "; ".join(f"{source}: {words}" for source, words in components.items()) or "there is no source"
        return ProblemError(
            503, "not-ready", f"The exporter has nothing to show: {detail}.",
            headers={"Retry-After": str(RETRY_AFTER_SECONDS)}, extra={"components": components},
        ).response()  # fmt: skip

    def home(_: Request) -> Response:
        return HTMLResponse(_home(node, settings), headers={"Content-Security-Policy": _POLICY})

    async def healthz(_: Request) -> Response:
        return _json({"status": "ok"})

    async def version(_: Request) -> Response:
        return _json({"version": __version__, "python": platform.python_version()})

    async def nodes(request: Request) -> Response:
        # The one target that a lab of this shape has, so that the lab's scrape configuration finds it too.
        # HTTP/1.0 names no host.
        place = request.headers.get("host") or f"{settings.hostname}:{settings.port}"
        target = {"targets": [place], "labels": {"instance": settings.hostname}}
        return _json([target])

    routes: dict[str, Callable[[Request], Response] | Callable[[Request], Awaitable[Response]]] = {
        "/": home, "/metrics": metrics, "/healthz": healthz, "/readyz": readyz, "/version": version, "/sd/nodes": nodes,
    }  # fmt: skip
    app = Starlette(
        routes=[Route(path, handler, methods=["GET"]) for path, handler in routes.items()],
        middleware=[Middleware(HostGuard, settings=settings), Middleware(Crowd)],
        exception_handlers={HTTPException: _problem},
    )
    app.router.redirect_slashes = False
    return app


async def _problem(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    kind = {404: "not-found", 405: "method-not-allowed"}.get(error.status_code, "refused")
    detail = "There is no such page; see /metrics." if error.status_code == 404 else error.detail
    return ProblemError(error.status_code, kind, detail, headers=error.headers).response()


def _json(content: object) -> Response:
    return Response(json.dumps(content) + "\n", media_type="application/json")


def _ago(moment: float) -> str:
    """How long a Unix time is ago; empty for never."""
    return f"{max(0.0, time.time() - moment):.0f} s ago" if moment else ""


def _home(node: Node, settings: ExportSettings) -> str:
    moment = node.now()
    states = {state.source: state for state in moment.states}
    rows: list[tuple[str, ...]] = []
    for choice in moment.choices:
        state = states.get(choice.source)
        if state is not None:
            gpus, ago = f"{state.present} of {state.expected}", _ago(state.last_success)
            rows.append(
                (state.source, choice.words, "up" if state.up else state.detail, gpus, ago, str(state.failures))
            )
        elif moment.job is not None:
            words = f"up at {moment.job.detail}, runs: {moment.job.runs}" if moment.job.up else moment.job.detail
            rows.append((choice.source, choice.words, words, "", _ago(moment.job.heard_at), ""))
    return "".join(
        (
            f'<!doctype html><html lang="en"><title>stepscope export</title><style>{_STYLE}</style>',
            f"<h1>stepscope export on {html.escape(settings.hostname)}</h1><table><tr>",
            *(f"<th>{heading}" for heading in _HEADINGS),
            *("<tr>" + "".join(f"<td>{html.escape(cell)}" for cell in row) for row in rows),
            '</table><p><a href="metrics">metrics</a> · <a href="readyz">readiness</a> · ',
            f'<a href="version">version</a> {__version__}</html>\n',
        )
    )
