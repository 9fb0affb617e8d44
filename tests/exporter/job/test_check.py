"""What is believed of a datagram, and why the rest is not."""

from __future__ import annotations

import json
import math

import pytest

from exporter.sources.job.check import CHECK_REASONS, SKEW_SECONDS, check
from exporter.sources.job.fields import Refused
from exporter.sources.job.report import JOB_PHASES, GpuClaim, Report
from exporter.sources.job.wire import MAX_BYTES
from simulator.names import PHASES
from tests.exporter.job.reports import NOW, datagram, fields, gpu_uuid, report


def refusal(body: bytes) -> str:
    """The reason for which it is refused."""
    with pytest.raises(Refused) as refused:
        check(body, now=NOW)
    assert refused.value.reason in CHECK_REASONS
    assert len(refused.value.detail) < 200, "the sender's text must not fill the log"
    return refused.value.reason


def test_a_whole_report_is_believed_as_it_is() -> None:
    found = report()
    assert (found.run, found.rank, found.world_size, found.session, found.seq) == ("night", 2, 8, "5e55", 60)
    assert found.gpu == GpuClaim(
        uuid=gpu_uuid(2), visible_devices="0,1,2,3", device_index=2, name="NVIDIA H100 80GB HBM3"
    )
    assert found.phases == dict.fromkeys(JOB_PHASES, 7.5)
    assert (found.step_seconds_sum, sum(found.step_seconds_counts)) == (58.5, 20)
    assert (found.steps, found.tokens, found.samples, found.model_flops) == (20, 40_960, 160, 1.5e15)
    assert not found.final


def test_only_identity_is_needed_and_what_is_missing_is_unknown() -> None:
    needed = ("v", "run", "rank", "world_size", "session", "started", "time", "seq")
    least = check(json.dumps({key: fields()[key] for key in needed}).encode(), now=NOW)
    assert least.phases == {}
    assert least.gpu == GpuClaim()
    assert least.step_seconds_counts == ()
    unknown = [getattr(least, name) for name in Report.__slots__ if getattr(least, name) is None]
    assert len(unknown) == 19
    for key in needed:
        assert refusal(datagram(**{key: ...})) == "missing"
        assert refusal(datagram(**{key: None})) == "missing"


@pytest.mark.parametrize(
    "key", sorted(set(fields()) - {"v", "run", "rank", "world_size", "session", "started", "time"})
)
def test_null_is_a_missing_value(key: str) -> None:
    if key == "seq":
        assert refusal(datagram(seq=None)) == "missing"
    else:
        assert check(datagram(**{key: None}), now=NOW) == check(datagram(**{key: ...}), now=NOW)


@pytest.mark.parametrize("key", sorted(fields()))
@pytest.mark.parametrize("value", [True, "7", "x", [], [1], {"a": 1}, {}], ids=repr)
def test_values_of_another_type_are_refused(key: str, value: object) -> None:
    texts = {"run", "session", "model", "precision", "strategy", "flops_convention"}
    fine = (key, value) in (("final", True), ("gpu", {"a": 1}), ("gpu", {}), ("phases", {}))
    if fine or (key in texts and isinstance(value, str)):
        assert isinstance(check(datagram(**{key: value}), now=NOW), Report)
    else:
        assert refusal(datagram(**{key: value})) in {"type", "phase", "missing"}


NUMBERS = sorted(
    key for key, value in fields().items() if isinstance(value, (int, float)) and key not in {"v", "final", "time"}
)


@pytest.mark.parametrize("key", sorted(set(NUMBERS) - {"loss", "grad_norm", "learning_rate", "loss_scale"}))
@pytest.mark.parametrize("value", ["-1", "-0.5", "1e308", "1e999", "9" * 400, "-1e999"])
def test_numbers_out_of_range_are_refused(key: str, value: str) -> None:
    body = json.dumps(fields(**{key: "@"})).replace('"@"', value).encode()
    assert refusal(body) in {"range", "type", "time"}


@pytest.mark.parametrize("key", ["loss", "grad_norm", "learning_rate", "loss_scale"])
def test_learning_may_be_any_number_and_say_that_it_is_none(key: str) -> None:
    for written, meant in (("NaN", math.nan), ("+Inf", math.inf), ("-Inf", -math.inf), (-1e308, -1e308), (7, 7.0)):
        found = getattr(report(**{key: written}), key)
        assert repr(found) == repr(meant)
    for written in ("nan", "Inf", "Infinity", "1.0"):
        assert refusal(datagram(**{key: written})) == "type"
    for literal in ("1e999", "9" * 400):
        assert refusal(json.dumps(fields(**{key: "@"})).replace('"@"', literal).encode()) == "range"


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity"])
def test_literals_that_json_does_not_have_are_refused(literal: str) -> None:
    assert refusal(json.dumps(fields(loss="@")).replace('"@"', literal).encode()) == "json"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "json"),
        (b"{", "json"),
        (b"null", "type"),
        (b"[]", "type"),
        (b"7", "type"),
        (b"\xff\xfe{}", "encoding"),
        (datagram().replace(b"night", b"ni\xe9ht"), "encoding"),
        (b"\xef\xbb\xbf" + datagram(), "json"),
        (datagram() + b"\x00", "json"),
        (datagram() + datagram(), "json"),
        (b'{"v": 1, "v": 1, ' + datagram()[1:], "json"),
        (datagram().replace(b'"sum"', b'"sum": 1, "sum"'), "json"),
        (b"[" * (MAX_BYTES - 1), "json"),
        (b'{"a":' * 2000, "json"),
        (datagram(more="x" * MAX_BYTES), "too_long"),
        (b'{"v": ' + b"9" * 10_000 + b"}", "json"),
        (b'{"v": ' + b"9" * 1000 + b"}", "range"),
    ],
    ids=lambda value: value[:24] if isinstance(value, bytes) else value,
)
def test_what_is_no_object_of_json(body: bytes, reason: str) -> None:
    assert refusal(body) == reason


