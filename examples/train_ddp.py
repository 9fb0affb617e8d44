"""A small transformer trained by PyTorch's DistributedDataParallel on CPUs, seen by stepscope.

    pip install torch && python examples/train_ddp.py --ranks 4

starts four processes on this machine; under torchrun each process is the rank that torchrun says. The two lines that
show the job to `stepscope export` are marked. The other options make it misbehave, for real.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from types import FrameType

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

from stepscope import StepRecorder

VOCABULARY = 64
LEARNING_RATE = 1e-3
RAMP_STEPS = 10
RAMP_FACTOR = 1e3


class Text(Dataset[torch.Tensor]):
    """Synthetic text: each character has a few likely successors, the same for all ranks."""

    def __init__(self, *, length: int, characters: int, seed: int, slow_seconds: float) -> None:
        self._length = length
        self._characters = characters
        self._seed = seed
        self._slow_seconds = slow_seconds
        likely = torch.randn(VOCABULARY, VOCABULARY, generator=torch.Generator().manual_seed(1))
        self._successors = torch.softmax(likely, dim=1)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int) -> torch.Tensor:
        """One sequence and the character that follows it."""
        if self._slow_seconds:
            time.sleep(self._slow_seconds)
        dice = torch.Generator().manual_seed(self._seed * self._length + index)
        text = [int(torch.randint(VOCABULARY, (1,), generator=dice))]
        for _ in range(self._characters):
            text.append(int(torch.multinomial(self._successors[text[-1]], 1, generator=dice)))
        return torch.tensor(text)


class Block(nn.Module):
    """Causal attention and a feed-forward layer."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.before_attention, self.before_feed = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * width, bias=False)
        self.project = nn.Linear(width, width, bias=False)
        self.feed = nn.Sequential(
            nn.Linear(width, 4 * width, bias=False), nn.GELU(), nn.Linear(4 * width, width, bias=False)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(batch, time, width) to the same."""
        query, key, value = self.query_key_value(self.before_attention(x)).chunk(3, dim=-1)
        scores = query @ key.transpose(-2, -1) / x.shape[-1] ** 0.5
        later = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        x = x + self.project(torch.softmax(scores.masked_fill(later, -torch.inf), dim=-1) @ value)
        return x + self.feed(self.before_feed(x))


class LanguageModel(nn.Module):
    """A transformer with one head per layer."""

    def __init__(self, *, width: int, layers: int, characters: int) -> None:
        super().__init__()
        self.characters, self.places = nn.Embedding(VOCABULARY, width), nn.Embedding(characters, width)
        self.blocks = nn.Sequential(*(Block(width) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, VOCABULARY, bias=False)

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        """(batch, time) to logits (batch, time, vocabulary)."""
        places = torch.arange(text.shape[1])
        return self.head(self.norm(self.blocks(self.characters(text) + self.places(places))))


def flops_per_token(*, width: int, layers: int, characters: int) -> float:
    """6 per parameter that is multiplied with (12 width² a layer, and the head), 12·layers·width·characters on top."""
    return 6.0 * (12.0 * layers * width**2 + width * VOCABULARY) + 12.0 * layers * width * characters


def train(args: argparse.Namespace) -> None:
    """One rank of the job, to its end."""
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    shape = {"width": args.width, "layers": args.layers, "characters": args.characters}
    model = DistributedDataParallel(LanguageModel(**shape))
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
    text = Text(
        length=args.steps * args.batch,
        characters=args.characters,
        seed=rank + 1,
        slow_seconds=args.slow_seconds / args.batch if rank == args.slow_loader else 0.0,
    )
    loader = DataLoader(text, batch_size=args.batch, num_workers=args.workers)
    recorder = StepRecorder(  # the first line
        run=args.run,
        model="example",
        precision="fp32",
        strategy="ddp",
        tokens_per_step=ranks * args.batch * args.characters,
        samples_per_step=ranks * args.batch,
        flops_per_token=flops_per_token(**shape),
        flops_convention="6N+12LdT",
        peak_flops_per_second=args.peak_flops,
    )
    model, loader, optimizer = recorder.watch(model, loader, optimizer)  # the second line
    for step, batch in enumerate(loader):
        rate = learning_rate(step, explode_at=args.explode_at)
        optimizer.param_groups[0]["lr"] = rate
        logits = model(batch[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        optimizer.step()
        recorder.log(loss=loss, grad_norm=norm, lr=rate)
        if rank == 0:
            said = {"step": step, "time": time.time(), "loss": loss.item(), "grad_norm": norm.item()}
            print(json.dumps(said), flush=True)
    recorder.close()
    dist.destroy_process_group()


def learning_rate(step: int, *, explode_at: int | None) -> float:
    """Constant; from step `explode_at` on raised a thousandfold over ten steps."""
    if explode_at is None or step < explode_at:
        return LEARNING_RATE
    return LEARNING_RATE * math.pow(RAMP_FACTOR, min(step - explode_at + 1, RAMP_STEPS) / RAMP_STEPS)


def launch(arguments: Sequence[str], ranks: int) -> int:
    """Start a process per rank and wait for all; when one fails, or this one is told to end, end the others."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = str(listener.getsockname()[1])
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": str(ranks)}
    processes = []
    for rank in range(ranks):
        environ = {**os.environ, **shared, "RANK": str(rank), "LOCAL_RANK": str(rank)}
        processes.append(subprocess.Popen([sys.executable, __file__, *arguments], env=environ))
        print(json.dumps({"rank": rank, "pid": processes[-1].pid}), flush=True)

    def end(signum: int, frame: FrameType | None) -> None:
        sys.exit(128 + signum)

    signal.signal(signal.SIGTERM, end)
    try:
        for status in _ends(processes):
            if status:
                return 1
        return 0
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _ends(processes: Sequence[subprocess.Popen[bytes]]) -> Iterator[int]:
    """Exit statuses in the order in which the processes end."""
    left = list(processes)
    while left:
        for process in left:
            if process.poll() is not None:
                yield process.returncode
        left = [process for process in left if process.returncode is None]
        time.sleep(0.1)


def options() -> argparse.ArgumentParser:
    """What can be asked of the job."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", default="example", help="name of the run")
    parser.add_argument("--ranks", type=int, default=4, help="processes to start; not under torchrun")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=4, help="sequences per rank and step")
    parser.add_argument("--characters", type=int, default=64, help="length of a sequence")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--workers", type=int, default=0, help="processes that load data, per rank")
    parser.add_argument("--clip", type=float, default=float("inf"), help="clip gradients to this norm")
    parser.add_argument("--peak-flops", type=float, help="dense peak of one rank's share of the CPU, for MFU")
    parser.add_argument("--slow-loader", type=int, metavar="RANK", help="this rank's data come late")
    parser.add_argument("--slow-seconds", type=float, default=0.2, help="by so much per batch")
    parser.add_argument("--explode-at", type=int, metavar="STEP", help="raise the learning rate until it diverges")
    return parser


if __name__ == "__main__":
    asked = options().parse_args()
    if "RANK" in os.environ:
        train(asked)
    else:
        sys.exit(launch(sys.argv[1:], asked.ranks))
