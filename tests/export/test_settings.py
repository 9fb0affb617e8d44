"""What the exporter is told, from where, and what it says to nonsense."""

from __future__ import annotations

import pytest

from stepscope.api.settings import SettingsError
from stepscope.export.settings import KEYS, ExportSettings, load_export_settings

HOST = {"STEPSCOPE_HOSTNAME": "node-a"}


def load(**given: str | None) -> ExportSettings:
    return load_export_settings(HOST, given)


def test_defaults() -> None:
    assert load() == ExportSettings(hostname="node-a")
    settings = load()
    assert (settings.port, settings.is_local, settings.sources) == (9401, True, ("auto",))
    assert load_export_settings({}).hostname


def test_every_key_comes_from_the_environment_and_the_command_line_wins() -> None:
    values = {
        "source": "nvml,job", "dcgm_url": "https://[::1]:9400/m", "host": "0.0.0.0", "port": "1",
        "allowed_hosts": "A,b",
        "interval": "2", "max_age": "30", "socket": "/run/x.sock", "hostname": "n", "hostname_label": "hostname",
        "exit_after_failures": "7",
    }  # fmt: skip
    assert values.keys() == set(KEYS)
    expected = ExportSettings(
        sources=("nvml", "job"), dcgm_url="https://[::1]:9400/m", host="0.0.0.0", port=1, allowed_hosts=("a", "b"),
        interval_seconds=2, max_age_seconds=30, socket_path="/run/x.sock", hostname="n", hostname_label="hostname",
        exit_after_failures=7,
    )  # fmt: skip
    environ = {f"STEPSCOPE_{key.upper()}": value for key, value in values.items()}
    assert load_export_settings(environ) == expected
    assert load_export_settings({}, values) == expected
    assert load_export_settings(environ, {"port": "2"}).port == 2
    assert load_export_settings({f"STEPSCOPE_{key.upper()}": "" for key in KEYS}).port == 9401


@pytest.mark.parametrize(
    ("value", "sources"),
    [("auto", ("auto",)), ("nvml", ("nvml",)), ("job, dcgm,job", ("job", "dcgm")), ("auto,dcgm", ("auto", "dcgm"))],
)
def test_sources(value: str, sources: tuple[str, ...]) -> None:
    assert load(source=value).sources == sources


def test_a_slow_interval_brings_an_age_that_fits() -> None:
    assert load(interval="60").max_age_seconds == 120


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("source", "simulated"), ("source", ","), ("source", "NVML"),
        ("dcgm_url", "localhost:9400"), ("dcgm_url", "ftp://x/"), ("dcgm_url", "http://"), ("dcgm_url", "http://x:y/"),
        ("dcgm_url", "http://a b/"), ("dcgm_url", "http://[::1/"),
        ("host", " "), ("port", "x"), ("port", "-1"), ("port", "65536"), ("port", "1_0"), ("port", "٣"),
        ("interval", "0"), ("interval", "nan"), ("interval", "-1"), ("interval", "1e9"), ("interval", "1_0"),
        ("interval", "soon"), ("max_age", "0.5"), ("max_age", "inf"),
        ("socket", "/" + 107 * "x"), ("socket", "a\0b"),
        ("hostname", " "), ("hostname", "a\nb"), ("hostname", 254 * "x"), ("hostname_label", "HOSTNAME"),
        ("exit_after_failures", "-1"), ("exit_after_failures", "1.5"), ("exit_after_failures", "many"),
        ("allowed_hosts", "http://x"), ("allowed_hosts", "*.example"), ("allowed_hosts", "x:80"),
    ],
)  # fmt: skip
def test_nonsense_is_one_line_that_names_where_it_came_from(key: str, value: str) -> None:
    option, variable = f"--{key.replace('_', '-')}", f"STEPSCOPE_{key.upper()}"
    for name, environ, given in ((option, HOST, {key: value}), (variable, HOST | {variable: value}, {})):
        with pytest.raises(SettingsError) as caught:
            load_export_settings(environ, given)
        assert str(caught.value).startswith(f"{name}: ")
        assert "\n" not in str(caught.value)
