"""Effects as plain values, so that two of them can be compared to the last bit, whatever fields there are."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import numpy as np

from faults.effects import Effects, Topology


def snapshot(effects: Effects) -> object:
    """Everything about effects."""
    return _plain(effects)


def is_neutral(effects: Effects, topology: Topology) -> bool:
    """Whether nothing is wrong with the job."""
    return snapshot(effects) == snapshot(Effects.neutral(topology))


def per_rank(effects: Effects, topology: Topology) -> dict[str, np.ndarray]:
    """The arrays that have a value for each rank."""
    arrays = {field.name: getattr(effects, field.name) for field in fields(effects)}
    return {name: array for name, array in arrays.items() if np.shape(array)[:1] == (topology.ranks,)}


def _plain(value: object) -> object:
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return value
