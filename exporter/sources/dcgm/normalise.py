"""A page of whatever generation to families under the catalogue's names: each reading once, or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from exporter.catalogue import DCGM_FAMILIES, Family
from exporter.reading import Gpu, Labels, Sample
from exporter.sources.dcgm.boards import Boards
from exporter.sources.dcgm.labels import Place, identity, place
from exporter.sources.dcgm.names import Names, is_dcgm
from exporter.sources.dcgm.parser import Page
from exporter.sources.dcgm.values import believe

_PLACES = {family.name: place for place, family in enumerate(DCGM_FAMILIES)}
_Series = dict[frozenset[tuple[str, str]], Sample]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a page says."""

    families: Mapping[Family, tuple[Sample, ...]]
    """The catalogue's in its order, then the others in the page's."""
    gpus: Mapping[str, Gpu]
    """Boards that the page names, by key."""
    dropped: Mapping[str, int]
    """Samples left out here, by reason: VALUE_REASONS, `duplicate` and `limit`."""


class Normaliser:
    """Makes readings of pages; what it keeps from one to the next is the names of families, and bounded."""

    def __init__(self, *, hostname: str, hostname_label: str) -> None:
        """`hostname` stands where a page names no host."""
        self._names = Names()
        self._hostname = hostname
        self._hostname_label = hostname_label

    def __call__(self, page: Page) -> Found:
        """All that is to be believed of `page`."""
        rows = [row for row in page.rows if is_dcgm(row.name)]
        meanings = {name: self._names.meaning(name, page) for name in dict.fromkeys(row.name for row in rows)}
        places = {labels: self._place(labels) for labels in dict.fromkeys(row.labels for row in rows)}
        boards = Boards(places.values(), hostname_label=self._hostname_label)
        series: dict[str, _Series] = {}
        families: dict[str, Family] = {}
        dropped: Counter[str] = Counter()
        for name, labels, number in rows:
            meaning = meanings[name]
            if meaning is None:
                dropped["limit"] += 1
                continue
            where = places[labels]
            key = boards.key(where)
            value = believe(number, meaning)
            if isinstance(value, str):
                dropped[value] += 1
                continue
            boards.believe(key)
            family = families.setdefault(meaning.family.name, meaning.family)
            if not _add(series.setdefault(family.name, {}), family, key, where, value):
                dropped["duplicate"] += 1
        ordered = {families[name]: tuple(series[name].values()) for name in _in_order(series)}
        return Found(families=ordered, gpus=boards.gpus(), dropped=dropped)

    def _place(self, labels: Labels) -> Place:
        return place(labels, hostname=self._hostname, hostname_label=self._hostname_label)


def _add(series: _Series, family: Family, key: str, where: Place, value: int | float) -> bool:
    """Add a sample to those of its family; False when the series is there already."""
    if family.scope != "board" or not key:
        new = where.series not in series
        series.setdefault(where.series, Sample(key, where.labels, value, where.instance))
        return new
    # Partitions, and workloads that share a board, each repeat what the board reads: it counts once, as its greatest.
    labels = where.board if where.instance else where.labels
    there = series.get(where.board_series)
    if there is None:
        series[where.board_series] = Sample(key, labels, value)
        return True
    if identity(there.labels) == where.series:
        return False
    series[where.board_series] = replace(there, labels=where.board, value=max(there.value, value))
    return True


def _in_order(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: _PLACES.get(name, len(_PLACES)))
