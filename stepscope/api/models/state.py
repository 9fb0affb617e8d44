"""What runs, how it does, and what its last step looked like."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from stepscope.api.models.base import Count, Moment, Name, NonNegative, PhaseValues, Shape, Share

Percent = Annotated[float, Field(ge=0, le=100)]


class RunView(Shape):
    """What does not change while a run lasts."""

    run: Name
    """Label of the run on every training series."""
    preset: Name
    seed: Count
    model: Name
    precision: Name
    strategy: Name
    flops_convention: Name
    """How model FLOPs are counted; every MFU is under this convention."""
    gpu_model: Name
    ranks: Count
    nodes: Count
    gpus_per_node: Count
    tokens_per_step: Count
    peak_flops_per_second: NonNegative
    """Sum over all GPUs of the dense peak at the training precision."""
    warnings: list[str]
    """What to know before believing this preset's numbers."""


class Position(Shape):
    """How far a run has come."""

    tick: Count
    """Index of the last finished second of the run, from 0."""
    seconds: NonNegative
    """Simulated seconds since the run began."""
    time: Moment
    step: Count
    """Steps done."""
    next_step: Count
    """First step that a change made now can still affect."""
    lag_seconds: NonNegative
    """How far the run is behind the wall clock."""
    skipped_seconds: NonNegative
    """Wall-clock time that was given up because the lab could not keep up, or the machine slept."""
    last_event: Count
    """`seq` of the newest entry of the event log: as long as it stays, no fault has changed. 0 during an exam."""
    truth_hidden: bool
    """Whether an exam keeps faults, events, remedies and diagnosis behind the token."""
    failure: str | None
    """Why the run stands still; null while it goes on."""


class Gauges(Shape):
    """The run as a whole over some span of time; device readings are means over all GPUs."""

    gpu_util_percent: Percent
    """Share of time with any kernel running: what most dashboards call utilization."""
    mfu: Share
    """Model FLOPs utilization: useful FLOP/s over the peak."""
    hfu: Share
    """As MFU, recomputation counted as useful."""
    tokens_per_second: NonNegative
    tokens_per_second_per_gpu: NonNegative
    step_seconds: NonNegative
    """Mean duration of a step."""
    phases: PhaseValues
    """Share of the time in each phase, mean over ranks; they add up to 1."""


class LastTick(Gauges):
    """The last second: device readings over that second, the rest over the steps that ended in it."""

    sm_active: Share
    sm_occupancy: Share
    tensor_active: Share
    dram_active: Share
    power_watts: NonNegative
    """Mean per GPU."""
    temperature_celsius: float


class Window(Gauges):
    """The last minute, from differences of the counters that Prometheus reads too."""

    span_seconds: NonNegative
    """How much of the minute there is: less than 60 early in a run."""


class LearningView(Shape):
    """The last step's learning values. Where one is NaN or infinite, JSON has no word for it: it is null."""

    loss: float | None
    """Null when it is not finite."""
    loss_finite: bool
    grad_norm: float | None
    """Before clipping; null when it is not finite."""
    grad_norm_finite: bool
    learning_rate: NonNegative
    loss_scale: NonNegative


class RankState(Shape):
    """One GPU in the last second."""

    rank: Count
    hostname: Name
    gpu: Count
    gpu_util_percent: Percent
    sm_active: Share
    sm_occupancy: Share
    tensor_active: Share
    dram_active: Share
    power_watts: NonNegative
    temperature_celsius: float
    sm_clock_mhz: NonNegative
    queue_batches: NonNegative
    """Batches ready in the data loader."""
    phases: PhaseValues
    """Seconds of the last finished step."""


class StateView(Shape):
    """The last tick of the run."""

    run: RunView
    position: Position
    last_tick: LastTick
    last_minute: Window | None
    """Null until the run has two finished ticks."""
    reference: Gauges | None
    """The same job without any fault; null where nobody measured it."""
    learning: LearningView
    ranks_total: Count
    ranks: list[RankState]
    """`limit` ranks from `first_rank` on."""


