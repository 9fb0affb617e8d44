"""A token that other programs can read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from stepscope.api.settings import Settings, SettingsError, load_settings
from stepscope.api.token_file import share_token


def settings(path: Path, **more: str) -> Settings:
    return load_settings({"STEPSCOPE_TOKEN_FILE": str(path), **more})


def test_without_a_file_nothing_changes() -> None:
    before = load_settings({"STEPSCOPE_TOKEN_FILE": ""})
    assert before.token_file is None
    assert share_token(before) is before


def test_a_token_is_made_once_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "token"
    first = share_token(settings(path))
    assert path.read_text() == f"{first.token}\n"
    assert not first.token_is_made, "it need not be printed: the file has it"
    assert share_token(settings(path)).token == first.token
    assert [entry.name for entry in tmp_path.iterdir()] == ["token"]


def test_owner_and_group_may_read_it_and_nobody_else(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        share_token(settings(tmp_path / "token"))
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o640


def test_the_file_follows_a_token_that_was_set(tmp_path: Path) -> None:
    path = tmp_path / "token"
    share_token(settings(path))
    assert share_token(settings(path, STEPSCOPE_TOKEN="set-by-somebody")).token == "set-by-somebody"
    assert path.read_text() == "set-by-somebody\n"
    assert share_token(settings(path)).token == "set-by-somebody"


def test_an_empty_file_is_filled(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("\n")
    token = share_token(settings(path)).token
    assert path.read_text() == f"{token}\n"


@pytest.mark.parametrize("content", [b"short\n", b"two words here\n", b"\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8"])
def test_a_file_with_something_else_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "token"
    path.write_bytes(content)
    with pytest.raises(SettingsError, match=r"^STEPSCOPE_TOKEN_FILE: .*token") as caught:
        share_token(settings(path))
    assert "\n" not in str(caught.value)


def test_a_directory_in_its_place_and_a_folder_that_is_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"cannot be read \(Is a directory\)"):
        share_token(settings(tmp_path))
    with pytest.raises(SettingsError, match=r"cannot be written \(No such file or directory\)"):
        share_token(settings(tmp_path / "nowhere" / "token"))
