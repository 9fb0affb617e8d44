"""The token in a file, so that what scrapes the truth can read it and a restart does not change it."""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from pathlib import Path

from stepscope.api.settings import Settings, SettingsError, checked_token

KEY = "STEPSCOPE_TOKEN_FILE"
MODE = 0o640
"""Owner and group: a reader under another user needs the group."""


def share_token(settings: Settings) -> Settings:
    """The settings that hold after the file was asked: without a file, the same.

    A token that somebody set is written to the file. Otherwise the file's own is taken, and one is made and written
    when there is none yet. Raises `SettingsError` when the file can be neither read nor written, or holds no token.
    """
    path = settings.token_file
    if path is None:
        return settings
    found = _read(path)
    if found and settings.token_is_made:
        return replace(settings, token=found, token_is_made=False)
    if found != settings.token:
        _write(path, settings.token)
    return replace(settings, token_is_made=False)


def _read(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not text"
        raise SettingsError(f"{KEY}: {path} cannot be read ({reason})") from error
    return checked_token(f"{KEY}: {path}", text.strip())


def _write(path: Path, token: str) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        # Another program never sees half a token, and never one that everybody may read.
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            os.fchmod(descriptor, MODE)
            file.write(f"{token}\n")
        beside.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise SettingsError(f"{KEY}: {path} cannot be written ({error.strerror})") from error
