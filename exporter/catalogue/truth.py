"""Families that give away what is wrong: only on the truth page."""

from __future__ import annotations

from exporter.catalogue.family import Family

TRUTH_FAMILIES = (
    Family(
        name="lab_fault_active", type="gauge", unit="ratio", scope="truth", page="truth",
        help="Effective intensity of a fault that is acting now.", labels=("name", "kind", "target"), range=(0.0, 1.0),
    ),
    Family(
        name="lab_fault_events_total", type="counter", unit="", scope="truth", page="truth", number="int",
        help="Changes of state of faults.", labels=("kind", "event"),
    ),
    Family(
        name="lab_run_info", type="gauge", unit="info", scope="truth", page="truth", number="int",
        help="Always 1: the preset and seed behind a run.", labels=("run", "preset", "seed"),
    ),
)  # fmt: skip
