"""What is being trained, on what, and how: the configuration that the step model is a function of.

Nothing here is simulated; everything is derived from published definitions. FLOPs per token follow the two
conventions in use: `6N + 12·L·d·T` with N counted without embeddings (torchtitan) or with them (PaLM, appendix B).
SI units.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from simulator.gpus import GpuModel

FLOPS_CONVENTIONS = ("torchtitan", "palm")
PRECISIONS = ("bf16", "fp16", "fp8")
STRATEGIES = ("ddp", "fsdp")


@dataclass(frozen=True, slots=True)
class Cluster:
    """Nodes and what connects them."""

    nodes: int
    gpus_per_node: int
    gpu: GpuModel
    nics_per_node: int = 8
    nic_bytes_per_second: float = 50e9
    """Rate of one NIC, one direction (400 Gb/s = 50e9 bytes/s)."""

    @property
    def ranks(self) -> int:
        """Number of GPUs, which is the number of ranks."""
        return self.nodes * self.gpus_per_node


NCCL_ALGORITHMS = ("auto", "ring", "tree")


@dataclass(frozen=True, slots=True)
class Nccl:
    """The NCCL settings that change what a collective costs. They matter between nodes only."""

    algorithm: str = "auto"
    """NCCL_ALGO: `auto` picks what the size and the cluster call for."""
    forced_share: float = 1.0
    """Share of the collectives on which `algorithm` is forced, when it is not `auto`."""
    buffer_bytes: int = 4 * 2**20
    """NCCL_BUFFSIZE."""
    gpudirect: bool = True
    """NCCL_NET_GDR_LEVEL high enough for the NIC to reach GPU memory; without it bytes are staged in host memory."""
    staging_slowdown: float = 2.0
    """Factor that staging puts on the time of a transfer, where GPUDirect is off."""


@dataclass(frozen=True, slots=True)
class Model:
    """A decoder-only transformer."""

    name: str
    parameters: float
    """All parameters, embeddings included."""
    layers: int
    hidden: int
    heads: int
    sequence: int
    """Tokens per sample."""
    vocabulary: int

    @property
    def embedding_parameters(self) -> float:
        """Parameters of the token embedding."""
        return float(self.vocabulary * self.hidden)

    def flops_per_token(self, convention: str, *, frozen: bool = False) -> float:
        """Model FLOPs per token, forward and backward; without weight gradients when `frozen`.

        ValueError for an unknown convention.
        """
        if convention not in FLOPS_CONVENTIONS:
            raise ValueError(f"flops_convention: {convention!r} is not one of {', '.join(FLOPS_CONVENTIONS)}")
        counted = self.parameters - (self.embedding_parameters if convention == "torchtitan" else 0.0)
        return (4.0 if frozen else 6.0) * counted + 12.0 * self.layers * self.hidden * self.sequence


@dataclass(frozen=True, slots=True)
class Training:
    """How the model is trained."""

    micro_batch: int
    """Samples per replica and micro-batch."""
    compute_efficiency: float
    """η: share of the peak (at the running clock) that forward and backward reach."""
    gradient_accumulation: int = 1
    """Micro-batches per step."""
    tensor_parallel: int = 1
    """Ranks that share each layer; what they exchange sits in `compute_efficiency`."""
    pipeline_parallel: int = 1
    """Stages that the layers are cut into."""
    virtual_stages: int = 1
    """Chunks of layers per stage (interleaved schedule); they divide the pipeline bubble."""
    precision: str = "bf16"
    recompute: bool = False
    """Whether the forward pass is computed again during backward (full recompute)."""
    frozen_weights: bool = False
    """Whether only small adapters are trained (LoRA): `4N` FLOPs per token, and FSDP gathers weights but reduces no
    gradients worth counting."""
    strategy: str = "ddp"
    overlap: bool = True
    """Whether collectives run beside compute."""
    backward_ratio: float = 2.0
    """Backward time over forward time, before recompute adds one forward."""
    bucket_bytes: float = 25 * 2**20
    first_bucket_bytes: float = 1 * 2**20
    gradient_bytes_per_parameter: float = 2.0
    optimizer_bytes_per_parameter: float = 28.0
    """Memory traffic of one optimizer step: fp32 master, gradient and two moments read, master and moments written."""
    sharded_optimizer: bool = False
    """Whether each rank updates its own share only; always so under FSDP."""
    flops_convention: str = "torchtitan"
    clip_norm: float | None = 1.0
    """Gradient clipping threshold; None trains without."""
    peak_learning_rate: float = 3e-4
    warmup_steps: int = 2_000
    total_steps: int = 100_000
    start_step: int = 10_000
    """Step of the model at which the run begins: labs do not start at a loss of ln(vocabulary)."""
    checkpoint_every_steps: int = 0
    """0 writes none."""
    checkpoint_seconds: float = 0.0
    """Time that one checkpoint blocks every rank."""
    restart_seconds: float = 40.0
    """Time from stopping the job to its first step again: processes, communicators, checkpoint. Minutes on a large
    cluster; shortened here as the small ones are, so that a room can wait for it."""


@dataclass(frozen=True, slots=True)
class Loader:
    """The data loader of one rank, as PyTorch's works: `workers` prefetch `prefetch_factor` batches each."""

    workers: int
    """0 loads in the training process: every batch is waited for."""
    service_seconds: float
    """Time that one worker takes for one batch."""
    sample_bytes: float
    """Bytes read from storage, and copied to the device, per sample."""
    prefetch_factor: int = 2
    dequeue_seconds: float = 0.0003
    """Host time to take a ready batch."""
    device_prefetch: bool = True
    """Whether the copy to the device is hidden behind the previous step."""

    @property
    def capacity_batches(self) -> int:
        """Batches that can be ready at once."""
        return self.workers * self.prefetch_factor


