"""Families that describe the training job."""

from __future__ import annotations

from exporter.catalogue.family import HOSTNAME, Family, Number, Type
from simulator.names import PHASES, STEP_SECONDS_BUCKETS

RUN = ("run",)
RANK = ("run", "rank")
NIC = ("run", HOSTNAME, "device")


def _rank(
    name: str, unit: str, text: str, *extra: str, kind: Type = "gauge", number: Number = "float", series: int = 1
) -> Family:
    return Family(
        name=name, type=kind, unit=unit, help=text, scope="rank", page="node", labels=RANK + extra, number=number,
        series=series,
    )  # fmt: skip


def _node(name: str, unit: str, text: str, labels: tuple[str, ...]) -> Family:
    return Family(name=name, type="counter", unit=unit, help=text, scope="node", page="node", labels=labels)


def _run(
    name: str,
    unit: str,
    text: str,
    *extra: str,
    kind: Type = "counter",
    number: Number = "float",
    lowest: float = 0.0,
    series: int = 1,
) -> Family:
    return Family(
        name=name, type=kind, unit=unit, help=text, scope="run", page="run", labels=RUN + extra, number=number,
        range=(lowest, float("inf")), series=series,
    )  # fmt: skip


RANK_FAMILIES = (
    _rank(
        "training_rank_info", "info", "Always 1: joins a rank to its node and GPU.",
        HOSTNAME, "gpu", "UUID", number="int",
    ),
    _rank(
        "training_phase_seconds_total", "seconds",
        "Time that a rank spent in each phase of the step; the phases together grow by one per second.",
        "phase", kind="counter", series=len(PHASES),
    ),
    _rank(
        "training_collective_seconds_total", "seconds",
        "Time inside collective kernels, overlapped and spinning included.", kind="counter",
    ),
    _rank(
        "training_collective_bytes_total", "bytes",
        "Bytes moved on the bus by collectives, 2(N-1)/N per byte reduced: over the seconds it is bus bandwidth.",
        kind="counter",
    ),
    _rank("training_dataloader_queue_batches", "batches", "Batches ready in the data loader's queue."),
    _rank("training_dataloader_capacity_batches", "batches", "Batches that the data loader's queue can hold."),
)  # fmt: skip

NODE_FAMILIES = (
    _node("training_storage_read_bytes_total", "bytes", "Bytes that a node read from storage.", ("run", HOSTNAME)),
    _node("training_network_transmit_bytes_total", "bytes", "Bytes sent by a network interface.", NIC),
    _node(
        "training_network_pause_frames_total", "", "Priority flow control pause frames received by an interface.", NIC
    ),
    _node("training_network_retransmits_total", "", "Packets sent again by an interface after a loss.", NIC),
)

RUN_FAMILIES = (
    _run(
        "training_run_info", "info", "Always 1: what the run trains and how its FLOPs are counted.",
        "model", "precision", "strategy", "gpu_model", "flops_convention", "source", kind="gauge", number="int",
    ),
    _run("training_steps_total", "", "Steps done.", number="int"),
    _run("training_tokens_total", "", "Tokens trained on.", number="int"),
    _run("training_samples_total", "", "Samples trained on.", number="int"),
    _run("training_model_flops_total", "", "Model FLOPs done, under the convention of training_run_info."),
    _run(
        "training_peak_flops_per_second", "", "Sum over the GPUs of the dense peak at the training precision.",
        kind="gauge",
    ),
    _run(
        "training_step_seconds", "seconds", "Duration of a step.",
        kind="histogram", series=len(STEP_SECONDS_BUCKETS) + 3,
    ),
    _run("training_loss", "", "Loss of the last step; not finite when training has diverged.", kind="gauge",
         lowest=float("-inf")),
    _run("training_grad_norm", "", "Norm of the gradient before clipping, of the last step.", kind="gauge"),
    _run("training_learning_rate", "", "Learning rate of the last step.", kind="gauge"),
    _run("training_loss_scale", "", "Factor on the loss; 1 unless the job trains in FP16.", kind="gauge"),
    _run("training_nonfinite_steps_total", "", "Steps whose loss or gradient was not finite.", number="int"),
    _run("training_skipped_steps_total", "", "Steps whose update was skipped.", number="int"),
    _run("training_checkpoints_total", "", "Checkpoints written.", number="int"),
    _run(
        "training_grad_norm_spikes_total", "", "Steps whose gradient norm passed ten times the running median.",
        number="int",
    ),
    _run(
        "training_last_step_timestamp_seconds", "seconds", "Unix time at which the last step ended.", kind="gauge",
    ),
)  # fmt: skip
