"""Which remedy ends which kind of fault: every pair of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from faults.book import FaultBook
from faults.effects import Effects, Topology
from faults.registry import kinds
from faults.remedy_registry import remedies, remedy
from faults.spec import FaultSpec
from faults.target import Target
from faults.treatment import RemedySpec

TOPOLOGY = Topology(16, 8, True, scales_loss=True, board_watts=700.0, loader_workers=4, loader_prefetch=2)
EVERYWHERE = {"mode": "nodes", "value": [0, 1]}
STARTS = frozenset(name for name, found in remedies().items() if found.restarts)

ENDED_BY: Mapping[str, frozenset[str]] = {
    "checkpoint_stall": frozenset({"async_checkpoints"}),
    "dataloader_cpu": frozenset({"cordon_node"}),
    "ecc_error": frozenset({"cordon_node"}),
    "gc_pause": frozenset({"gc_freeze"}),
    "gdr_disabled": frozenset({"NCCL_NET_GDR_LEVEL"}),
    "gpu_lost": frozenset({"cordon_node"}),
    "gradient_explosion": frozenset({"clip_and_lower_lr"}),
    "hang": STARTS,
    "io_starvation": frozenset({"cache_on_nvme", "prefetch_factor"}),
    "link_degraded": frozenset({"cordon_node", "replace_cable"}),
    "loss_plateau": frozenset({"learning_rate_factor"}),
    "loss_scale_collapse": frozenset({"train_in_bf16"}),
    "nan_loss": frozenset({"skip_nonfinite_steps"}),
    "nccl_algo": frozenset({"NCCL_ALGO"}),
    "nccl_small_buffer": frozenset({"NCCL_BUFFSIZE"}),
    "network_tail_latency": frozenset({"reroute_traffic"}),
    "node_unreachable": frozenset({"cordon_node", "restart_monitoring"}),
    "none": frozenset(),
    "numa_misaffinity": frozenset({"cordon_node", "numa_pin"}),
    "pfc_storm": frozenset({"pfc_headroom"}),
    "power_cap": frozenset({"cordon_node", "power_limit"}),
    "prof_fields_zero": frozenset({"cordon_node", "restart_monitoring"}),
    "sequence_imbalance": frozenset({"balance_sequences"}),
    "shard_boundary": frozenset({"cache_on_nvme", "prefetch_factor"}),
    "straggler": frozenset({"cordon_node"}),
    "telemetry_stale": frozenset({"cordon_node", "restart_monitoring"}),
    "thermal_throttle": frozenset({"clean_filters", "cordon_node"}),
}
"""By kind, at the remedies' default values and applied everywhere. A kind that is not here fails its test."""


def book_with(kind: str, **fields: Any) -> FaultBook:
    book = FaultBook(TOPOLOGY, seed=1, now=lambda: 0.0)
    spec = FaultSpec.from_mapping({"kind": kind, "open_ended": True, **fields})
    book.put("ill", spec, at_seconds=0.0, next_step=0)
    return book


def wanted(name: str, **fields: Any) -> RemedySpec:
    """The remedy, everywhere unless it says where."""
    target = {"target": EVERYWHERE} if remedy(name).target_modes[0] == "nodes" else {}
    return RemedySpec.from_mapping({"remedy": name} | target | fields)


def ends(book: FaultBook, name: str, **fields: Any) -> bool:
    _, ended = book.treat(wanted(name, **fields), at_seconds=1.0, next_step=5, restart_seconds=40.0)
    assert (book.get("ill").told == "cleared") == (ended == ["ill"])
    return ended == ["ill"]


@pytest.mark.parametrize("name", list(remedies()))
@pytest.mark.parametrize("kind", list(kinds()))
def test_the_right_one_ends_its_cause_and_no_other(kind: str, name: str) -> None:
    assert kind in ENDED_BY, f"say in {__name__} which remedies end {kind}"
    assert ends(book_with(kind), name) == (name in ENDED_BY[kind])


