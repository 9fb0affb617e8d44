"""Where ports and images come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepscope.cli.doctor.settings import Port, find_folder, ports, read_env_file

FILE = {"LAB_PORT": "1", "PROMETHEUS_PORT": "2", "GRAFANA_PORT": "3"}


@pytest.mark.parametrize(
    ("options", "environ", "file", "expected"),
    [
        ({}, {}, {}, [("8000", "default"), ("9090", "default"), ("3000", "default")]),
        (
            {}, {}, FILE,
            [("1", "LAB_PORT in .env"), ("2", "PROMETHEUS_PORT in .env"), ("3", "GRAFANA_PORT in .env")],
        ),
        (
            {}, {"LAB_PORT": "11", "GRAFANA_PORT": "13"}, FILE,
            [("11", "LAB_PORT"), ("2", "PROMETHEUS_PORT in .env"), ("13", "GRAFANA_PORT")],
        ),
        (
            {"prometheus": 22}, {"STEPSCOPE_PORT": "21", "LAB_PORT": "11", "PROMETHEUS_PORT": "12"}, FILE,
            [("21", "STEPSCOPE_PORT"), ("22", "--prometheus-port"), ("3", "GRAFANA_PORT in .env")],
        ),
    ],
)  # fmt: skip
def test_option_over_shell_over_file_over_default(
    options: dict[str, int | None], environ: dict[str, str], file: dict[str, str], expected: list[tuple[str, str]]
) -> None:
    found = ports(options, environ, file)
    assert [port.service for port in found] == ["lab", "prometheus", "grafana"]
    assert [(port.text, port.key) for port in found] == expected


@pytest.mark.parametrize(
    ("environ", "file", "host"), [({}, {"BIND": "10.0.0.1"}, "10.0.0.1"), ({"BIND": "::"}, {"BIND": "10.0.0.1"}, "::")]
)
def test_where_they_listen(environ: dict[str, str], file: dict[str, str], host: str) -> None:
    assert [port.host for port in ports({}, environ, file)] == [host, "127.0.0.1", host]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("8000", 8000),
        ("0", 0),
        ("65535", 65535),
        ("65536", None),
        ("-1", None),
        ("٣", None),
        ("", None),
        ("9" * 9, None),
    ],
)
def test_what_is_a_port(text: str, number: int | None) -> None:
    assert Port("lab", text, "key").number == number


def test_the_file_of_compose(tmp_path: Path) -> None:
    assert read_env_file(tmp_path) == {}
    (tmp_path / ".env").write_text("# A=1\n\nLAB_PORT = 8001\r\nIMAGE='a:b=c'\nnothing\n", encoding="utf-8")
    assert read_env_file(tmp_path) == {"LAB_PORT": "8001", "IMAGE": "a:b=c"}


def test_which_folder(tmp_path: Path) -> None:
    here, source, asked = (tmp_path / name for name in ("here", "source", "asked"))
    for folder in (here, source):
        folder.mkdir()
    assert find_folder(None, here=here, source=source) == here
    (source / "docker-compose.yml").touch()
    assert find_folder(None, here=here, source=source) == source
    (here / "docker-compose.yml").touch()
    assert find_folder(None, here=here, source=source) == here
    assert find_folder(asked, here=here, source=source) == asked
