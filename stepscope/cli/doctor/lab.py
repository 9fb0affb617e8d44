"""Is a lab running, is it well, and does its clock agree with this machine's?"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from stepscope.cli.client import Client
from stepscope.cli.doctor.check import Check
from stepscope.cli.errors import CliError

TIMEOUT_SECONDS = 0.7
LATE_SECONDS = 3.0
"""A tick is up to a second old when all is well."""
TOO_LATE_SECONDS = 10.0
"""The exporter stops publishing a tick of this age."""


@dataclass(frozen=True, slots=True)
class Lab:
    """What a lab answered."""

    url: str
    asked_for: bool
    """Whether somebody named this address, so that a lab is expected there."""
    error: str = ""
    """Why there is no answer, or why it is not ready."""
    there: bool = False
    version: str = ""
    tick_age_seconds: float | None = None
    """Age of its newest second by this machine's clock; None before the first."""
    lag_seconds: float = 0.0
    """How late the lab itself says that it is."""


def look(client: Client, *, asked_for: bool, now: Callable[[], float] = time.time) -> Lab:
    """At the lab behind `client`, which should have a short timeout."""
    try:
        status, ready = _get(client, "/readyz")
        if "status" not in ready:
            return Lab(client.url, asked_for, error=f"{client.url} answers, and is no lab")
        error = "" if status == 200 else str(ready.get("detail", f"HTTP {status}"))
        _, version = _get(client, "/version")
        _, state = _get(client, "/v1/state")
    except CliError as failure:
        return Lab(client.url, asked_for, error=str(failure).partition(";")[0])
    position = state.get("position")
    age, lag = _age(position, now()) if isinstance(position, dict) else (None, 0.0)
    return Lab(client.url, asked_for, error, True, str(version.get("version", "")), age, lag)


def judge(lab: Lab, *, version: str) -> Iterator[Check]:
    """Checks `lab` and `lab clock`; `version` is this program's."""
    if not lab.there:
        if lab.asked_for:
            yield Check("lab", "problem", lab.error, "start it, or correct --url or STEPSCOPE_URL")
        else:
            yield Check("lab", "not applicable", f"none runs at {lab.url}", "start one: stepscope lab")
        yield Check("lab clock", "not applicable", "no lab to compare with")
        return
    if lab.error:
        yield Check(
            "lab", "problem", f"{lab.url} is not ready: {lab.error}", "see its log; start it again if it stopped"
        )
    elif lab.version != version:
        found = f"{lab.url} runs stepscope {lab.version}, and this is {version}"
        yield Check("lab", "warning", found, "start it again from this version (containers: make up)")
    else:
        yield Check("lab", "ok", f"{lab.url} is ready")
    yield _clock(lab)


def _clock(lab: Lab) -> Check:
    age = lab.tick_age_seconds
    if age is None:
        return Check("lab clock", "not applicable", "it has not finished its first second")
    found = f"its newest second is {abs(age):.1f} s {'old' if age >= 0 else 'in the future'} by this machine's clock"
    if -LATE_SECONDS <= age - 1.0 <= LATE_SECONDS:
        return Check("lab clock", "ok", found)
    if lab.lag_seconds > LATE_SECONDS:
        advice = "it cannot keep up: end other work, or run a smaller preset"
    else:
        advice = "the two clocks differ: after sleep restart Docker or the virtual machine, else set the time"
    return Check("lab clock", "problem" if abs(age) > TOO_LATE_SECONDS else "warning", found, advice)


def _age(position: dict[str, Any], now: float) -> tuple[float | None, float]:
    try:
        return now - datetime.fromisoformat(position["time"]).timestamp(), float(position["lag_seconds"])
    except (KeyError, TypeError, ValueError):
        return None, 0.0


def _get(client: Client, path: str) -> tuple[int, dict[str, Any]]:
    """Status and JSON object of an answer; empty for anything else."""
    status, _, body = client.exchange("GET", path)
    try:
        answer = json.loads(body)
    except ValueError:
        return status, {}
    return status, answer if isinstance(answer, dict) else {}
