"""What an alert is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rulebook.profile import Patience

Severity = Literal["critical", "warning", "info"]
"""critical: the run is lost or stands still. warning: it costs GPU-hours or hides something. info: nobody must act."""
RuleSet = Literal["training", "traditional"]

RUNBOOK = "RUNBOOK.md"
"""Where the runbook is, in front of each alert's anchor: a path in this repository. Set it to where you publish it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One alert. `for`, `keep_firing_for` and the runbook's address follow from the profile and the name."""

    name: str
    set: RuleSet
    severity: Severity
    about: str
    """One sentence for who reads the rule: what it compares, and what it leaves out."""
    expr: str
    """PromQL, nothing newer than Prometheus 3.5."""
    patience: Patience = "confirm"
    holds: bool = True
    """Whether it keeps firing for a while."""
    summary: str
    """Fixed text, the same for every instance of the alert."""
    description: str
    """What this instance says: a template of labels and value, without queries."""

    @property
    def runbook_url(self) -> str:
        """Address of the alert's entry in the runbook."""
        return f"{RUNBOOK}#{self.name.lower()}"
