"""Dense peaks of the GPU products that the lab knows, for training jobs that do not say theirs."""

from __future__ import annotations

from simulator.gpus import GPUS

_PRODUCTS = {gpu.product.lower(): gpu for gpu in GPUS.values()}


def peak_flops_per_second(product: str, precision: str) -> float | None:
    """Dense peak of a product, as NVML names it, at a precision; None for a product or precision that is not known.

    A name must be the whole name: variants of a product differ in their peaks by half.
    """
    gpu = _PRODUCTS.get(" ".join(product.lower().split()))
    return gpu.dense_peak_flops.get(precision.lower()) if gpu is not None else None
