"""NCCL's buffers are too small: a fast link spends its time on starting slices instead of on bytes."""

from __future__ import annotations

from faults.effects import Effects
from faults.kind import Application, Kind, Param

_DEFAULT_BYTES = 4 * 2**20


class NcclSmallBuffer(Kind):
    """The size falls from NCCL's default of 4 MiB, at intensity 0, to `buffer_bytes`, by equal ratios.

    512 KiB make transfers take 1.4 times as long, as in the case study of 64 H100 on 400G RoCE: 1.04 times when mild,
    1.10 when moderate.
    """

    name = "nccl_small_buffer"
    summary = "NCCL_BUFFSIZE is set far too small for the network, as after copying the settings of an older cluster."
    look_at = (
        "Bus bandwidth of large all-reduces below the table for this many nodes while small ones are as fast as ever, "
        "in stepscope nccl-test too. In the job, communication that computing does not hide, on all ranks alike."
    )
    params = (
        Param(
            name="buffer_bytes",
            type="integer",
            default=512 * 2**10,
            unit="bytes",
            description="NCCL_BUFFSIZE at intensity 1; lower intensities lie between it and the default of 4 MiB.",
            minimum=64 * 2**10,
            maximum=2 * 2**20,
        ),
    )
    phases = ("collective",)
    metrics = (
        "training_phase_seconds_total",
        "training_collective_seconds_total",
        "training_step_seconds",
        "training_model_flops_total",
    )
    composition = "The smallest size counts; it multiplies with what else slows transfers down."
    target_modes = ("all",)
    needs = ("network",)

    def apply(self, effects: Effects, application: Application) -> None:
        """Lower the size of the buffers, unless it is lower already."""
        if application.intensity == 0.0:
            return
        ratio = application.number("buffer_bytes") / _DEFAULT_BYTES
        size = _DEFAULT_BYTES * ratio**application.intensity
        effects.nccl_buffer_bytes = min(effects.nccl_buffer_bytes, size)


KIND = NcclSmallBuffer()
