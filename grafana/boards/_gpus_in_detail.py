"""The collapsed rows of the GPUs board."""

from __future__ import annotations

from boards_lib import palette
from boards_lib.about import About, Ceiling, Limits
from boards_lib.devices import (
    FREE,
    LABELS,
    NO_GPUS,
    NOT_COLLECTED,
    USED,
    WHICH,
    board,
)
from boards_lib.formulas import MOST_ROWS
from boards_lib.layout import Placed, Row
from boards_lib.lines import lines
from boards_lib.queries import Query
from boards_lib.style import RATIO
from boards_lib.tables import Column, table
from diagnosis import thresholds

EVERY_GPU = table(
    About(
        title="Every GPU",
        question="Which GPU is different from the others?",
        healthy="columns that hold one value.",
        reading="The hottest first; sort by another column with a click.",
        empty=NO_GPUS,
    ),
    tuple(
        Column(
            name=name,
            expr=f"{value} and on ({WHICH}) topk({MOST_ROWS}, {board('DCGM_FI_DEV_GPU_TEMP')})",
            unit=unit,
            decimals=decimals,
            limits=limits,
        )
        for name, value, unit, decimals, limits in (
            (
                "Temperature",
                board("DCGM_FI_DEV_GPU_TEMP"),
                "celsius",
                0,
                Ceiling(high=thresholds.GPU_HOT_CELSIUS),
            ),
            ("Utilization", f"{board('DCGM_FI_DEV_GPU_UTIL')} / 100", RATIO, 0, None),
            (
                "Tensor active",
                board("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"),
                RATIO,
                0,
                Limits(low=thresholds.TENSOR_ACTIVE_LOW, healthy=thresholds.TENSOR_ACTIVE_HEALTHY),
            ),
            ("Power", board("DCGM_FI_DEV_POWER_USAGE"), "watt", 0, None),
            ("SM clock", board("DCGM_FI_DEV_SM_CLOCK"), "suffix: MHz", 0, None),
            ("Memory used", f"{USED} * 1048576", "bytes", 1, None),
            ("Last XID", board("DCGM_FI_DEV_XID_ERRORS"), "none", 0, None),
        )
    ),
    labels=LABELS,
    sort_by="Temperature",
)

MEMORY = lines(
    About(
        title="Device memory in use",
        question="Does the model fit, with room to spare?",
        healthy="flat, and below 100 %.",
        reading="Used over used and free, of the fullest and the emptiest GPU. Sudden growth ends in out of memory.",
        empty=NO_GPUS,
    ),
    (Query(f"max({USED} / ({USED} + {FREE}))", "Fullest"), Query(f"min({USED} / ({USED} + {FREE}))", "Emptiest")),
    unit=RATIO,
    colours={"Fullest": palette.SECOND, "Emptiest": palette.FIRST},
)

MEMORY_CLOCK = lines(
    About(
        title="Clock and temperature of the device memory",
        question="Is the memory of any GPU slow or hot?",
        healthy="flat lines.",
        reading="Memory has limits of its own and may hold a GPU down that is cool elsewhere.",
        empty=NO_GPUS,
    ),
    (
        Query(f"max({board('DCGM_FI_DEV_MEMORY_TEMP')})", "Hottest, °C"),
        Query(f"min({board('DCGM_FI_DEV_MEM_CLOCK')})", "Lowest clock, MHz"),
    ),
    unit="none",
    colours={"Hottest, °C": palette.SECOND, "Lowest clock, MHz": palette.FIRST},
    lowest=0,
)

BUS = lines(
    About(
        title="PCIe and NVLink traffic of one GPU",
        question="Which way do the bytes take?",
        healthy="NVLink busy and PCIe quiet, in a job on several GPUs.",
        reading="Means over the chosen GPUs, seen from the GPU: received over PCIe is host to device.",
        empty=NOT_COLLECTED,
    ),
    (
        Query(f"avg({board('DCGM_FI_PROF_PCIE_RX_BYTES')})", "PCIe received"),
        Query(f"avg({board('DCGM_FI_PROF_PCIE_TX_BYTES')})", "PCIe sent"),
        Query(
            f"avg({board('DCGM_FI_PROF_NVLINK_RX_BYTES')} + {board('DCGM_FI_PROF_NVLINK_TX_BYTES')}"
            f" or 1e6 * {board('DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL')})",
            "NVLink, both ways",
        ),
    ),
    unit="Bps",
    colours={"PCIe received": palette.SECOND, "PCIe sent": palette.NEUTRAL, "NVLink, both ways": palette.FIRST},
    lowest=0,
)

