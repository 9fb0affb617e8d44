"""The null kind: a fault with a name, a schedule and a target that changes nothing."""

from __future__ import annotations

from faults.effects import Effects
from faults.kind import Application, Kind


class Nothing(Kind):
    """Goes through every state of a fault without touching the job."""

    name = "none"
    summary = "Nothing breaks: for drills, and to try the schedule and the plumbing."
    look_at = "The event log only; every series stays as it was."
    composition = "Any number of them is still nothing."

    def apply(self, effects: Effects, application: Application) -> None:
        """Leave everything as it is."""


KIND = Nothing()
