"""Is it there, is it well, what is it."""

from __future__ import annotations

import platform

from fastapi import APIRouter

from simulator.engine import Engine
from stepscope import __version__
from stepscope.api.lab import CurrentLab, not_ready
from stepscope.api.models.ops import Healthy, Ready, VersionView
from stepscope.api.responses import ALWAYS, ANY, problems

router = APIRouter(tags=["operations"])

MOST_LAG_SECONDS = 5.0
"""A run that is further behind the wall clock says nothing about now."""


@router.get("/healthz", responses=problems(*ALWAYS))
async def healthz() -> Healthy:
    """Liveness: the process answers."""
    return Healthy()


@router.get("/readyz", responses=problems(*ANY, 503))
async def readyz(lab: CurrentLab) -> Ready:
    """Readiness: the engine has finished a second and keeps up. 503 says which part does not."""
    components = {"engine": _engine(lab.engine), "api": "ok"}
    ill = [f"{name}: {text}" for name, text in components.items() if text != "ok"]
    if ill:
        raise not_ready("; ".join(ill), components=components)
    return Ready(components=components)


@router.get("/version", responses=problems(*ANY))
async def version() -> VersionView:
    """What is running."""
    return VersionView(version=__version__, python=platform.python_version())


def _engine(engine: Engine) -> str:
    if engine.failure is not None:
        return f"stopped: {engine.failure}"
    if engine.tick is None:
        return "has not finished its first second"
    lag = engine.lag_seconds
    return f"{lag:.1f} s behind the wall clock" if lag > MOST_LAG_SECONDS else "ok"