PIPES = lines(
    About(
        title="Other arithmetic pipes",
        question="Does work that belongs on tensor cores run elsewhere?",
        healthy="low, next to tensor activity.",
        reading="A busy FP32 pipe with idle tensor cores is a model in the wrong precision, or kernels that fell back.",
        empty=NOT_COLLECTED,
    ),
    tuple(Query(f"avg({board(f'DCGM_FI_PROF_PIPE_{pipe}_ACTIVE')})", pipe) for pipe in ("FP64", "FP32", "FP16")),
    unit=RATIO,
    colours={"FP64": palette.NEUTRAL, "FP32": palette.SECOND, "FP16": palette.FIRST},
)

ENGINES = lines(
    About(
        title="Copy and video engines",
        question="What else are the GPUs busy with?",
        healthy="video at 0 in training, unless the job decodes its own images.",
        reading="Memory copy is the share of time in which device memory was read or written.",
        empty=NO_GPUS,
    ),
    (
        Query(f"avg({board('DCGM_FI_DEV_MEM_COPY_UTIL')}) / 100", "Memory copy"),
        Query(f"avg({board('DCGM_FI_DEV_DEC_UTIL')}) / 100", "Decoder"),
        Query(f"avg({board('DCGM_FI_DEV_ENC_UTIL')}) / 100", "Encoder"),
    ),
    unit=RATIO,
    colours={"Memory copy": palette.FIRST, "Decoder": palette.SECOND, "Encoder": palette.NEUTRAL},
)

ENERGY = lines(
    About(
        title="Power from the energy counters",
        question="What do the GPUs draw on average, readings between scrapes included?",
        healthy="flat, and the same as the sum of the power readings.",
        reading="A counter misses nothing: where the two differ, power jumps between scrapes.",
        empty=NO_GPUS,
    ),
    (
        Query(f"sum({board('DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION', over='rate')}) / 1000", "From energy"),
        Query(f"sum({board('DCGM_FI_DEV_POWER_USAGE')})", "Sum of the readings"),
    ),
    unit="watt",
    colours={"From energy": palette.FIRST, "Sum of the readings": palette.NEUTRAL},
    lowest=0,
)

ERRORS = table(
    About(
        title="Errors, GPU by GPU",
        question="Has any GPU an error to report?",
        healthy="zeros.",
        reading=(
            "XID is the last code and stays. Rows remapped for uncorrectable errors, or a remapping that failed, are a "
            "reason to replace the GPU; PCIe replays that grow point at a riser or a slot."
        ),
        empty=NO_GPUS,
    ),
    tuple(
        Column(
            name=name,
            expr=f"{board(metric)} and on ({WHICH}) topk({MOST_ROWS}, {board('DCGM_FI_DEV_XID_ERRORS')})",
            unit="none",
            decimals=0,
        )
        for name, metric in (
            ("Last XID", "DCGM_FI_DEV_XID_ERRORS"),
            ("Remapped, uncorrectable", "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS"),
            ("Remapped, correctable", "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS"),
            ("Remapping failed", "DCGM_FI_DEV_ROW_REMAP_FAILURE"),
            ("PCIe replays", "DCGM_FI_DEV_PCIE_REPLAY_COUNTER"),
        )
    ),
    labels=LABELS,
    sort_by="Last XID",
)

DETAILS = (
    Row("GPU by GPU", (Placed(EVERY_GPU, width=24, height=10),)),
    Row(
        "Memory and energy",
        (Placed(MEMORY, width=8, height=7), Placed(MEMORY_CLOCK, width=8, height=7), Placed(ENERGY, width=8, height=7)),
    ),
    Row(
        "Links, pipes and engines",
        (Placed(BUS, width=8, height=7), Placed(PIPES, width=8, height=7), Placed(ENGINES, width=8, height=7)),
    ),
    Row("Errors", (Placed(ERRORS, width=24, height=9),)),
)
