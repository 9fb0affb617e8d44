"""Which alerts every kind of fault must fire, and which it must not: the one table that a new kind has to join.

Each case is a fault on a job, a minute after the job began. What is not in `fires` or `may` must stay silent, in both
sets; the runs are longer than the traditional alerts' `for`, so that it is not the reason of their silence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from faults.kind import ParamValue

SPEED, STRAGGLING, HEAT = "TrainingMfuLow", "TrainingRankStraggling", "GpuThermalThrottle"
INPUT, NETWORK, GRADIENT = "TrainingInputStarved", "TrainingCommunicationExposed", "TrainingGradNormExploding"
STANDSTILL, PAUSES = "TrainingNoProgress", "FabricPauses"
NOT_FINITE, SKIPPED = "TrainingLossNotFinite", "TrainingStepsSkipped"
STALE, CONTRADICTION = "TelemetryStale", "TelemetryContradictory"

BEGINS = 60
"""Seconds after the job's start at which the fault does."""
MINUTE = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One fault and what must come of it."""

    why: str
    """The physics in a few words; the test's name."""
    params: Mapping[str, ParamValue] = field(default_factory=dict)
    intensity: float = 1.0
    preset: str = "workshop-4gpu"
    fires: frozenset[str] = frozenset()
    """Training alerts that must fire..."""
    within: int = MINUTE
    """...and be firing so many seconds after the fault began."""
    may: frozenset[str] = frozenset()
    """Training alerts that may fire or not, depending on the draw."""
    traditional: frozenset[str] = frozenset()
    """Traditional alerts that fire, later, because devices do show this one."""
    culprits: bool = False
    """Whether the straggling alert names the fault's targets; it must name nobody otherwise."""
    lasts: int = 400


def _of(*names: str) -> frozenset[str]:
    return frozenset(names)


