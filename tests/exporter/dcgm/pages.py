"""Strategies of pages: clean ones, and clean ones that something has happened to."""

from __future__ import annotations

import random
from collections.abc import Callable

from hypothesis import strategies as st

from exporter.render import escape_label, number

NAMES = st.from_regex(r"[a-zA-Z_:][a-zA-Z0-9_:]{0,20}", fullmatch=True)
LABEL_NAMES = st.from_regex(r"[a-zA-Z][a-zA-Z0-9_]{0,12}", fullmatch=True)
# prometheus_client takes other line ends for the end of a line and strips other blanks; Prometheus does neither.
TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp", "Zs")), max_size=20
) | st.sampled_from(
    ["a b", "}", "{", "} 1", ',x="', "\\", '"', "\n", "\\n", "a\nb", 'say "hi"', "C:\\gpu\\1", "# {", "=", "算力卡"]
)
HELPS = ["some help", "a\\\\b", "two\\nlines", "x"]
NUMBERS = st.one_of(
    st.integers(-(2**63), 2**63),
    st.floats(allow_nan=False),
    st.sampled_from([0, -0.0, 2**53 + 1, 1e-300, 1.5]),
)


@st.composite
def clean_pages(draw: st.DrawFn) -> str:
    """A page that every parser takes: families in blocks, each series once."""
    text = []
    for name in draw(st.lists(NAMES, max_size=5, unique=True)):
        if draw(st.booleans()):
            help_, type_ = draw(st.sampled_from(HELPS)), draw(st.sampled_from(["gauge", "untyped", "unknown"]))
            text.append(f"# HELP {name} {help_}\n# TYPE {name} {type_}\n")
        sets = draw(st.lists(st.dictionaries(LABEL_NAMES, TEXTS, max_size=4), max_size=5))
        distinct = {frozenset(found.items()): found for found in sets}.values()
        text += [line(name, labels, draw(NUMBERS)) for labels in distinct]
    return "".join(text)


def line(name: str, labels: dict[str, str], value: float) -> str:
    """One sample line as Prometheus writes it."""
    inner = ",".join(f'{key}="{escape_label(text)}"' for key, text in labels.items())
    return f"{name}{{{inner}}} {number(value)}\n" if inner else f"{name} {number(value)}\n"


def mutations(page: str, *, count: int, seed: int) -> list[bytes]:
    """The page with one to eight random changes each: bytes flipped, cut, doubled, moved, replaced by odd ones."""
    random_ = random.Random(seed)
    found = []
    for _ in range(count):
        data = bytearray(page.encode("utf-8"))
        for _ in range(random_.randint(1, 8)):
            random_.choice(_CHANGES)(data, random_)
        found.append(bytes(data))
    return found


_ODD = [b'"', b"{", b"}", b",", b"=", b"\\", b"\n", b"\r", b"\0", b" ", b"\t", b"#", b"\xff", b"\xc3",
        b"\xe2\x80\xa8", b"NaN", b"+Inf", b"1_0", b"0x1", b"9" * 500, b"9" * 300, b"-" + b"9" * 300, b"1e308",
        b"-1e400", b'"} ', b"# EOF\n", b'{a="b"} 1', b"\xef\xbb\xbf"]  # fmt: skip


def _flip(data: bytearray, random_: random.Random) -> None:
    if data:
        data[random_.randrange(len(data))] ^= 1 << random_.randrange(8)


def _insert(data: bytearray, random_: random.Random) -> None:
    at = random_.randint(0, len(data))
    data[at:at] = random_.choice(_ODD)


def _cut(data: bytearray, random_: random.Random) -> None:
    at = random_.randint(0, len(data))
    del data[at : at + random_.randint(1, 200)]


def _double(data: bytearray, random_: random.Random) -> None:
    at = random_.randint(0, len(data))
    data[at:at] = data[at : at + random_.randint(1, 400)]


def _end(data: bytearray, random_: random.Random) -> None:
    del data[random_.randint(0, len(data)) :]


_CHANGES: tuple[Callable[[bytearray, random.Random], None], ...] = (_flip, _flip, _insert, _insert, _cut, _double, _end)
