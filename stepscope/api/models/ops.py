"""Health, version and discovery."""

from __future__ import annotations

from typing import Literal

from stepscope.api.models.base import Name, Shape


class Healthy(Shape):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Ready(Shape):
    """The lab has something true to say."""

    status: Literal["ready"] = "ready"
    components: dict[str, str]
    """Each part of the lab and how it does."""


class VersionView(Shape):
    """What is running."""

    name: Literal["stepscope"] = "stepscope"
    version: Name
    api: Literal["v1"] = "v1"
    python: Name


class TargetGroup(Shape):
    """One entry of Prometheus' HTTP service discovery."""

    targets: list[str]
    labels: dict[str, str]
