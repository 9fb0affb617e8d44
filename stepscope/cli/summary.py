"""The result of a headless run, to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stepscope.cli.output import bar, duration, quantity, share, table

MOST_RANKS = 16
"""Rows of the rank table at most."""


def summary(result: Mapping[str, Any], *, title: str, faults: Sequence[str]) -> str:
    """Everything that `simulate --json` has, in less than a screen for a small job."""
    parts = [
        f"{result['preset']}: {title}",
        f"{result['steps']:,} steps, seed {result['seed']}, {'faults: ' + ' '.join(faults) if faults else 'no fault'}",
        "",
        _headline(result),
        "",
        _phases(result["phases"]),
        "",
        _ranks(result["ranks"]),
        "",
        _learning(result),
        *(f"note: {warning}" for warning in result["warnings"]),
    ]
    return "\n".join(parts)


def _headline(result: Mapping[str, Any]) -> str:
    step, ranks = result["step_seconds"], result["ranks"]
    utilization = sum(rank["gpu_util"] for rank in ranks) / len(ranks)
    rows = [
        ("GPU utilization", f"{utilization:.1f} %", bar(utilization / 100)),
        ("MFU", share(result["mfu"]), bar(result["mfu"])),
        ("HFU", share(result["hfu"]), bar(result["hfu"])),
        ("tokens/s per GPU", quantity(result["tokens_per_second_per_gpu"]), ""),
        ("step", duration(step["mean"]), _spread(step)),
    ]
    return _plain(rows)


def _spread(step: Mapping[str, float]) -> str:
    return f"p50 {duration(step['p50'])}, p99 {duration(step['p99'])}, max {duration(step['max'])}"


def _phases(phases: Mapping[str, float]) -> str:
    rows = [(name, share(value), bar(value)) for name, value in phases.items() if value > 0]
    return "share of wall clock\n" + _plain(rows)


def _ranks(ranks: Sequence[Mapping[str, Any]]) -> str:
    headings = (
        "rank", "util %", "SM active", "occupancy", "tensor", "DRAM", "watts", "°C", "MHz", "compute", "data wait",
        "coll. wait",
    )  # fmt: skip
    rows = [_rank(rank) for rank in ranks[:MOST_RANKS]]
    text = table(headings, rows, right=">" * len(headings), indent="  ")
    if len(ranks) > MOST_RANKS:
        text += f"\n  … and {len(ranks) - MOST_RANKS} more ranks (--json has them all)"
    return "means per rank; times per step\n" + text


def _rank(rank: Mapping[str, Any]) -> tuple[str, ...]:
    phases = rank["phases"]
    return (
        str(rank["rank"]),
        f"{rank['gpu_util']:.1f}",
        *(share(rank[name]) for name in ("sm_active", "sm_occupancy", "tensor_active", "dram_active")),
        f"{rank['power_watts']:.0f}",
        f"{rank['temperature_celsius']:.0f}",
        f"{rank['sm_clock_mhz']:.0f}",
        duration(phases["forward"] + phases["backward"]),
        duration(phases["data_wait"]),
        duration(phases["collective_wait"]),
    )


def _learning(result: Mapping[str, Any]) -> str:
    rows = [("", "last", "max", "at step")]
    for key, name in (("loss", "loss"), ("grad_norm", "gradient norm")):
        values = result[key]
        step = quantity(values["max_step"])
        rows.append((name, quantity(values["last"]), quantity(values["max"]), step))
    return table(rows[0], rows[1:], right=" >>>", indent="  ")


def _plain(rows: Sequence[tuple[str, str, str]]) -> str:
    width = max(len(name) for name, _, _ in rows)
    values = max(len(value) for _, value, _ in rows)
    return "\n".join(f"  {name:<{width}}  {value:>{values}}  {more}".rstrip() for name, value, more in rows)
