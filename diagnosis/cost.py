"""What a slow-down costs: S = T / T_ideal, as the what-if analysis of ByteDance's jobs has it (arXiv 2505.05713)."""

from __future__ import annotations

from diagnosis.verdict import Cost


def cost(lost_seconds: float, *, step_seconds: float, gpus: int, price_per_gpu_hour: float | None = None) -> Cost:
    """The cost of losing so much of each step. A step that never ended (NaN) is lost altogether."""
    if not step_seconds > 0:
        share = 1.0
        slowdown = float("inf")
    else:
        lost = min(max(0.0, lost_seconds), 0.999 * step_seconds)
        slowdown = step_seconds / (step_seconds - lost)
        share = 1.0 - 1.0 / slowdown
    wasted = share * gpus
    price = None if price_per_gpu_hour is None else wasted * price_per_gpu_hour
    return Cost(slowdown, lost_seconds, share, wasted, price)
