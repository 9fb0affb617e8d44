"""NCCL is told which algorithm to take instead of choosing one by size and cluster."""

from __future__ import annotations

from faults.effects import Effects
from faults.kind import Application, Kind, Param


class NcclAlgo(Kind):
    """Intensity is the share of the collectives on which the algorithm is forced (NCCL_ALGO takes it per function).

    The latency of a ring grows with the ranks, that of a tree with the logarithm of the nodes: 155 µs against the 104
    of NCCL's own choice on 32 H100, 5.1 ms against 0.4 on 1,024 (fits of published nccl-tests tables). Where the forced
    one would be the faster, NCCL takes it by itself, and nothing changes.
    """

    name = "nccl_algo"
    summary = "NCCL_ALGO forces one algorithm on collectives that need another."
    look_at = (
        "Latency of small all-reduces up, the more so the more ranks there are, while large ones keep their bandwidth: "
        "compare both ends of stepscope nccl-test. In the job, collectives of many small buckets take longer."
    )
    params = (
        Param(
            name="algorithm",
            type="string",
            default="ring",
            unit="",
            description="What is forced: ring, whose latency grows with the ranks, or tree.",
            choices=("ring", "tree"),
        ),
    )
    phases = ("collective",)
    metrics = (
        "training_phase_seconds_total",
        "training_collective_seconds_total",
        "training_step_seconds",
        "training_model_flops_total",
    )
    composition = "A ring counts before a tree, and the greatest share of collectives counts."
    target_modes = ("all",)
    needs = ("network",)

    def apply(self, effects: Effects, application: Application) -> None:
        """Force the algorithm on this share of the collectives."""
        if application.intensity == 0.0:
            return
        if application.params["algorithm"] == "ring" or effects.nccl_algorithm == "auto":
            effects.nccl_algorithm = str(application.params["algorithm"])
        effects.nccl_forced_share = max(effects.nccl_forced_share, application.intensity)


KIND = NcclAlgo()
