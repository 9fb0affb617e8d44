"""What a recorder is told once, checked, with what the launcher says in the environment."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Mapping
from dataclasses import dataclass

from exporter.sources.job.wire import MOST_PEAK, MOST_RANKS

_MOST_TEXT = 128
_MOST_VISIBLE = 4096
_MOST_WHOLE = 1 << 62
PARAMS_CONVENTION = "6N"
"""FLOPs per token when only the number of parameters is known: 2 forward and 4 backward for each of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All valid."""

    run: str
    rank: int
    world_size: int
    local_rank: int
    tokens_per_step: int
    """Of the whole job."""
    samples_per_step: int | None
    flops_per_token: float
    peak_flops_per_second: float | None
    visible_devices: str | None
    texts: Mapping[str, str]
    """model, precision, strategy, flops_convention: those that were given."""


def checked_settings(
    environ: Mapping[str, str],
    *,
    run: str,
    model: str | None,
    tokens_per_step: int,
    samples_per_step: int | None,
    flops_per_token: float | None,
    params: float | None,
    flops_convention: str | None,
    precision: str | None,
    strategy: str | None,
    peak_flops_per_second: float | None,
    rank: int | None,
    world_size: int | None,
    local_rank: int | None,
) -> Settings:
    """The settings. ValueError names what is wrong."""
    if (flops_per_token is None) == (params is None):
        raise ValueError("flops_per_token, params: give one of the two; MFU needs the FLOPs of a token")
    if flops_per_token is None:
        flops_per_token = 6.0 * positive("params", params)
        flops_convention = flops_convention or PARAMS_CONVENTION
    size = _whole("world_size", environ, world_size, default=1, least=1, most=MOST_RANKS)
    number = _whole("rank", environ, rank, default=0)
    if number >= size:
        raise ValueError(f"rank: {number} is not below world_size, which is {size}")
    texts = {
        "model": model,
        "precision": precision,
        "strategy": strategy,
        "flops_convention": flops_convention,
    }
    visible = environ.get("CUDA_VISIBLE_DEVICES")
    return Settings(
        run=_text("run", run),
        rank=number,
        world_size=size,
        local_rank=_whole("local_rank", environ, local_rank, default=0, most=MOST_RANKS),
        tokens_per_step=whole("tokens_per_step", tokens_per_step),
        samples_per_step=None if samples_per_step is None else whole("samples_per_step", samples_per_step),
        flops_per_token=positive("flops_per_token", flops_per_token),
        peak_flops_per_second=(
            None
            if peak_flops_per_second is None
            else positive("peak_flops_per_second", peak_flops_per_second, most=MOST_PEAK)
        ),
        visible_devices=visible
        if visible is None or (is_label(visible, _MOST_VISIBLE) and visible.isascii())
        else None,
        texts={name: _text(name, value) for name, value in texts.items() if value},
    )


def whole(name: str, value: object, *, least: int = 0, most: int = _MOST_WHOLE) -> int:
    """A whole number, as Python or NumPy has it. ValueError names it."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ValueError(f"{name}: {value!r} is not a whole number") from None
    if number < least:
        raise ValueError(f"{name}: {number} is not {least} or more")
    if number > most:
        raise ValueError(f"{name}: must be at most {most}")
    return number


def positive(name: str, value: float | None, *, most: float = math.inf) -> float:
    """A finite number above 0, and at most `most`. ValueError names it."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name}: {value!r} is not a number") from None
    if not (0.0 < number < math.inf):
        raise ValueError(f"{name}: {number!r} is not a finite number above 0")
    if number > most:
        raise ValueError(f"{name}: {number!r} is more than {most:g}")
    return number


def checked_path(name: str, value: object) -> str:
    """A path as text. ValueError names it."""
    path = os.fspath(value) if isinstance(value, (str, os.PathLike)) else ""
    if not isinstance(path, str) or not path or "\0" in path:
        raise ValueError(f"{name}: {value!r} is not a path")
    return path


def is_label(text: str, most: int = _MOST_TEXT) -> bool:
    """Whether an exporter can take this text for a label: short enough, and nothing in it that is no character."""
    return len(text) <= most and text.isprintable()


def _text(name: str, value: object) -> str:
    if not isinstance(value, str) or not value or not is_label(value):
        raise ValueError(f"{name}: {value!r} is not 1 to {_MOST_TEXT} printable characters")
    return value


def _whole(
    name: str,
    environ: Mapping[str, str],
    value: int | None,
    *,
    default: int,
    least: int = 0,
    most: int = _MOST_WHOLE,
) -> int:
    """The argument, or what the launcher says, or the default."""
    if value is not None:
        return whole(name, value, least=least, most=most)
    said = environ.get(name.upper())
    if said is None:
        return default
    try:
        return whole(name.upper(), int(said), least=least, most=most)
    except ValueError:
        raise ValueError(f"{name.upper()}: {said!r} in the environment is not a whole number from {least}") from None
