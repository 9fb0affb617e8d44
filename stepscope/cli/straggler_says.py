"""What a table of the straggler calculator says: each cause alone, at the least size and the largest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stepscope.cli.output import share

_SAME = 5e-4
"""Efficiencies that differ by less read the same."""

_NOTHING = 1e-9

_JITTER, _STALLS, _TALK = ("jitter", "distribution"), ("stall_factor", "stall_rate"), ("communication", "overlap")


def sentence(gpus: Sequence[int], causes: Mapping[str, Any]) -> str:
    """The sentence; `causes` are the arguments of `simulator.straggler.efficiency`, valid for all of `gpus`."""
    told = (tell(gpus, causes) for tell in (_slow, _jitter, _stalls, _talk))
    parts = [part for part in told if part]
    if not parts:
        return "Nothing slows these jobs, so none of them loses anything; try --slowdown 1.1 or --jitter 0.01."
    text = "; ".join(parts)
    return f"{'Each alone: ' if len(parts) > 1 else ''}{text if len(parts) > 1 else text[0].upper() + text[1:]}."


def _slow(gpus: Sequence[int], causes: Mapping[str, Any]) -> str:
    slow = causes["slow_ranks"]
    who = "one rank that takes" if slow == 1 else f"{slow:,} ranks that take"
    costs = _costs(gpus, {"slowdown": causes["slowdown"], "slow_ranks": slow})
    if costs is None:
        return ""
    verb = "costs" if slow == 1 else "cost"
    return f"{who} {causes['slowdown']:g} times as long in every step {verb} {costs[0]}, since all others wait"


def _jitter(gpus: Sequence[int], causes: Mapping[str, Any]) -> str:
    costs = _costs(gpus, {"slow_ranks": 0, **{key: causes[key] for key in _JITTER}})
    if costs is None:
        return ""
    grows = ", growing much more slowly than the job" if costs[1] else ""
    return f"jitter of {100 * causes['jitter']:g} % that each rank has for itself costs {costs[0]}{grows}"


def _stalls(gpus: Sequence[int], causes: Mapping[str, Any]) -> str:
    costs = _costs(gpus, {"slow_ranks": 0, **{key: causes[key] for key in _STALLS}})
    return "" if costs is None else f"stalls of the whole job cost {costs[0]}"


def _talk(gpus: Sequence[int], causes: Mapping[str, Any]) -> str:
    costs = _costs(gpus, {"slow_ranks": 0, **{key: causes[key] for key in _TALK}})
    return "" if costs is None else f"communication that hides behind nothing costs {costs[0]}"


def _costs(gpus: Sequence[int], causes: Mapping[str, Any]) -> tuple[str, bool] | None:
    """Share of the work that is lost, in words, and whether it grows with the job; None when nothing is."""
    from simulator.straggler import efficiency

    small, large = min(gpus), max(gpus)
    low, high = (max(0.0, 1.0 - efficiency(count, **causes).efficiency) for count in (small, large))
    if high < _NOTHING:
        return None
    if small == large:
        return f"{share(high)} of the work at {_gpus(large)}", False
    if high - low < _SAME:
        return f"{share(high)} of the work at every size", False
    return f"{share(low)} of the work at {_gpus(small)} and {share(high)} at {large:,}", True


def _gpus(count: int) -> str:
    return f"{count:,} GPU" if count == 1 else f"{count:,} GPUs"
