"""The FastAPI application: every route, every guard, one lab."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.routing import Route

from stepscope import __version__
from stepscope.api import document, handlers
from stepscope.api.body import StrictBody
from stepscope.api.crowd import Crowd
from stepscope.api.guard import Gate, Guard, SecondLook
from stepscope.api.head import HeadAsGet
from stepscope.api.lab import Lab
from stepscope.api.newline import Newline
from stepscope.api.routes import (
    diagnosis,
    events,
    exam,
    exam_part,
    faults,
    job,
    kinds,
    metrics,
    ops,
    page,
    remedies,
    scenarios,
    state,
    straggler,
    workbook,
)
from stepscope.api.stream import EventHub

ROUTERS = (
    kinds.router,
    faults.router,
    job.router,
    state.router,
    straggler.router,
    remedies.router,
    diagnosis.router,
    scenarios.router,
    exam.router,
    exam_part.router,
    events.router,
    events.stream_router,
    metrics.router,
    ops.router,
    document.router,
    page.router,
    workbook.router,
)


def create_app(lab: Lab) -> FastAPI:
    """The application that serves `lab`. It neither starts nor stops the engine."""
    hub = EventHub(lab.engine.journal)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        hub.start()
        yield
        hub.close()

    app = FastAPI(
        title="stepscope",
        version=__version__,
        summary="Break a simulated training job, and see what its dashboards say.",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.state.lab = lab
    app.state.hub = hub
    for router in ROUTERS:
        app.include_router(router)
    handlers.install(app, _methods)
    gate = Gate(lab.settings, hides=lambda: lab.exam.hides)
    # The last one added is the first to see a request.
    app.add_middleware(Newline)
    app.add_middleware(handlers.CrashReport)
    app.add_middleware(SecondLook, gate=gate)
    app.add_middleware(Crowd)
    app.add_middleware(StrictBody)
    app.add_middleware(HeadAsGet)
    app.add_middleware(Guard, settings=lab.settings, gate=gate)
    return app


def _methods(path: str) -> Iterable[str]:
    """Every method that a path answers to, over all its routes."""
    found: set[str] = set()
    for router in ROUTERS:
        for route in router.routes:
            if isinstance(route, Route) and route.path_regex.match(path):
                found |= route.methods or set()
    return found | {"HEAD"} if "GET" in found else found
