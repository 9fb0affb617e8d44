"""Random streams that do not disturb each other and do not depend on how many steps are computed at once.

Each stream is a Philox generator keyed by (seed, component name, fixed block of steps). Adding a fault adds a stream;
no draw of any other stream moves. A generator costs about 35 µs to make, hence one per block and never one per step.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Draw = Callable[[np.random.Generator, int, int], NDArray[np.float64]]
"""Makes one block of a stream from (generator, steps, width)."""

_VALUES_PER_BLOCK = 65_536
_MOST_STEPS_PER_BLOCK = 256


def stable_key(*parts: object) -> int:
    """A 64-bit key of the parts' text, the same in every process and on every platform."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def generator(*parts: object, block: int = 0) -> np.random.Generator:
    """A generator keyed by `parts` and a block number."""
    return np.random.Generator(np.random.Philox(key=np.array([stable_key(*parts), block], dtype=np.uint64)))


class StepStream:
    """Rows of random values by step index, the same whoever asks and however often.

    `draw(generator, steps, width)` makes one block. The block size depends on the width alone, so it is part of the
    stream's identity, not of the caller's habits.
    """

    def __init__(
        self,
        *parts: object,
        width: int,
        draw: Draw,
    ) -> None:
        self._parts = parts
        self._width = width
        self._draw = draw
        self._steps = max(1, min(_MOST_STEPS_PER_BLOCK, _VALUES_PER_BLOCK // width))
        self._blocks: dict[int, NDArray[np.float64]] = {}

    def rows(self, first: int, count: int) -> NDArray[np.float64]:
        """Values of steps first … first + count - 1, shape (count, width)."""
        block, offset = divmod(first, self._steps)
        if offset + count <= self._steps:
            return self._block(block)[offset : offset + count]
        rows = [self._block(block)[offset:]]
        missing = count - len(rows[0])
        while missing > 0:
            block += 1
            rows.append(self._block(block)[:missing])
            missing -= len(rows[-1])
        return np.concatenate(rows)

    def _block(self, block: int) -> NDArray[np.float64]:
        values = self._blocks.get(block)
        if values is None:
            values = self._draw(generator(*self._parts, block=block), self._steps, self._width)
            values.setflags(write=False)
            # Two blocks are enough: a tick starts at most a block before the newest step it looks at.
            self._blocks = {k: v for k, v in self._blocks.items() if k >= block - 1}
            self._blocks[block] = values
        return values


class FaultStreams:
    """The streams of faults, made when first asked for. Those of faults that are gone are not kept for ever."""

    def __init__(self, component: str, draw: Draw, *, most: int = 128) -> None:
        self._component, self._draw, self._most = component, draw, most
        self._streams: dict[tuple[str, int, int], StepStream] = {}

    def __len__(self) -> int:
        return len(self._streams)

    def rows(self, fault: str, seed: int, first: int, count: int, *, width: int = 1) -> NDArray[np.float64]:
        """Values of one fault, keyed by its name and seed, for rows first … first + count - 1; (count, width)."""
        key = (fault, seed, width)
        if key not in self._streams:
            if len(self._streams) >= self._most:
                # A stream is a function of its key, so that one that is needed again comes back as it was.
                self._streams.clear()
            self._streams[key] = StepStream(seed, self._component, fault, width=width, draw=self._draw)
        return self._streams[key].rows(first, count)


def uniform_rows(rng: np.random.Generator, steps: int, width: int) -> NDArray[np.float64]:
    """Uniform on [0, 1)."""
    return rng.random((steps, width))


def normal_rows(rng: np.random.Generator, steps: int, width: int) -> NDArray[np.float64]:
    """Standard normal."""
    return rng.standard_normal((steps, width))


def gamma_rows(rng: np.random.Generator, steps: int, width: int) -> NDArray[np.float64]:
    """Positive with mean 1 and a long right tail (gamma, shape 4)."""
    return rng.standard_gamma(4.0, (steps, width)) / 4.0
