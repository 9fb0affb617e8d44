"""What several findings cost together: seconds that more than one of them explains are lost once."""

from __future__ import annotations

from collections.abc import Sequence

from diagnosis.cause import Case
from diagnosis.registry import causes
from diagnosis.verdict import Finding
from diagnosis.window import low

_SEEN_AS_WAITING = {"input", "waiting", "transfer"}


def together(case: Case, findings: Sequence[Finding]) -> float:
    """Seconds per step that all findings cost: those that several explain count once.

    Never more than the step has grown by or, without a better window, than the least busy rank does not work; never
    less than the one that costs most.
    """
    counted: list[Finding] = []
    for finding in sorted(findings, key=lambda finding: -finding.seconds_per_step):
        if not any(_alternatives(case, finding, other) for other in counted):
            counted.append(finding)
    if not counted:
        return 0.0
    step = case.step_seconds
    idle = step - low(case.now.work)
    most = step - case.before.step_seconds if case.before is not None else idle if idle > 0 else step
    return max(counted[0].seconds_per_step, min(sum(finding.seconds_per_step for finding in counted), most))


def _alternatives(case: Case, one: Finding, other: Finding) -> bool:
    """Whether both explain the same seconds: the same part of the step, of the same ranks or of nobody's."""
    parts = {causes()[finding.cause].takes for finding in (one, other)}
    # Where waiting is not told from transferring, whoever is late lengthens the transfer of the others.
    same = len(parts) == 1 or (not case.now.splits_waiting and parts <= _SEEN_AS_WAITING)
    if not same or (parts == {""} and one.cause != other.cause):
        return False
    if one.culprit is None or other.culprit is None or len(parts) > 1:
        return True
    return bool(set(one.culprit.ranks) & set(other.culprit.ranks))
