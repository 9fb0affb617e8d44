"""A reading as it may be shown: what a source hands over is taken apart once, before anybody scrapes it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from exporter.catalogue import GPU_UP, Family, find
from exporter.reading import Gpu, Labels, Reading, Sample

MALFORMED, DUPLICATE = "malformed", "duplicate"
DROP_REASONS = (MALFORMED, DUPLICATE)
"""Why a sample is dropped here, whatever source it came from."""

_METRIC = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_LABEL = re.compile(r"(?!__)[a-zA-Z_][a-zA-Z0-9_]*")
_RESERVED = ("exporter_", "training_", "process_", "python_", "simulator_", "lab_", "run:", "rank:")
"""Beginnings of names that other parts of the page own; on it no family may stand twice."""


def checked(found: object) -> Reading:
    """`found` without samples that would break a page, each counted in `dropped` by reason.

    TypeError when it is no reading at all.
    """
    if not isinstance(found, Reading):
        raise TypeError(f"a source must give a Reading, not {type(found).__name__}")
    dropped = {MALFORMED: 0, DUPLICATE: 0}
    families: dict[Family, tuple[Sample, ...]] = {}
    for family, samples in found.families.items():
        kept = _samples(samples, dropped) if _may_stand(family) else ()
        dropped[MALFORMED] += 0 if _may_stand(family) else len(samples)
        if kept:
            families[family] = kept
    gpus = tuple({gpu.key: gpu for gpu in found.gpus if _is_gpu(gpu)}.values())
    return replace(
        found,
        families=families,
        gpus=gpus,
        expected=max(0, int(found.expected)),
        dropped=_added(found.dropped, dropped),
        errors=_added(found.errors, {}),
    )


def _samples(samples: tuple[Sample, ...], dropped: dict[str, int]) -> tuple[Sample, ...]:
    kept: list[Sample] = []
    seen: set[frozenset[tuple[str, str]]] = set()
    for sample in samples:
        series = frozenset(sample.labels)
        if not (_is_number(sample.value) and _labels_may_stand(sample.labels)):
            dropped[MALFORMED] += 1
        elif series in seen:
            dropped[DUPLICATE] += 1
        else:
            seen.add(series)
            kept.append(sample)
    return tuple(kept)


def _may_stand(family: Family) -> bool:
    known = find(family.name)
    if known is not None:
        return known.scope in ("board", "instance") and known is not GPU_UP
    return bool(_METRIC.fullmatch(family.name)) and not family.name.startswith(_RESERVED)


@lru_cache(maxsize=4096)
def _labels_may_stand(labels: Labels) -> bool:
    pairs: tuple[tuple[str, object], ...] = labels
    return len(dict(pairs)) == len(pairs) and all(
        _LABEL.fullmatch(name) and isinstance(value, str) and value for name, value in pairs
    )


def _is_number(value: object) -> bool:
    return type(value) is int or (isinstance(value, float) and math.isfinite(value))


def _is_gpu(gpu: Gpu) -> bool:
    texts: tuple[object, ...] = (gpu.uuid, gpu.index, gpu.reason)
    return all(isinstance(text, str) for text in texts) and _labels_may_stand(gpu.labels)


def _added(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    total = {str(reason): max(0, int(count)) for reason, count in first.items()}
    for reason, count in second.items():
        if count:
            total[reason] = total.get(reason, 0) + count
    return total
