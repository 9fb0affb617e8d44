"""Pages for Prometheus, and where they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from exporter.discovery import targets
from exporter.page import Page
from exporter.pages import NodeUnreachableError
from stepscope.api.lab import CurrentLab, CurrentTick
from stepscope.api.models.ops import TargetGroup
from stepscope.api.problems import ProblemError
from stepscope.api.responses import ANY, problems

router = APIRouter(tags=["metrics"])

MOST_GPUS_ON_A_PAGE = 2_048
"""A page of more is tens of megabytes, for each of those who ask and for as long as they read."""

_EXPOSITION: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Prometheus text format, or OpenMetrics when that is preferred.",
        "content": {
            "text/plain": {"schema": {"type": "string"}},
            "application/openmetrics-text": {"schema": {"type": "string"}},
        },
    }
}


def _answer(request: Request, page: Callable[[str | None, str | None], Page]) -> Response:
    rendered = page(request.headers.get("accept"), request.headers.get("accept-encoding"))
    return Response(rendered.body, headers=rendered.headers)


@router.get("/metrics", response_class=Response, responses=_EXPOSITION | problems(*ANY, 409))
def all_metrics(request: Request, lab: CurrentLab) -> Response:
    """Everything on one page: for curl and for jobs of up to 2,048 GPUs."""
    tick = lab.engine.tick
    if tick is not None and tick.info.ranks > MOST_GPUS_ON_A_PAGE:
        raise ProblemError(
            409,
            "page-too-large",
            f"A run of {tick.info.ranks} GPUs does not fit on one page. Read /metrics/run and, for each node, "
            "/metrics/nodes/{node}; /sd/nodes lists them all for Prometheus.",
        )
    return _answer(request, lab.pages.all)


@router.get("/metrics/run", response_class=Response, responses=_EXPOSITION | problems(*ANY))
def run_metrics(request: Request, lab: CurrentLab) -> Response:
    """Series of the run, the exporter and the process."""
    return _answer(request, lab.pages.run)


@router.get("/metrics/truth", response_class=Response, responses=_EXPOSITION | problems(*ANY, 401))
def truth_metrics(request: Request, lab: CurrentLab) -> Response:
    """The faults that act: always behind the token."""
    return _answer(request, lab.pages.truth)


@router.get("/metrics/nodes/{node}", response_class=Response, responses=_EXPOSITION | problems(*ANY, 404, 503))
def node_metrics(
    request: Request,
    lab: CurrentLab,
    tick: CurrentTick,
    node: Annotated[str, Path(description="Host name of the node, as /sd/nodes gives it.")],
) -> Response:
    """Series of one node, its GPUs and its ranks."""
    try:
        return _answer(request, lambda accept, encoding: lab.pages.node(node, accept, encoding))
    except NodeUnreachableError:
        raise ProblemError(503, "unreachable", "The node does not answer.", headers={"Retry-After": "5"}) from None
    except KeyError:
        hosts = tick.info.hostnames
        known = f"{hosts[0]} to {hosts[-1]}" if len(hosts) > 1 else hosts[0]
        raise ProblemError(404, "not-found", f"The run has no such node; it has {known}.") from None


@router.get("/sd/nodes", responses=problems(*ANY))
async def service_discovery(request: Request, lab: CurrentLab) -> list[TargetGroup]:
    """Targets for Prometheus: one per node and one for the run, all at the Host of this request."""
    tick = lab.engine.tick
    groups = targets(tick.info if tick else None, request.headers["host"])
    return [TargetGroup(targets=group["targets"], labels=group["labels"]) for group in groups]
