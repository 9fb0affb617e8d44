"""How much each exported metric can be trusted: where its number comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["derived", "calibrated", "cosmetic"]

MEANING: dict[Kind, str] = {
    "derived": "follows from the simulated steps, or from the process itself, by definition; no constant of its own",
    "calibrated": "rests on constants that were fitted to published measurements",
    "cosmetic": "there so that boards and rules made for real clusters find it; says nothing about the job",
}


@dataclass(frozen=True, slots=True)
class Tag:
    """What kind of number a metric is, and why."""

    kind: Kind
    why: str


def _tags(kind: Kind, prefix: str, whys: dict[str, str]) -> dict[str, Tag]:
    return {prefix + name: Tag(kind, why) for names, why in whys.items() for name in names.split()}


TAGS: dict[str, Tag] = {
    **_tags("derived", "DCGM_FI_DEV_", {
        "GPU_UTIL": "share of the window in which the timeline has any kernel on the GPU",
        "TOTAL_ENERGY_CONSUMPTION": "integral of power",
        "FB_FREE": "total less used less reserved",
        "NVLINK_BANDWIDTH_TOTAL": "both directions of the NVLink bytes below",
        "POWER_VIOLATION THERMAL_VIOLATION": "time that the simulated limit held the clock down",
        "CLOCK_THROTTLE_REASONS": "state of the thermal and power loops",
    }),
    **_tags("calibrated", "DCGM_FI_DEV_", {
        "SM_CLOCK": "healthy clock, the cliff of thermal slowdown and the power curve are those of published boards",
        "GPU_TEMP": "first order in power; resistance and time constant set to published temperatures",
        "MEMORY_TEMP": "GPU temperature plus the distance that AcmeTrace shows",
        "POWER_USAGE": "time average of one published wattage per phase",
    }),
    **_tags("cosmetic", "DCGM_FI_DEV_", {
        "MEM_CLOCK": "fixed per GPU model",
        "MEM_COPY_UTIL": "a fixed multiple of DRAM activity",
        "ENC_UTIL DEC_UTIL": "0: training uses neither",
        "FB_USED": "an estimate from the size of model and optimizer; never moves",
        "FB_RESERVED": "fixed",
        "PCIE_REPLAY_COUNTER XID_ERRORS": "0: no fault sets it",
        "UNCORRECTABLE_REMAPPED_ROWS CORRECTABLE_REMAPPED_ROWS ROW_REMAP_FAILURE": "0: no fault sets it",
    }),
    **_tags("derived", "DCGM_FI_PROF_", {
        "PIPE_TENSOR_ACTIVE": "hardware FLOPs done over peak at the running clock",
        "PCIE_TX_BYTES PCIE_RX_BYTES": "batches copied, and collectives staged in host memory",
        "NVLINK_TX_BYTES NVLINK_RX_BYTES": "bytes of the collectives that stay in the node",
    }),
    **_tags("calibrated", "DCGM_FI_PROF_", {
        "GR_ENGINE_ACTIVE SM_ACTIVE SM_OCCUPANCY DRAM_ACTIVE": "time average of one published ratio per phase",
    }),
    **_tags("cosmetic", "DCGM_FI_PROF_", {
        "PIPE_FP32_ACTIVE": "a plausible ratio per phase, from no measurement",
        "PIPE_FP64_ACTIVE PIPE_FP16_ACTIVE": "0: the jobs use neither outside the tensor cores",
    }),
    **_tags("derived", "training_", {
        "run_info rank_info": "configuration",
        "steps_total tokens_total samples_total": "counts",
        "model_flops_total": "tokens times FLOPs per token under the stated convention",
        "peak_flops_per_second": "data sheet times GPUs",
        "collective_bytes_total": "size of the gradients and the number of ranks",
        "network_transmit_bytes_total": "those bytes that leave the node",
        "storage_read_bytes_total": "batches times their size",
        "dataloader_queue_batches dataloader_capacity_batches": "state of the simulated queue",
        "learning_rate loss_scale": "schedule and rule of the optimizer",
        "nonfinite_steps_total skipped_steps_total checkpoints_total grad_norm_spikes_total": "counts",
        "last_step_timestamp_seconds": "end of the last step",
    }),
    **_tags("calibrated", "training_", {
        "step_seconds phase_seconds_total": "efficiency, collectives, jitter, stalls as published; sums are exact",
        "collective_seconds_total": "fits of published nccl-tests tables, and the wait that the timeline gives",
        "loss": "scaling law of Hoffmann et al., noise of a public log; explodes as in BLOOM's log",
        "grad_norm": "level and noise of a public log; explodes as in BLOOM's log",
    }),
    **_tags("cosmetic", "training_", {
        "network_pause_frames_total network_retransmits_total": "0: the fabric loses nothing",
    }),
    **_tags("derived", "exporter_", {
        "build_info": "the program",
        "source_up last_success_timestamp_seconds": "age of the newest tick",
        "source_errors_total samples_dropped_total collect_skipped_total": "counts of this process",
        "collect_seconds scrape_duration_seconds exposition_bytes": "measured on this process",
        "gpus_expected gpus_present gpu_up": "GPUs of the run",
    }),
    **_tags("derived", "simulator_engine_", {
        "lag_seconds skipped_seconds_total": "wall clock against simulated clock",
    }),
    **_tags("derived", "process_", {
        "virtual_memory_bytes resident_memory_bytes start_time_seconds cpu_seconds_total open_fds max_fds":
            "measured on this process",
    }),
    **_tags("derived", "", {"python_info": "the interpreter"}),
    **_tags("derived", "lab_", {
        "fault_active fault_events_total": "state of the faults that were put",
        "run_info": "preset and seed of the run",
    }),
}  # fmt: skip
