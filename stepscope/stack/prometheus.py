"""What the stack's Prometheus knows, asked over its published port."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import ProxyHandler, build_opener

TIMEOUT_SECONDS = 5.0
MFU = "run:training_mfu:ratio_rate1m"
"""A recording rule; a test looks for it among the rules."""
_MOST_BYTES = 16 * 2**20

Fetch = Callable[[str], bytes]


@dataclass(frozen=True, slots=True)
class Watched:
    """What Prometheus answers."""

    url: str
    reachable: bool
    detail: str = ""
    """Why not."""
    targets: int = 0
    targets_up: int = 0
    mfu: Mapping[str, float] | None = None
    """By run; empty when none is stored."""


def ask(url: str, *, fetch: Fetch | None = None) -> Watched:
    """Targets and MFU as of now; never raises."""
    fetch = fetch or _fetch
    try:
        up = _vector(fetch, url, "up")
        mfu = {labels.get("run", ""): value for labels, value in _vector(fetch, url, MFU) if math.isfinite(value)}
    except (OSError, URLError) as error:
        cause = getattr(error, "reason", error)
        detail = (getattr(cause, "strerror", None) or str(cause) or type(cause).__name__).lower()
        return Watched(url, reachable=False, detail=detail)
    except (ValueError, KeyError, TypeError, IndexError):
        return Watched(url, reachable=False, detail="what answers there is no Prometheus")
    healthy = sum(value == 1 for _, value in up)
    return Watched(url, reachable=True, targets=len(up), targets_up=healthy, mfu=mfu)


def _vector(fetch: Fetch, url: str, expr: str) -> list[tuple[Mapping[str, str], float]]:
    answer: Any = json.loads(fetch(f"{url}/api/v1/query?{urlencode({'query': expr})}"))
    return [(sample["metric"], float(sample["value"][1])) for sample in answer["data"]["result"]]


def _fetch(url: str) -> bytes:
    # Without the proxies of the environment: they would be asked for an address of this machine.
    with build_opener(ProxyHandler({})).open(url, timeout=TIMEOUT_SECONDS) as answer:
        body: bytes = answer.read(_MOST_BYTES)
        return body