@dataclass(frozen=True, slots=True)
class Noise:
    """Three kinds of slowness that are no fault, each with its own switch (0 turns it off)."""

    jitter_cv: float = 0.004
    """Coefficient of variation of compute time per rank and step (MLPerf logs: 0.1-1 %)."""
    step_cv: float = 0.0
    """Of compute time per step, the same on every rank: what is left of the jitter of large jobs in the same logs."""
    chip_spread: float = 0.025
    """Fixed half-width of the uniform spread between chips."""
    stall_rate: float = 0.0
    """Share of steps with a stall of the whole job (MLPerf logs: 1 in 80 to 400)."""
    stall_factor_low: float = 1.1
    stall_factor_high: float = 3.4


@dataclass(frozen=True, slots=True)
class JobSpec:
    """One job: everything that a run is a function of, but for its seed and its faults."""

    preset: str
    title: str
    cluster: Cluster
    model: Model
    training: Training
    loader: Loader
    noise: Noise = field(default_factory=Noise)
    nccl: Nccl = field(default_factory=Nccl)
    notes: tuple[str, ...] = ()
    """What a reader must know first; shown as warnings wherever this job's numbers are."""

    def __post_init__(self) -> None:
        for key, value, valid in (
            ("strategy", self.training.strategy, STRATEGIES),
            ("precision", self.training.precision, tuple(self.cluster.gpu.dense_peak_flops)),
            ("nccl.algorithm", self.nccl.algorithm, NCCL_ALGORITHMS),
            ("flops_convention", self.training.flops_convention, FLOPS_CONVENTIONS),
        ):
            if value not in valid:
                raise ValueError(f"{key}: {value!r} is not one of {', '.join(valid)}")
        if self.ranks % self.model_ranks:
            raise ValueError(
                f"tensor_parallel × pipeline_parallel: {self.model_ranks} does not divide the {self.ranks} ranks"
            )

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self.cluster.ranks

    @property
    def model_ranks(self) -> int:
        """Ranks that hold one copy of the model together."""
        return self.training.tensor_parallel * self.training.pipeline_parallel

    @property
    def strategy_label(self) -> str:
        """How the job is spread, in the field's short form: `ddp`, `fsdp`, `zero1-tp8-pp16`."""
        training = self.training
        base = "zero1" if training.sharded_optimizer and training.strategy == "ddp" else training.strategy
        sizes = (("tp", training.tensor_parallel), ("pp", training.pipeline_parallel))
        return "-".join([base, *(f"{name}{size}" for name, size in sizes if size > 1)])

    @property
    def replicas(self) -> int:
        """Data-parallel size: copies of the model that each see their own samples."""
        return self.ranks // self.model_ranks

    @property
    def flops_per_token(self) -> float:
        """Model FLOPs per token."""
        return self.model.flops_per_token(self.training.flops_convention, frozen=self.training.frozen_weights)

    @property
    def flops_label(self) -> str:
        """The convention by which FLOPs are counted, and whether weight gradients are among them."""
        return self.training.flops_convention + (", frozen weights" if self.training.frozen_weights else "")

    @property
    def flops_over_forward(self) -> float:
        """Model FLOPs over those of the forward pass alone: 3, as backward takes twice as many; less when frozen."""
        if not self.training.frozen_weights:
            return 3.0
        attention = 4.0 * self.model.layers * self.model.hidden * self.model.sequence
        return self.flops_per_token / (0.5 * (self.flops_per_token - 3.0 * attention) + attention)

    @property
    def hardware_flops_per_token(self) -> float:
        """Model FLOPs and what recomputation adds: the forward share once more."""
        return self.flops_per_token * (1.0 + 1.0 / self.flops_over_forward if self.training.recompute else 1.0)

    @property
    def peak_flops_per_rank(self) -> float:
        """Dense peak of one GPU at the training precision, FLOP/s."""
        return self.cluster.gpu.dense_peak_flops[self.training.precision]

    @property
    def tokens_per_micro_batch(self) -> int:
        """Tokens that one replica takes through forward and backward at once."""
        return self.training.micro_batch * self.model.sequence

    @property
    def samples_per_step(self) -> int:
        """Global batch in samples."""
        return self.training.micro_batch * self.training.gradient_accumulation * self.replicas

    @property
    def tokens_per_step(self) -> int:
        """Global batch in tokens."""
        return self.samples_per_step * self.model.sequence

    @property
    def batch_bytes(self) -> float:
        """Bytes that one rank's loader delivers per step; ranks of one replica share the work."""
        return self.loader.sample_bytes * self.samples_per_step / self.ranks

    @property
    def overlaps_nodes(self) -> bool:
        """Whether collectives leave a node, so that the network matters."""
        return self.cluster.nodes > 1

    def without_noise(self) -> JobSpec:
        """The same job with every noise switched off."""
        return replace(self, noise=Noise(jitter_cv=0.0, step_cv=0.0, chip_spread=0.0, stall_rate=0.0))


def mfu(tokens_per_second: float, *, flops_per_token: float, peak_flops_per_second: float) -> float:
    """Model FLOPs utilization: achieved model FLOP/s over the dense peak of all GPUs (0-1 when honest)."""
    return tokens_per_second * flops_per_token / peak_flops_per_second


def mfu_warnings(value: float, spec: JobSpec) -> tuple[str, ...]:
    """What is wrong with an MFU that the hardware cannot reach; empty when it is plausible."""
    ceiling = spec.cluster.gpu.matmul_ceiling.get(spec.training.precision, 1.0)
    if value > 1.0:
        return (f"implied MFU {value:.2f} is above 1: the configuration claims more than the dense peak",)
    if value > ceiling:
        return (f"implied MFU {value:.2f} is above the {ceiling:.2f} that the best measured matrix product reaches",)
    return ()
