"""A diagnosis as JSON has it: what is not a finite number is null."""

from __future__ import annotations

import math
from dataclasses import asdict

from diagnosis.verdict import Diagnosis


def to_mapping(diagnosis: Diagnosis) -> dict[str, object]:
    """Every field of `Diagnosis`, and its sentence."""
    plain = _plain(asdict(diagnosis))
    assert isinstance(plain, dict)
    return {"sentence": diagnosis.sentence, **plain}


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value
