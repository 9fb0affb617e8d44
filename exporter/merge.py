"""Readings of several sources as one: of each value of a GPU, that of the source which knows it best, and once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from exporter.catalogue import DCGM_FAMILIES, GPU_LABELS, HOSTNAME, INSTANCE_LABELS, Family
from exporter.catalogue.dcgm import PROFILING_FAMILIES
from exporter.reading import Gpu, Labels, Reading, Sample

DEVICE_ORDER = ("nvml", "dcgm")
"""The driver itself before what was read from it some seconds ago."""
PROFILING_ORDER = ("dcgm", "nvml")
"""DCGM has all of them on every generation, and who else samples the counters may get in its way."""

_PROFILING = {family.name for family in PROFILING_FAMILIES}
_RANKS = {family.name: place for place, family in enumerate(DCGM_FAMILIES)}
_HOSTNAMES = (HOSTNAME, HOSTNAME.lower())
_IDENTITY = {*GPU_LABELS, *_HOSTNAMES}
_AFTER_INSTANCE = {*_HOSTNAMES, "DCGM_FI_DRIVER_VERSION"}


@dataclass(frozen=True, slots=True)
class Merged:
    """What the page shows of the GPUs."""

    families: Mapping[Family, tuple[Sample, ...]]
    """In the catalogue's order, foreign ones behind; no series twice."""
    gpus: tuple[Gpu, ...]
    """Each board once: up where any source has readings of it."""


def merge(readings: Mapping[str, Reading], missing: Iterable[Gpu] = ()) -> Merged:
    """One page's worth of `readings` (by source). `missing`: GPUs of sources that have no reading to show.

    For each board, instance and family the preferred source wins as a whole; a board carries the identity labels of
    one source on all of its series; what dcgm-exporter repeats on every instance of a board is kept once, the greatest.
    """
    families: dict[str, Family] = {}
    given: dict[tuple[str, str], tuple[Sample, ...]] = {}
    for source in (source for source in DEVICE_ORDER if source in readings):
        for family, samples in readings[source].families.items():
            families.setdefault(family.name, family)
            given[source, family.name] = samples
    identities = _identities(readings)
    merged: dict[Family, tuple[Sample, ...]] = {}
    for family in sorted(families.values(), key=lambda family: _RANKS.get(family.name, len(_RANKS))):
        kept = tuple(_distinct(_of_family(family, given, identities)))
        if kept:
            merged[family] = kept
    return Merged(merged, boards(readings, missing))


def _of_family(
    family: Family, given: Mapping[tuple[str, str], tuple[Sample, ...]], identities: Mapping[str, tuple[str, Labels]]
) -> Iterator[Sample]:
    owners: dict[str, dict[str, str]] = {}
    for source in PROFILING_ORDER if family.name in _PROFILING else DEVICE_ORDER:
        samples = given.get((source, family.name), ())
        for sample in _once_per_board(samples) if family.scope == "board" else samples:
            taken = owners.setdefault(sample.gpu, {})
            # One source's board must not stand beside another's parts of it: they would be added up.
            mixed = any(bool(instance) != bool(sample.instance) and by != source for instance, by in taken.items())
            if not mixed and taken.setdefault(sample.instance, source) == source:
                yield _identified(sample, source, identities)


def _once_per_board(samples: tuple[Sample, ...]) -> Iterable[Sample]:
    if not any(sample.instance for sample in samples):
        return samples
    kept: dict[tuple[str, Labels], Sample] = {}
    for sample in samples:
        labels = tuple(pair for pair in sample.labels if pair[0] not in INSTANCE_LABELS)
        key = (sample.gpu, labels)
        if key not in kept or kept[key].value < sample.value:
            kept[key] = replace(sample, labels=labels, instance="")
    return kept.values()


def _identities(readings: Mapping[str, Reading]) -> dict[str, tuple[str, Labels]]:
    """The source whose labels a board carries, and those labels, by the board's key."""
    found: dict[str, tuple[str, Labels]] = {}
    for source in DEVICE_ORDER:
        for gpu in readings[source].gpus if source in readings else ():
            if gpu.labels and gpu.up:
                found.setdefault(gpu.key, (source, gpu.labels))
    return found


def _identified(sample: Sample, source: str, identities: Mapping[str, tuple[str, Labels]]) -> Sample:
    owner, identity = identities.get(sample.gpu, (source, ()))
    if owner == source:
        return sample
    own = [pair for pair in sample.labels if pair[0] not in _IDENTITY]
    labels = (
        *(pair for pair in identity if pair[0] not in _AFTER_INSTANCE),
        *(pair for pair in own if pair[0] in INSTANCE_LABELS),
        *(pair for pair in identity if pair[0] in _AFTER_INSTANCE),
        *(pair for pair in own if pair[0] not in INSTANCE_LABELS),
    )
    return replace(sample, labels=labels)


def _distinct(samples: Iterable[Sample]) -> Iterator[Sample]:
    seen: set[frozenset[tuple[str, str]]] = set()
    for sample in samples:
        series = frozenset(sample.labels)
        if series not in seen:
            seen.add(series)
            yield sample


def boards(readings: Mapping[str, Reading], missing: Iterable[Gpu] = ()) -> tuple[Gpu, ...]:
    """Each board of `readings` once, then what is `missing`, in the order of their indices."""
    found: dict[str, Gpu] = {}
    known = [gpu for source in DEVICE_ORDER if source in readings for gpu in readings[source].gpus]
    for gpu in (*known, *missing):
        if gpu.key not in found or (gpu.up and not found[gpu.key].up):
            found[gpu.key] = gpu
    return tuple(sorted(found.values(), key=_place))


def _place(gpu: Gpu) -> tuple[int, str, str]:
    return (int(gpu.index) if gpu.index.isascii() and gpu.index.isdigit() else 1 << 30, gpu.index, gpu.uuid)
