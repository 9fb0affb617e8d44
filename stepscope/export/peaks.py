"""Dense peaks of the GPU products that the lab knows, for training jobs that do not say theirs."""

from __future__ import annotations

import re

from simulator.gpus import GPUS

_PRODUCTS = {gpu.product.lower(): gpu for gpu in GPUS.values()}
_SPELLINGS = {"bfloat16": "bf16", "float16": "fp16", "half": "fp16", "16": "fp16", "float8": "fp8"}
"""Of PyTorch and Lightning, to those of the products."""
_AROUND = re.compile(r"^torch\.|-(mixed|true)$")
"""What they put around it: whether weights are kept in it does not change what the tensor cores can do."""


def peak_flops_per_second(product: str, precision: str) -> float | None:
    """Dense peak of a product, as NVML names it, at a precision; None for a product or precision that is not known.

    A name must be the whole name: variants of a product differ in their peaks by half. A precision may be spelled as
    PyTorch and Lightning do: `torch.bfloat16` and `bf16-mixed` are `bf16`.
    """
    gpu = _PRODUCTS.get(" ".join(product.lower().split()))
    spelled = _AROUND.sub("", precision.lower())
    return gpu.dense_peak_flops.get(_SPELLINGS.get(spelled, spelled)) if gpu is not None else None