EXPECTED: Mapping[str, tuple[Case, ...]] = {
    "none": (Case(why="nothing is nothing", lasts=60),),
    "straggler": (
        Case(why="one rank half as slow again", fires=_of(SPEED, STRAGGLING), culprits=True),
        Case(why="mild: an eighth, which costs less than the MFU alert minds", intensity=0.25,
             fires=_of(STRAGGLING), culprits=True, lasts=120),
        Case(why="on 64 GPUs", preset="honest-64xh100", fires=_of(SPEED, STRAGGLING), culprits=True, lasts=100),
    ),
    "io_starvation": (
        Case(why="tail: another rank late in each step, nobody to name", fires=_of(SPEED, INPUT)),
        Case(why="mild tail: an eighth of a step", intensity=0.25, fires=_of(INPUT), lasts=120),
        Case(why="tail on 64 GPUs, where each rank waits 0.5 % of its time for data", preset="honest-64xh100",
             fires=_of(SPEED, INPUT), lasts=100),
        Case(why="uniform: no kernel runs for a third of the time, and utilization says so", params={"mode": "uniform"},
             fires=_of(SPEED, INPUT), traditional=_of("GpuUtilizationLow")),
        Case(why="node: the only node of this job, so as uniform", params={"mode": "node"},
             fires=_of(SPEED, INPUT), traditional=_of("GpuUtilizationLow")),
        Case(why="mild uniform: utilization falls to 80 %, which nobody calls low", params={"mode": "uniform"},
             intensity=0.25, fires=_of(INPUT), within=100),
    ),
    "gradient_explosion": (
        Case(why="the model is lost and every device is well", fires=_of(GRADIENT), within=20),
    ),
    "thermal_throttle": (
        Case(why="severe: throttled within half a minute; the board goes on to 94 °C, and that is too hot for anyone",
             fires=_of(HEAT, SPEED, STRAGGLING), traditional=_of("GpuTemperatureHigh"), culprits=True),
        Case(why="moderate: cycles below 88 °C", intensity=0.5, fires=_of(HEAT, SPEED, STRAGGLING), within=100,
             culprits=True),
        Case(why="mild: hot, and no more", intensity=0.25, lasts=200),
    ),
    "power_cap": (
        Case(why="severe: a straggler of a quarter", fires=_of(SPEED, STRAGGLING), culprits=True),
        Case(why="moderate: a twelfth", intensity=0.5, fires=_of(STRAGGLING), culprits=True, lasts=120),
    ),
    "network_tail_latency": (
        Case(why="every collective is slow for everybody: nobody to name", preset="honest-64xh100",
             fires=_of(NETWORK), within=120, may=_of(SPEED), lasts=140),
    ),
    "nccl_small_buffer": (
        Case(why="transfers take 1.4 times as long where nothing hides them", preset="anatomy-32gpu",
             fires=_of(NETWORK), within=100, lasts=120),
        Case(why="64 GPUs hide it behind computing, and lose 1.4 %", preset="honest-64xh100", lasts=100),
    ),
    "gdr_disabled": (
        Case(why="twice the transfer time", preset="anatomy-32gpu", fires=_of(NETWORK), lasts=120),
        Case(why="on 64 GPUs, whose computing hides no more than half of that", preset="honest-64xh100",
             fires=_of(NETWORK), within=100, may=_of(SPEED), lasts=120),
    ),
    "nccl_algo": (
        Case(why="31 collectives a step, each with the latency of a ring", preset="anatomy-32gpu",
             fires=_of(NETWORK), within=100, lasts=120),
    ),
    "hang": (
        Case(why="no step ends and every GPU is busy: nothing else is wrong", fires=_of(STANDSTILL)),
        Case(why="stuck on the host: its own GPU idles", params={"where": "host"}, fires=_of(STANDSTILL),
             traditional=_of("GpuUtilizationLow")),
        Case(why="on 64 GPUs, with a step of four seconds", preset="honest-64xh100", fires=_of(STANDSTILL),
             lasts=100),
    ),
    "gpu_lost": (
        Case(why="its readings are gone, and the job waits for its rank", fires=_of(STANDSTILL, STALE)),
        Case(why="one of 32, where the others stay busy", preset="anatomy-32gpu", fires=_of(STANDSTILL, STALE),
             lasts=120),
    ),
    "ecc_error": (
        Case(why="severe: the process is killed, its GPU idles, and the job waits for its rank",
             fires=_of(STANDSTILL), traditional=_of("GpuXidError", "GpuUtilizationLow")),
        Case(why="mild: rows are remapped, and the job runs on", intensity=0.25, traditional=_of("GpuXidError"),
             lasts=120),
    ),
    "telemetry_stale": (
        Case(why="readings stand still, and the job is well", fires=_of(STALE), within=100),
        Case(why="mild: a reading every 75 seconds", intensity=0.25, may=_of(STALE), lasts=200),
    ),
    "prof_fields_zero": (
        Case(why="no profiling field can be read, and the job is well", fires=_of(CONTRADICTION), within=100),
    ),
    "node_unreachable": (
        Case(why="the only node: nothing is known of it, and steps are counted all the same",
             traditional=_of("TargetDown")),
        Case(why="one of four: what is left is as it was", preset="anatomy-32gpu", traditional=_of("TargetDown"),
             lasts=150),
        Case(why="one of eight nodes with long steps", preset="honest-64xh100", traditional=_of("TargetDown"),
             lasts=150),
    ),
    "pfc_storm": (
        Case(why="severe: no collective ends", preset="anatomy-32gpu", fires=_of(PAUSES, STANDSTILL, NETWORK),
             lasts=120),
        Case(why="moderate: collectives spike", preset="anatomy-32gpu", intensity=0.5,
             fires=_of(PAUSES, NETWORK, SPEED), lasts=120),
        Case(why="mild, on 64 GPUs that hide most of it", preset="honest-64xh100", intensity=0.25, fires=_of(PAUSES),
             may=_of(NETWORK, SPEED), lasts=120),
    ),
    "link_degraded": (
        Case(why="one link at a quarter: everybody is slow and nobody to name", preset="anatomy-32gpu",
             fires=_of(NETWORK, SPEED), lasts=120),
        Case(why="mild, on 64 GPUs that hide it", preset="honest-64xh100", intensity=0.25, lasts=100),
    ),
    "dataloader_cpu": (
        Case(why="batches take four times as long as steps, on the only node", fires=_of(SPEED, INPUT),
             traditional=_of("GpuUtilizationLow")),
        Case(why="mild: by nearly half", intensity=0.25, fires=_of(SPEED, INPUT), lasts=120),
        Case(why="on one of 8 nodes: eight GPUs idle, the others spin", preset="honest-64xh100",
             fires=_of(SPEED, INPUT), within=100, lasts=120),
    ),
    "shard_boundary": (
        Case(why="one step in twenty takes more than three", fires=_of(INPUT), within=100),
        Case(why="as in the speed run's log: half a percent, in no mean", lasts=200,
             params={"every_steps": 190, "open_steps": 1.2}),
    ),
    "numa_misaffinity": (
        Case(why="a rank that starts a seventh of a step late", params={"delay_steps": 0.15}, fires=_of(STRAGGLING),
             may=_of(SPEED), culprits=True),
        Case(why="moderate: less than between two healthy chips", intensity=0.5, lasts=200),
    ),
    "gc_pause": (
        Case(why="a quarter, and over a minute all ranks have paused equally", fires=_of(SPEED)),
        Case(why="mild: a sixteenth", intensity=0.25, lasts=200),
    ),
    "checkpoint_stall": (
        Case(why="a quarter of the time, which a single checkpoint does not explain", fires=_of(SPEED), within=170),
        Case(why="mild: 3 steps in 40", intensity=0.25, lasts=200),
    ),
    "sequence_imbalance": (
        Case(why="a fifth, and another rank is the slowest in each step", fires=_of(SPEED), within=100),
        Case(why="on 64 GPUs: in a minute of 20 steps each of them is as slow as chance has it", lasts=300,
             preset="honest-64xh100", fires=_of(SPEED), within=100),
        Case(why="mild: a twentieth", intensity=0.25, lasts=200),
    ),
    "nan_loss": (
        Case(why="the model is lost from one step to the next, and every device is well", within=20,
             fires=_of(NOT_FINITE, GRADIENT)),
        Case(why="mild: some seconds later", intensity=0.25, fires=_of(NOT_FINITE, GRADIENT), lasts=120),
    ),
    "loss_plateau": (
        Case(why="a minute's slope of the loss is far below its noise: the schedule has to be looked at"),
    ),
    "loss_scale_collapse": (
        Case(why="steps take as long as ever and all of them are skipped", preset="fragile-4gpu", fires=_of(SKIPPED)),
        Case(why="moderate: nine steps are skipped, and the scale fits again", preset="fragile-4gpu", intensity=0.5,
             lasts=200),
    ),
}  # fmt: skip
"""By kind. A kind that is not here fails its test."""

BUILT_SO: Mapping[str, frozenset[str]] = {
    "trap-87": _of(NETWORK),
}
"""Alerts of presets that are constructed to be ill; every other preset must be silent."""


def expected(kind: str) -> tuple[Case, ...]:
    """The cases of a kind. AssertionError, saying what to do, when it has none."""
    assert kind in EXPECTED, (
        f"fault kind {kind!r} has no expectation: say in {__name__} which alerts it fires and which stay silent"
    )
    return EXPECTED[kind]
