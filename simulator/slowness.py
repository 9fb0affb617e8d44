"""What can slow the ranks of a synchronous job: the question that the straggler calculator answers."""

from __future__ import annotations

from dataclasses import dataclass

DISTRIBUTIONS = ("normal", "lognormal")
MOST_GPUS = 1_000_000


@dataclass(frozen=True, slots=True)
class Slowness:
    """What slows the ranks of a job. ValueError, naming the key and its range, for a value outside it."""

    slowdown: float = 1.0
    """Persistent factor on the step of the slow ranks, 1 to 100."""
    slow_ranks: int = 1
    """How many ranks are slow, 0 to all."""
    jitter: float = 0.0
    """Spread of a rank from step to step, 0 to 1: standard deviation over the mean (normal), or that of the logarithm
    (lognormal)."""
    distribution: str = "normal"
    """Of the jitter: normal or lognormal."""
    stall_factor: float = 1.0
    """Length of a step in which the whole job stalls, in steps, 1 to 1,000."""
    stall_rate: float = 0.0
    """Share of steps that stall, 0 to 1."""
    communication: float = 0.0
    """Time of a step's collectives over the compute of a healthy rank, 0 to 1; the same at every size above one GPU."""
    overlap: float = 0.0
    """Share of it that hides beside compute, 0 to 1. It always fits, as there is never more of it than compute."""

    def __post_init__(self) -> None:
        for key, low, high in (
            ("slowdown", 1.0, 100.0),
            ("jitter", 0.0, 1.0),
            ("stall_factor", 1.0, 1_000.0),
            ("stall_rate", 0.0, 1.0),
            ("communication", 0.0, 1.0),
            ("overlap", 0.0, 1.0),
        ):
            value = getattr(self, key)
            if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
                raise ValueError(f"{key}: {value!r} is not a number from {low:g} to {high:g}")
        if self.distribution not in DISTRIBUTIONS:
            raise ValueError(f"distribution: {self.distribution!r} is not one of {', '.join(DISTRIBUTIONS)}")

    @property
    def stalled(self) -> float:
        """Mean factor that rare stalls of the whole job put on a step."""
        return 1.0 + self.stall_rate * (self.stall_factor - 1.0)

    @property
    def without_jitter(self) -> float:
        """The slowest rank's step when every step is like the other."""
        return self.slowdown if self.slow_ranks else 1.0

    def exposed(self, gpus: int) -> float:
        """Communication in the open of a job of so many GPUs, over the compute of a healthy rank."""
        return self.communication * (1.0 - self.overlap) if gpus > 1 else 0.0

    def check(self, gpus: int) -> None:
        """ValueError unless this fits a job of `gpus` GPUs, 1 to a million."""
        for key, value, low, high in (("gpus", gpus, 1, MOST_GPUS), ("slow_ranks", self.slow_ranks, 0, gpus)):
            if type(value) is not int or not low <= value <= high:
                raise ValueError(f"{key}: {value!r} is not a whole number from {low:,} to {high:,}")