@pytest.mark.parametrize("kind", list(kinds()))
def test_what_begins_after_a_remedy_is_not_treated(kind: str) -> None:
    spoiled = book_with(kind).effects(1.0)
    for name in ENDED_BY[kind]:
        book = FaultBook(TOPOLOGY, seed=1, now=lambda: 0.0)
        book.treat(wanted(name), at_seconds=0.0, next_step=0, restart_seconds=40.0)
        spec = FaultSpec.from_mapping({"kind": kind, "open_ended": True})
        book.put("ill", spec, at_seconds=0.0, next_step=0)
        if name in ("NCCL_BUFFSIZE", "prefetch_factor", "num_workers", "clip_and_lower_lr"):
            assert not book.effects(1.0).same_as(Effects.neutral(TOPOLOGY))
        else:
            assert book.effects(1.0).same_as(spoiled), name


def test_what_is_still_to_come_is_not_ended() -> None:
    book = book_with("straggler", start_after_seconds=10)
    assert not ends(book, "cordon_node")
    book.advance(11.0, 50)
    assert book.effects(11.0).compute_slowdown.max() > 1.0


def test_only_where_it_is_applied() -> None:
    book = book_with("straggler", target={"mode": "ranks", "value": [2, 9]})
    assert not ends(book, "cordon_node", target={"mode": "nodes", "value": [0]})
    assert np.flatnonzero(book.effects(2.0).compute_slowdown > 1.0).tolist() == [9]
    assert ends(book, "cordon_node", target={"mode": "nodes", "value": [1]})


@pytest.mark.parametrize(
    ("kind", "name", "value", "place"),
    [
        ("nccl_algo", "NCCL_ALGO", "ring", "nccl_algorithm"),
        ("nccl_small_buffer", "NCCL_BUFFSIZE", 65_536, "nccl_buffer_bytes"),
        ("power_cap", "power_limit", 300.0, "power_limit_watts"),
        ("loss_plateau", "learning_rate_factor", 0.01, "learning_rate_factor"),
    ],
)
def test_a_wrong_setting_takes_the_place_of_the_wrong_setting(kind: str, name: str, value: object, place: str) -> None:
    book = book_with(kind)
    assert ends(book, name, value=value), "what was set before is gone"
    assert np.all(getattr(book.effects(2.0), place) == value), "and this is no better"


@pytest.mark.parametrize(
    ("kind", "name", "too_little"),
    [
        ("gdr_disabled", "NCCL_NET_GDR_LEVEL", 2),
        ("io_starvation", "prefetch_factor", 2),
        ("gradient_explosion", "clip_and_lower_lr", 0.9),
        ("dataloader_cpu", "num_workers", 4),
    ],
)
def test_the_wrong_value_does_not_end_it(kind: str, name: str, too_little: object) -> None:
    assert not ends(book_with(kind), name, value=too_little)


def test_a_wrong_value_does_what_it_does_to_a_healthy_job() -> None:
    book = FaultBook(TOPOLOGY, seed=1, now=lambda: 0.0)
    for name, value in (("NCCL_BUFFSIZE", 65_536), ("NCCL_NET_GDR_LEVEL", 0), ("power_limit", 400.0)):
        book.treat(wanted(name, value=value), at_seconds=0.0, next_step=0, restart_seconds=40.0)
    effects = book.effects(1.0)
    assert effects.nccl_buffer_bytes == 65_536
    assert effects.staged_share.tolist() == [1.0] * 16
    assert effects.power_limit_watts.tolist() == [400.0] * 16


def test_more_workers_help_by_how_many_more_they_are() -> None:
    book = book_with("dataloader_cpu")
    slow = book.effects(1.0).worker_slowdown.max()
    assert not ends(book, "num_workers", value=8)
    assert book.effects(2.0).worker_slowdown.max() == pytest.approx(slow / 2)


def test_a_start_brings_no_lost_gpu_back() -> None:
    book = book_with("gpu_lost", target={"mode": "ranks", "value": [3]})
    assert not ends(book, "restart_job")
    assert book.effects(2.0).missing.tolist() == [rank == 3 for rank in range(16)]


def test_targets_are_those_of_the_cluster() -> None:
    assert wanted("cordon_node").target == Target("nodes", (0, 1))