class RankTimeline(Shape):
    """The phases of one rank in one step."""

    rank: Count
    starts: PhaseValues
    """Seconds after the step began at which each phase starts."""
    seconds: PhaseValues
    """How long each lasts; they add up to the step."""


class BucketView(Shape):
    """One collective of a step, or neighbours shown as one. Seconds after the step began."""

    first: Count
    """Index of the first of them, in the order in which they leave."""
    count: Annotated[int, Field(ge=1)]
    ready_seconds: NonNegative
    """When the last rank has the first of them ready."""
    start_seconds: NonNegative
    end_seconds: NonNegative
    busy_seconds: NonNegative
    """Time of their transfers; what is left between start and end is waiting for the next to be ready."""


class CollectivesView(Shape):
    """What ranks tell each other in one step."""

    kind: Literal["all-reduce", "gather-scatter"]
    """Of gradient buckets; or of layers, whose weights are sharded."""
    mode: Literal["overlapped", "after", "beside", "none"]
    """`overlapped`: each leaves during backward; `after`: all follow backward; `beside`: beside forward and backward,
    where the model knows their sum and not their turns; `none`: there is nobody to talk to."""
    count: Count
    busy_seconds: NonNegative
    """Time of all transfers together."""
    barrier_seconds: NonNegative
    """When the last rank arrives."""
    bubble_seconds: NonNegative
    """What a pipeline has on top in the phase `collective_wait`; times of buckets are without it."""
    buckets: Annotated[list[BucketView], Field(max_length=64)]


class BandView(Shape):
    """Where 90 % of the ranks are, for jobs with more of them than anybody can look at."""

    early: PhaseValues
    """Ends of each phase that 5 % of the ranks are ahead of, seconds after the step began."""
    late: PhaseValues
    """Ends of each phase that 95 % of the ranks have reached."""


class StepView(Shape):
    """The timeline of the last finished step, or of the same step with nothing wrong."""

    healthy: bool
    """Whether it is the step as it would have been without any fault: same seed, same jitter."""

    run: Name
    step: Count
    start_seconds: NonNegative
    """Seconds since the run began."""
    duration_seconds: NonNegative
    slowest_rank: Count
    """The rank that the others waited for."""
    slowest: RankTimeline
    fastest: RankTimeline
    """The rank that was at the barrier first."""
    band: BandView
    collectives: CollectivesView | None
    """Null where nobody modelled them."""
    ranks_total: Count
    ranks: list[RankTimeline]
    """`limit` ranks from `first_rank` on."""


class HistoryView(Shape):
    """The last minutes, one value per tick, oldest first; all columns have the same length."""

    run: Name
    time: list[float]
    """Unix time of each tick."""
    gpu_util_percent: list[Percent]
    mfu: list[Share]
    step_seconds: list[NonNegative]
    data_wait: list[Share]
    """Share of the second, mean over ranks."""
    communication: list[Share]
    """Likewise: waiting in collectives, and their transfers in the open."""
    loss: list[float | None]
    """Null where it was not finite."""
    grad_norm: list[float | None]
    """Null where it was not finite."""


class TraceEvent(Shape):
    """One event in the form that Chrome's tracing and Perfetto read."""

    name: Name
    cat: str | None = None
    ph: Literal["X", "M", "i"]
    """X: lasts; M: names a process or thread; i: a moment."""
    ts: NonNegative | None = None
    """Microseconds after the step began."""
    dur: NonNegative | None = None
    """Microseconds."""
    pid: Count
    tid: Count
    s: Literal["g"] | None = None
    args: dict[str, str | int | float] | None = None


class TraceView(Shape):
    """A step as a file for ui.perfetto.dev or chrome://tracing."""

    traceEvents: list[TraceEvent]
    displayTimeUnit: Literal["ms"]
    otherData: dict[str, str]
    """What it is of."""
