from __future__ import annotations

from pathlib import Path

import pytest

from stepscope.api.settings import DEFAULT_HOSTS, SettingsError, is_loopback, load_settings


def test_defaults_are_loopback_and_a_token_made_at_random() -> None:
    one, other = load_settings({}), load_settings({})
    assert (one.host, one.port, one.allowed_hosts) == ("127.0.0.1", 8000, DEFAULT_HOSTS)
    assert one.token_is_made
    assert len(one.token) >= 32
    assert one.token != other.token
    assert not one.writes_need_token


def test_command_line_over_environment_over_file_over_default(tmp_path: Path) -> None:
    file = tmp_path / "lab.toml"
    file.write_text('host = "10.0.0.1"\nport = 1\ntoken = "from-the-file"\nallowed_hosts = ["lab.example"]\n')
    environ = {"STEPSCOPE_CONFIG": str(file), "STEPSCOPE_PORT": "2", "STEPSCOPE_TOKEN": "from-the-environment"}
    found = load_settings(environ, overrides={"port": "3", "host": None})
    assert (found.host, found.port, found.token) == ("10.0.0.1", 3, "from-the-environment")
    assert found.allowed_hosts == (*DEFAULT_HOSTS, "10.0.0.1", "lab.example")


@pytest.mark.parametrize(
    ("host", "open_writes", "needed"),
    [
        ("127.0.0.1", "0", False),
        ("localhost", "0", False),
        ("::1", "0", False),
        ("0.0.0.0", "0", True),
        ("::", "0", True),
        ("lab.example", "0", True),
        ("0.0.0.0", "1", False),
    ],
)
def test_who_needs_a_token_to_write(host: str, open_writes: str, needed: bool) -> None:
    found = load_settings({"STEPSCOPE_HOST": host, "STEPSCOPE_OPEN_WRITES": open_writes})
    assert found.writes_need_token is needed


@pytest.mark.parametrize(
    ("published_on", "needed"),
    [
        ("127.0.0.1", False),
        ("127.0.0.2", False),
        ("::1", False),
        ("192.0.2.10", True),
        ("0.0.0.0", True),
        ("::", True),
        ("", True),
    ],
)
def test_where_the_port_is_published_decides_inside_a_container(published_on: str, needed: bool) -> None:
    found = load_settings({"STEPSCOPE_HOST": "0.0.0.0", "STEPSCOPE_PUBLISHED_ON": published_on})
    assert found.writes_need_token is needed


@pytest.mark.parametrize(
    "published_on",
    ["localhost", "127.1", "0", "2130706433", "127.0.0.01", " 127.0.0.1", "[::1]", "::1%lo", "lab.example"],
)
def test_what_an_engine_would_publish_everywhere_is_refused(published_on: str) -> None:
    with pytest.raises(SettingsError, match=r"^STEPSCOPE_PUBLISHED_ON: .* is not an IP address"):
        load_settings({"STEPSCOPE_HOST": "0.0.0.0", "STEPSCOPE_PUBLISHED_ON": published_on})


def test_the_address_of_publication_may_be_named_and_a_wildcard_names_nothing() -> None:
    inside = {"STEPSCOPE_HOST": "0.0.0.0"}
    hosts = load_settings({**inside, "STEPSCOPE_PUBLISHED_ON": "192.0.2.10"}).allowed_hosts
    assert hosts == (*DEFAULT_HOSTS, "192.0.2.10")
    assert load_settings({**inside, "STEPSCOPE_PUBLISHED_ON": "2001:db8::1"}).allowed_hosts[-1] == "[2001:db8::1]"
    for nothing in ("127.0.0.1", "0.0.0.0", "::", "::1"):
        assert load_settings({**inside, "STEPSCOPE_PUBLISHED_ON": nothing}).allowed_hosts == DEFAULT_HOSTS


def test_an_empty_token_is_no_token() -> None:
    assert load_settings({"STEPSCOPE_TOKEN": ""}).token_is_made


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("STEPSCOPE_PORT", "eighty"),
        ("STEPSCOPE_PORT", "65536"),
        ("STEPSCOPE_PORT", "-1"),
        ("STEPSCOPE_HOST", " "),
        ("STEPSCOPE_TOKEN", "short"),
        ("STEPSCOPE_TOKEN", "not all printable \n"),
        ("STEPSCOPE_OPEN_WRITES", "maybe"),
        ("STEPSCOPE_PUBLISHED_ON", " "),
        ("STEPSCOPE_ALLOWED_HOSTS", "http://lab.example"),
        ("STEPSCOPE_ALLOWED_HOSTS", "lab.example:8000"),
        ("STEPSCOPE_ALLOWED_HOSTS", "*"),
    ],
)
def test_a_bad_value_is_one_line_that_names_the_key(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=rf"^{name}: ") as caught:
        load_settings({name: value})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("colour = 1", "colour"),
        ("port = true", "port"),
        ("allowed_hosts = [1]", "allowed_hosts"),
        ("token_file = 1", "token_file"),
        ("=", "TOML"),
    ],
)
def test_a_bad_file_names_itself_and_the_key(tmp_path: Path, content: str, named: str) -> None:
    file = tmp_path / "lab.toml"
    file.write_text(content)
    with pytest.raises(SettingsError, match=r"lab\.toml") as caught:
        load_settings({}, file=file)
    assert named in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"nowhere\.toml: cannot be read"):
        load_settings({}, file=tmp_path / "nowhere.toml")


def test_the_token_is_not_in_the_repr() -> None:
    assert "secret-token" not in repr(load_settings({"STEPSCOPE_TOKEN": "secret-token"}))


def test_loopback_is_judged_by_address() -> None:
    assert is_loopback("127.8.9.1")
    assert not is_loopback("192.168.0.1")


def test_the_label_of_the_host_has_two_spellings() -> None:
    assert load_settings({}).hostname_label == "Hostname"
    assert load_settings({"STEPSCOPE_HOSTNAME_LABEL": "hostname"}).hostname_label == "hostname"
    with pytest.raises(SettingsError, match="STEPSCOPE_HOSTNAME_LABEL: 'host' is not one of Hostname, hostname"):
        load_settings({"STEPSCOPE_HOSTNAME_LABEL": "host"})
