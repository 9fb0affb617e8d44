"""Which format and encoding a request gets."""

from __future__ import annotations

from dataclasses import dataclass

from exporter.render import Format

_VERSIONS = {Format.TEXT: "0.0.4", Format.OPENMETRICS: "1.0.0"}


@dataclass(frozen=True, slots=True)
class _Range:
    name: str
    parameters: dict[str, str]
    quality: float


def choose_format(accept: str | None) -> Format:
    """The format that `accept` (an Accept header) prefers; text when it leaves it open or can have neither."""
    ranges = _parse(accept or "")
    text, _ = _quality(ranges, Format.TEXT)
    openmetrics, named = _quality(ranges, Format.OPENMETRICS)
    if openmetrics > text or (openmetrics == text > 0.0 and named > _quality(ranges, Format.TEXT)[1]):
        return Format.OPENMETRICS
    return Format.TEXT


def wants_gzip(accept_encoding: str | None) -> bool:
    """Whether the body may be compressed with gzip."""
    qualities = {item.name: item.quality for item in _parse(accept_encoding or "")}
    return qualities.get("gzip", qualities.get("x-gzip", qualities.get("*", 0.0))) > 0.0


def _quality(ranges: list[_Range], format_: Format) -> tuple[float, int]:
    """Quality of the most specific range that covers the format, and how specific that is (0 to 3)."""
    media = format_.value.partition(";")[0]
    best = (0, 0.0)
    for item in ranges:
        version = item.parameters.get("version")
        if version is not None and version != _VERSIONS[format_]:
            continue
        if item.name == media:
            best = max(best, (3 if version else 2, item.quality))
        elif item.name == media.partition("/")[0] + "/*":
            best = max(best, (1, item.quality))
        elif item.name == "*/*":
            best = max(best, (0, item.quality))
    return best[1], best[0]


def _parse(value: str) -> list[_Range]:
    ranges = []
    for item in value.split(","):
        name, *rest = (part.strip().lower() for part in item.split(";"))
        if not name:
            continue
        pairs = (part.partition("=") for part in rest)
        parameters = {key.strip(): text.strip().strip('"') for key, _, text in pairs}
        ranges.append(_Range(name, parameters, _number(parameters.pop("q", "1"))))
    return ranges


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return value if 0.0 <= value <= 1.0 else 0.0
