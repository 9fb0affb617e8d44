"""Every oracle, by subject."""

from __future__ import annotations

from dataclasses import dataclass

from tests.oracles import (
    collectives,
    devices,
    explosion,
    fleet,
    jitter,
    large_presets,
    published_mfu,
    scaling,
    slowness,
    thermal,
)
from tests.oracles.oracle import Oracle


@dataclass(frozen=True, slots=True)
class Subject:
    """Oracles that belong together."""

    title: str
    oracles: tuple[Oracle, ...]
    left_out: str = ""
    """Published data on the subject that is no oracle, and why."""


SUBJECTS = (
    Subject(
        "All-reduce", collectives.ORACLES,
        "Not judged: two nodes below 1 MiB, where the latencies of published fabrics differ by more than one curve can "
        "follow (the model says 92 µs, one of them 70 µs), and single points inside a node below 16 MiB, where NCCL "
        "switches protocols.",
    ),
    Subject("Straggler calculator", slowness.ORACLES),
    Subject(
        "MFU of published runs", published_mfu.ORACLES,
        "Some of the published percentages are rounded to whole points, so MFU from tokens is compared with FLOP/s per "
        "GPU over the peak. MegaScale and BLOOM published both sides; of Llama 3's rows the tokens per second, of the "
        "two others the FLOP/s were derived, so there only the reading of the formula is tested. Not judged: Llama 3 "
        "at 131,072 tokens, where a causal mask makes the count ambiguous, and the row of 768 GPUs in MegaScale's "
        "table 2, whose FLOPs per token are 0.9 % off all others.",
    ),
    Subject(
        "Scaling", scaling.ORACLES,
        "The page of the fixed-batch curve does not state model size and sequence length; 1.2B and 2,048 are assumed, "
        "and the efficiency is set to meet its first point.",
    ),
    Subject("Large presets", large_presets.ORACLES),
    Subject("Noise of the step time", jitter.ORACLES),
    Subject(
        "Waiting in a collective", devices.ORACLES,
        "Not judged: power logs of systems without a run on one node to compare with.",
    ),
    Subject("Gradient explosion", explosion.ORACLES),
    Subject("A fleet", fleet.ORACLES),
    Subject("Heat", thermal.ORACLES),
)  # fmt: skip

ORACLES = tuple(oracle for subject in SUBJECTS for oracle in subject.oracles)
