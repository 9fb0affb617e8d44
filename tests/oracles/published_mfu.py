"""MFU of published runs, from their tokens per second."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from simulator.gpus import A100_SXM, H100_SXM
from simulator.job import Model, mfu
from tests.oracles.oracle import Oracle, rows


@dataclass(frozen=True, slots=True)
class Published:
    """A system, what it trained, and how its authors count FLOPs."""

    model: Model
    convention: str
    """`torchtitan` or `palm` as in simulator.job; `causal` counts the half of attention that a causal mask leaves."""
    recompute: bool = False
    """Whether the published figure is HFU under full recompute."""


SYSTEMS = {
    "Meta Llama 3": Published(  # arXiv 2407.21783, table 3
        Model("Llama 3.1 405B", 405.85e9, layers=126, hidden=16_384, heads=128, sequence=8_192, vocabulary=128_256),
        "palm",
    ),
    "torchtitan FSDP": Published(  # arXiv 2407.21783, table 3; N without the token embedding
        Model("Llama 3.1 8B", 8.03e9, layers=32, hidden=4_096, heads=32, sequence=8_192, vocabulary=128_256),
        "torchtitan",
    ),
    "MegaScale": Published(  # arXiv 2402.15627, table 1
        Model("GPT 175B", 175e9, layers=96, hidden=12_288, heads=128, sequence=2_048, vocabulary=64_000),
        "causal",
    ),
    "BigScience BLOOM": Published(  # arXiv 2211.05100, table 3
        Model("BLOOM 176B", 176.25e9, layers=70, hidden=14_336, heads=112, sequence=2_048, vocabulary=250_880),
        "palm",
        recompute=True,
    ),
    "llm.c": Published(  # openai/gpt-2; tied embeddings
        Model("GPT-2 124M", 124.44e6, layers=12, hidden=768, heads=12, sequence=1_024, vocabulary=50_257),
        "palm",
    ),
}
_INCONSISTENT = {("MegaScale", "768")}
"""Its FLOPs per token are 0.9 % off all other rows of its own table, which agree with each other to 0.2 %."""


def flops_per_token(published: Published) -> float:
    """Model FLOPs per token as the authors count them, with what recomputation adds where they count that too."""
    model = published.model
    if published.convention == "causal":
        return model.flops_per_token("palm") - 6.0 * model.layers * model.hidden * model.sequence
    return model.flops_per_token(published.convention) * (4.0 / 3.0 if published.recompute else 1.0)


def largest_error(system: str) -> float:
    """Points of MFU between tokens per second and the published FLOP/s, over all rows of one system."""
    published = SYSTEMS[system]
    errors = []
    for row in rows("mfu_points.csv"):
        if row["system"] != system or (system, row["gpus"]) in _INCONSISTENT:
            continue
        gpu = A100_SXM if row["gpu"].startswith("A100") else H100_SXM
        peak = gpu.dense_peak_flops["bf16"]
        ours = mfu(
            float(row["tokens_per_s_per_gpu"]),
            flops_per_token=flops_per_token(published),
            peak_flops_per_second=peak,
        )
        errors.append(abs(ours - float(row["tflops_per_gpu"]) * 1e12 / peak) * 100.0)
    return max(errors)


_NOTES = {
    "Meta Llama 3": "arXiv 2407.21783, table 4, 8,192 tokens: 6N + 12LdT. Its 43 and 41 % are rounded",
    "torchtitan FSDP": "pytorch/torchtitan, llama3_h100_202412: 6N + 12LdT without the embedding",
    "MegaScale": "arXiv 2402.15627, table 2: 6N + 6LdT (causal half of attention); without its row of 768 GPUs",
    "BigScience BLOOM": "bigscience-workshop chronicles: HFU, 4/3 of 6N + 12LdT",
    "llm.c": "karpathy, llm.c: 6N + 12LdT",
}


def _oracle(system: str, note: str) -> Oracle:
    model = SYSTEMS[system].model.name
    return Oracle(
        f"mfu-{model.lower().replace(' ', '-')}",
        f"MFU from tokens/s, {model}: largest error",
        note,
        partial(largest_error, system),
        high=0.2,
        unit="points",
    )


ORACLES = tuple(_oracle(system, note) for system, note in _NOTES.items())
