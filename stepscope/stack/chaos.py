"""Breaks one container for a while, and puts it back whatever happens."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from stepscope.stack.actions import ACTIONS, DEFAULT_CPU_PERCENT, Action
from stepscope.stack.errors import GoneError, StackError, one_line
from stepscope.stack.lease import Lease, LeaseFile
from stepscope.stack.project import Project

LOOK_SECONDS = 1.0
"""How often a lease is looked for: a reset from elsewhere ends the waiting."""

Ended = Literal["time", "signal", "reset"]
Left = Literal["undone", "container gone"]


class Waiting(Protocol):
    """What `stepscope.stack.interrupt.Interrupt` does."""

    def wait(self, seconds: float) -> bool:
        """Wait so long; whether to stop waiting."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to break, how, and for how long."""

    action: str
    service: str
    seconds: float
    cpu_percent: int = DEFAULT_CPU_PERCENT


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a lease."""

    lease: Lease
    left: Left
    ended: Ended
    seconds: float
    """For which it lasted."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A lease that could not be undone and is kept."""

    lease: Lease
    reason: str


@dataclass(frozen=True, slots=True)
class Chaos:
    """Chaos on one project."""

    project: Project
    engine: str
    leases: LeaseFile
    clock: Callable[[], float] = field(default=time.monotonic)
    now: Callable[[], float] = field(default=time.time)

    def run(self, order: Order, waiting: Waiting, *, began: Callable[[Lease], None]) -> Outcome:
        """Break, tell `began`, wait, put back. StackInputError for a service that may not be broken, StackError else.

        The lease is written before anything is broken and removed after all is put back, so that `reset` can finish
        what a crash or an engine that went away has left.
        """
        action = ACTIONS[order.action]
        container = self.project.breakable(order.service)
        # Asked first: a lease that nobody undid is why the container does not run.
        self.leases.check_free(engine=self.engine, project=self.project.name, service=order.service)
        if container.status != "running":
            raise StackError(f"{order.service} is {container.status}; only what runs can be broken: stepscope status")
        lease = self._lease(order, container.id, action.remember(container, cpu_percent=order.cpu_percent))
        self.leases.add(lease)
        start, ended = self.clock(), None
        try:
            with one_line():
                action.do(self.project.client, container, lease.memory)
            began(lease)
            ended = self._wait(lease, order.seconds, waiting)
        finally:
            # Whoever removed the lease has put things right; by now the service may be broken anew.
            left = self._release(lease, action) if ended != "reset" else "undone"
        return Outcome(lease, left, ended, self.clock() - start)

    def reset(self) -> tuple[list[Outcome], list[Failure]]:
        """Undo every lease of the project, those of other processes too."""
        done: list[Outcome] = []
        failed: list[Failure] = []
        for lease in self.leases.leases(engine=self.engine, project=self.project.name):
            try:
                if lease.action not in ACTIONS:
                    raise StackError(f"this version does not know {lease.action!r}")
                left = self._release(lease, ACTIONS[lease.action])
            except StackError as error:
                failed.append(Failure(lease, str(error)))
            else:
                done.append(Outcome(lease, left, "reset", max(0.0, self.now() - lease.began)))
        return done, failed

    def _wait(self, lease: Lease, seconds: float, waiting: Waiting) -> Ended:
        end = self.clock() + seconds
        while (remaining := end - self.clock()) > 0:
            if waiting.wait(min(LOOK_SECONDS, remaining)):
                return "signal"
            if not self.leases.holds(lease.id):
                return "reset"
        return "time"

    def _release(self, lease: Lease, action: Action) -> Left:
        client = self.project.client
        left: Left = "undone"
        try:
            with one_line():
                container = client.containers.get(lease.container)
        except GoneError:
            left = "container gone"
        else:
            try:
                with one_line():
                    action.undo(client, container, lease.memory)
            except StackError as error:
                raise StackError(
                    f"{lease.service} could not be put back ({error}); try again: stepscope chaos reset"
                ) from error
        self.leases.remove(lease.id)
        return left

    def _lease(self, order: Order, container: str, memory: object) -> Lease:
        assert isinstance(memory, dict)
        began = self.now()
        return Lease(
            id=uuid.uuid4().hex,
            engine=self.engine,
            project=self.project.name,
            service=order.service,
            action=order.action,
            container=container,
            memory=memory,
            began=began,
            until=began + order.seconds,
            process=os.getpid(),
        )
