"""The trap in one picture: a headless run of the film, drawn as SVG by `python -m stepscope.picture`.

Two minutes healthy, two with a slow storage tail, then recovered, then one with exploding gradients: utilization and
MFU on one axis above, the gradient norm below. Every point comes from the simulator; nothing is drawn by hand.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path

from faults.book import FaultBook
from faults.parse import parse_fault
from simulator.presets import DEFAULT_PRESET, preset
from simulator.run import Run, topology_of

PICTURE = Path("docs/trap.svg")
SEED = 1
SECONDS = 420
_WIDTH, _LEFT, _RIGHT = 860, 52, 14
_TOP, _HEIGHT = 54, 230
_LOWER, _LOWER_HEIGHT = 322, 84
_BLUE, _ORANGE, _GREY = "#0b5fa5", "#c2510a", "#57606a"


@dataclass(frozen=True, slots=True)
class Scene:
    """One incident of the film, in seconds since the run began."""

    name: str
    title: str
    fault: str
    begin: int
    end: int


SCENES = (
    Scene("starve", "storage tail: one late batch a step", "io_starvation:mode=tail", 120, 240),
    Scene("explode", "gradients explode", "gradient_explosion", 330, 390),
)


def film() -> tuple[list[tuple[float, float, float]], list[int]]:
    """Per second: mean GPU utilization in percent, MFU in percent, gradient norm. And the seconds with a checkpoint."""
    spec = preset(DEFAULT_PRESET)
    run = Run(spec, seed=SEED, run="picture", faults=FaultBook(topology_of(spec), seed=SEED))
    seen, checkpoints, written = [], [], 0
    for second in range(SECONDS):
        for scene in SCENES:
            if second == scene.begin:
                run.faults.put(scene.name, parse_fault(scene.fault), at_seconds=run.seconds, next_step=run.next_step)
            if second == scene.end:
                run.faults.clear(scene.name, at_seconds=run.seconds)
        tick = run.advance()
        if tick.counters.checkpoints > written:
            written = tick.counters.checkpoints
            checkpoints.append(second)
        seen.append((float(tick.devices.gpu_util_percent.mean()), 100.0 * tick.step_mfu, tick.learning.grad_norm))
    return seen, checkpoints


def _x(second: float) -> float:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * second / (SECONDS - 1)


def _line(heights: list[float], colour: str) -> str:
    points = " ".join(f"{_x(second):.1f},{y:.1f}" for second, y in enumerate(heights))
    return f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{points}"/>'


def _text(x: float, y: float, words: str, *, colour: str = _GREY, anchor: str = "start", bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}"{weight}>{words}</text>'


def _axis(y: float, label: str) -> str:
    return f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#d0d7de"/>' + _text(
        _LEFT - 6, y + 4, label, anchor="end"
    )


def draw(seen: list[tuple[float, float, float]], checkpoints: list[int]) -> str:
    """The picture as an SVG document."""
    percent = [_TOP + _HEIGHT * (1 - value / 100) for value in range(0, 101, 25)]
    decades = [_LOWER + _LOWER_HEIGHT * (1 - (power + 1) / 4) for power in (-1, 0, 1, 2, 3)]
    norms = [_LOWER + _LOWER_HEIGHT * (1 - (math.log10(norm) + 1) / 4) for _, _, norm in seen]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} 440" font-family="sans-serif" font-size="12">',
        f"<title>GPU utilization and MFU of a simulated job, {preset(DEFAULT_PRESET).preset}, seed {SEED}</title>",
        f'<rect width="{_WIDTH}" height="440" fill="#ffffff"/>',
        *(
            f'<rect x="{_x(s.begin):.1f}" y="{_TOP}" width="{_x(s.end) - _x(s.begin):.1f}" '
            f'height="{_LOWER + _LOWER_HEIGHT - _TOP}" fill="#f3ead7"/>'
            for s in SCENES
        ),
        *(_text((_x(s.begin) + _x(s.end)) / 2, _TOP - 8, s.title, anchor="middle") for s in SCENES),
        *(_text(_x(second) + 6, _TOP + 70, "a checkpoint") for second in checkpoints),
        *(_axis(y, f"{value} %") for y, value in zip(percent, range(0, 101, 25), strict=True)),
        *(_axis(y, label) for y, label in zip(decades, ("0.1", "1", "10", "100", "1000"), strict=True)),
        _line([_TOP + _HEIGHT * (1 - util / 100) for util, _, _ in seen], _BLUE),
        _line([_TOP + _HEIGHT * (1 - mfu / 100) for _, mfu, _ in seen], _ORANGE),
        _line(norms, _GREY),
        _text(_LEFT, 20, "GPU utilization: what the dashboard says", colour=_BLUE, bold=True),
        _text(_LEFT + 300, 20, "MFU: the work that is done", colour=_ORANGE, bold=True),
        _text(_LEFT, _LOWER - 8, "gradient norm before clipping (log scale)", bold=True),
        *(
            _text(_x(minute * 60), _LOWER + _LOWER_HEIGHT + 18, f"{minute} min", anchor="middle")
            for minute in range(1, SECONDS // 60)
        ),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def main() -> int:
    """Draw the film into docs/trap.svg."""
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(draw(*film()), encoding="utf-8")
    sys.stdout.write(f"{PICTURE}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