def test_another_version_says_so_and_unknown_keys_are_ignored() -> None:
    assert refusal(datagram(v=2)) == "version"
    assert refusal(datagram(v=0)) == "version"
    assert report(hobby=[{"deep": [1, 2]}], zeta=None) == report()
    assert report(gpu={"uuid": gpu_uuid(2), "colour": "green"}).gpu == GpuClaim(uuid=gpu_uuid(2))


def test_unknown_phases_are_refused_because_the_others_would_not_add_up() -> None:
    assert refusal(datagram(phases={"forward": 1.0, "lunch": 2.0})) == "phase"
    assert refusal(datagram(phases={"collective_wait": 1.0})) == "phase"
    assert set(JOB_PHASES) == set(PHASES) - {"collective_wait"}
    assert report(phases={"forward": 1, "stall": None}).phases == {"forward": 1.0}


@pytest.mark.parametrize("name", ["run", "session", "model", "precision", "strategy", "flops_convention"])
def test_texts_have_at_most_128_characters_and_none_that_a_label_cannot_have(name: str) -> None:
    for text in ("x" * 128, "é" * 128, "\U0001f680", 'a"b\\c', "two\nlines", "tab\t"):
        assert getattr(report(**{name: text}), name) == text
    assert refusal(datagram(**{name: "x" * 129})) == "range"
    for text in ("\ud800", "a\udfffb", "nul\0", "\x1b[31m", "\x7f", "a\rb", "\x85"):
        assert refusal(datagram(**{name: text})) == "text"


@pytest.mark.parametrize("name", ["run", "session"])
def test_names_that_tell_runs_apart_are_not_empty(name: str) -> None:
    assert refusal(datagram(**{name: ""})) == "range"


def test_ranks_are_below_the_world_size() -> None:
    assert report(rank=0, world_size=1).rank == 0
    assert refusal(datagram(rank=8, world_size=8)) == "range"
    assert refusal(datagram(rank=0, world_size=0)) == "range"
    assert refusal(datagram(rank=1 << 40, world_size=1 << 41)) == "range"


def test_whole_numbers_may_be_written_as_reals() -> None:
    assert report(tokens=40_960.0).tokens == 40_960
    assert isinstance(report(tokens=40_960.0).tokens, int)
    assert refusal(datagram(tokens=0.5)) == "type"


@pytest.mark.parametrize("away", [-SKEW_SECONDS - 1, SKEW_SECONDS + 1, -NOW])
def test_a_report_that_was_not_made_now_is_refused(away: float) -> None:
    assert refusal(datagram(time=NOW + away)) == "time"


def test_a_last_step_in_the_future_is_refused() -> None:
    assert refusal(datagram(last_step_time=NOW + SKEW_SECONDS + 1)) == "time"
    assert report(last_step_time=NOW - 1e6).last_step_time == NOW - 1e6


@pytest.mark.parametrize(
    ("histogram", "reason"),
    [
        ({"sum": 1.0, "counts": [0] * 20}, "range"),
        ({"sum": 1.0, "counts": [0] * 22}, "range"),
        ({"sum": 1.0, "counts": []}, "range"),
        ({"sum": 1.0, "counts": [0] * 20 + [-1]}, "range"),
        ({"sum": 1.0, "counts": [0] * 20 + [0.5]}, "type"),
        ({"sum": 1.0, "counts": [0] * 20 + [None]}, "missing"),
        ({"sum": 1.0, "counts": [[0]] * 21}, "type"),
        ({"sum": 1.0, "counts": [1 << 62] * 21}, "range"),
        ({"sum": 1.0, "counts": "0" * 21}, "type"),
        ({"sum": 1.0}, "missing"),
        ({"counts": [0] * 21}, "missing"),
        ({"sum": -1.0, "counts": [0] * 21}, "range"),
        ([1.0], "type"),
    ],
)
def test_histograms_have_a_count_for_every_bucket(histogram: object, reason: str) -> None:
    assert refusal(datagram(step_seconds=histogram)) == reason


def test_minus_nothing_is_nothing() -> None:
    assert repr(report(collective_seconds=-0.0).collective_seconds) == "0.0"


def test_a_peak_of_nothing_is_not_known() -> None:
    assert report(peak_flops_per_second=0).peak_flops_per_second is None


def test_an_unset_list_of_devices_differs_from_an_empty_one() -> None:
    assert report(gpu={}).gpu.visible_devices is None
    assert report(gpu={"visible_devices": ""}).gpu.visible_devices == ""
