"""A page to a reading and back to text, and short looks at what is in it."""

from __future__ import annotations

from collections.abc import Iterable

from exporter.catalogue import BY_NAME, Family
from exporter.reading import Sample
from exporter.render import Format, head, header, lines, numbers
from exporter.sources.dcgm.normalise import Found, Normaliser
from exporter.sources.dcgm.parser import parse

UUID = "GPU-0000000{0}-aaaa-bbbb-cccc-00000000000{0}".format
"""UUID of a board of the cases by its number."""


def understood(text: str, *, hostname: str = "this-node", hostname_label: str = "Hostname") -> Found:
    """What the page says; lines that could not be parsed are counted with the rest."""
    page = parse(text)
    found = Normaliser(hostname=hostname, hostname_label=hostname_label)(page)
    dropped = {reason: page.dropped.get(reason, 0) + found.dropped.get(reason, 0) for reason in
               {*page.dropped, *found.dropped}}  # fmt: skip
    return Found(families=found.families, gpus=found.gpus, dropped=dropped)


def exposed(families: Iterable[tuple[Family, tuple[Sample, ...]]], format_: Format = Format.TEXT) -> str:
    """The page that we make of it."""
    return (
        "".join(
            header(family, format_)
            + lines(family.name, [head(s.labels) for s in samples], numbers(family, [s.value for s in samples]))
            for family, samples in families
        )
        + format_.ending
    )


def values(found: Found, name: str, *keys: str) -> dict[tuple[str, ...], int | float]:
    """Values of a family by those labels."""
    family = BY_NAME.get(name) or next(family for family in found.families if family.name == name)
    return {
        tuple(dict(sample.labels).get(key, "") for key in keys): sample.value
        for sample in found.families.get(family, ())
    }


def kept(found: Found) -> int:
    """How many samples there are."""
    return sum(map(len, found.families.values()))
