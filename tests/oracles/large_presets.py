"""The large presets at the rates that were published for such jobs."""

from __future__ import annotations

import numpy as np

from simulator.job import mfu
from simulator.presets import preset
from tests.oracles.oracle import Oracle
from tests.oracles.runs import preset_durations

_LLAMA = "arXiv 2407.21783, table 4: 400 TFLOP/s per GPU on 16,384 H100"
_HONEST = "NVIDIA/Megatron-LM, weak-scaling table on H100 in BF16: MFU 0.41 to 0.49"


def tokens_per_gpu(name: str) -> float:
    """Tokens per second and GPU at the median step."""
    spec = preset(name)
    return float(spec.tokens_per_step / np.median(preset_durations(name, 1)) / spec.ranks)


def tflops_per_gpu(name: str) -> float:
    """Model TFLOP/s per GPU at the median step."""
    return tokens_per_gpu(name) * preset(name).flops_per_token / 1e12


def median_mfu(name: str) -> float:
    """MFU at the median step."""
    spec = preset(name)
    return mfu(
        tokens_per_gpu(name), flops_per_token=spec.flops_per_token, peak_flops_per_second=spec.peak_flops_per_rank
    )


ORACLES = (
    Oracle("llama3-tflops", "llama3-405b-16k, model TFLOP/s per GPU", _LLAMA,
           lambda: tflops_per_gpu("llama3-405b-16k"), low=395.0, high=405.0, unit="TFLOP/s", digits=1),
    Oracle("llama3-mfu", "llama3-405b-16k, MFU at the median step", _LLAMA,
           lambda: median_mfu("llama3-405b-16k"), low=0.395, high=0.415, digits=4),
    Oracle("honest-tokens", "honest-64xh100, tokens/s per GPU", _HONEST,
           lambda: tokens_per_gpu("honest-64xh100"), low=1_000.0, high=1_060.0, unit="tokens/s", digits=1),
    Oracle("honest-mfu", "honest-64xh100, MFU at the median step", _HONEST,
           lambda: median_mfu("honest-64xh100"), low=0.44, high=0.47, digits=4),
)  # fmt: skip
