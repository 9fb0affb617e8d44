"""A diagnosis in words."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from stepscope.cli.output import NOTHING, duration, quantity, share, table

_WIDTH = 100


def report(found: Mapping[str, Any]) -> str:
    """The whole answer: what was looked at, the verdicts, the pipeline."""
    parts = [_about(found), found["sentence"]]
    parts += [_verdict(number, one) for number, one in enumerate(found["verdicts"], start=1)]
    if found["pipeline"]:
        rows = [_stage(number, stage) for number, stage in enumerate(found["pipeline"], start=1)]
        parts.append(table(("", "isolation pipeline", "outcome", "measured", "threshold"), rows, right=">  >>"))
    if found["lost_seconds"]:
        parts.append(_lost(found["lost_seconds"]))
    return "\n\n".join(parts)


def _about(found: Mapping[str, Any]) -> str:
    step = found["step_seconds"]
    text = f"run {found['run']}: {found['steps']:.0f} steps in {duration(found['window_seconds'])}"
    if step is None:
        return f"{text}, none ended{_standing(found)}"
    text += f", {duration(step)} each{_standing(found)}"
    cost = found["cost"]
    if cost is not None and cost["slowdown"] is not None and cost["slowdown"] > 1.0005:
        text += f"; {cost['slowdown']:.2f} times as long as it need be, {share(cost['wasted_share'])} of the GPU-hours"
        text += " bought nothing"
    return text


def _standing(found: Mapping[str, Any]) -> str:
    """That all is lost, where a verdict says so."""
    if any(verdict["cost"]["slowdown"] is None for verdict in found["verdicts"]):
        return "; the job stands still, and everything is lost while it lasts"
    return ""


def _verdict(number: int, one: Mapping[str, Any]) -> str:
    lasts = "chronic" if one["chronic"] else "a single event"
    lines = [f"{number}. {one['summary']}", f"   {one['cause']}, {lasts}, confidence {one['confidence']:.2f}"]
    lines.append(f"   costs {_cost(one['cost'])}")
    lines += [f"   evidence: {_evidence(item)}" for item in one["evidence"] if item["value"] is not None]
    lines += _wrapped("confirm", one["confirm"]) + _wrapped("remedy", one["remedy"])
    return "\n".join(lines)


def _cost(cost: Mapping[str, Any]) -> str:
    if cost["slowdown"] is None:
        text = "everything while it lasts: no step ends"
    elif cost["slowdown"] < 1.0005:
        return "no time"
    else:
        text = f"{duration(cost['seconds_per_step'])} of each step (S = {cost['slowdown']:.2f}),"
        text += f" {quantity(cost['wasted_gpu_hours_per_hour'])} GPU-hours an hour"
    return text + ("" if cost["price_per_hour"] is None else f", {quantity(cost['price_per_hour'])} an hour")


def _evidence(item: Mapping[str, Any]) -> str:
    unit = f" {item['unit']}" if item["unit"] and item["unit"] != "ratio" else ""
    text = f"{item['name']} {quantity(item['value'])}{unit}"
    return text if item["reference"] is None else f"{text}, against {quantity(item['reference'])}{unit}"


def _wrapped(name: str, text: str) -> list[str]:
    return textwrap.wrap(f"{name}: {text}", _WIDTH, initial_indent="   ", subsequent_indent="     ")


def _stage(number: int, stage: Mapping[str, Any]) -> tuple[str, ...]:
    measured = NOTHING if stage["value"] is None else quantity(stage["value"])
    name = f"{stage['name']}: {stage['metric']}"
    return (str(number), name, stage["outcome"], measured, quantity(stage["threshold"]))


def _lost(lost: Mapping[str, float]) -> str:
    worst: Sequence[tuple[str, float]] = sorted(lost.items(), key=lambda item: (-item[1], item[0]))[:8]
    return "costs the others, per step: " + ", ".join(f"rank {rank} {duration(seconds)}" for rank, seconds in worst)
