"""GPUs that are there, that are not, and that do not want to be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stepscope.cli.doctor.gpus import Gpus, judge, look


class NvmlError(Exception):
    """As NVML raises."""


class LibraryMissingError(NvmlError):
    """As NVML raises without its library."""


class Nvml:
    """As the module pynvml, with these GPUs."""

    NVMLError_LibraryNotFound = LibraryMissingError

    def __init__(self, *names: Any, fails: str = "", error: Exception | None = None) -> None:
        self._names = names
        self._fails = fails
        self._error = error or NvmlError("Driver/library version mismatch")
        self.open = 0

    def _maybe(self, call: str) -> None:
        if call == self._fails:
            raise self._error

    def nvmlInit(self) -> None:
        self._maybe("init")
        self.open += 1

    def nvmlShutdown(self) -> None:
        self.open -= 1
        self._maybe("shutdown")

    def nvmlSystemGetDriverVersion(self) -> bytes:
        return b"570.1"

    def nvmlDeviceGetCount(self) -> int:
        self._maybe("count")
        return len(self._names)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        return index

    def nvmlDeviceGetName(self, handle: int) -> Any:
        if isinstance(self._names[handle], Exception):
            raise self._names[handle]
        return self._names[handle]


def seen(root: Path, nvml: Nvml | None, *, tool: bool = False) -> Gpus:
    def load(name: str) -> Any:
        assert name == "pynvml"
        if nvml is None:
            raise ModuleNotFoundError(name)
        return nvml

    found = look(root, load=load, which=lambda _: "/usr/bin/nvidia-smi" if tool else None)
    assert nvml is None or nvml.open == 0
    return found


def test_gpus(tmp_path: Path) -> None:
    found = seen(tmp_path, Nvml("H100", b"H100", b"\xff", NvmlError("lost"), fails="shutdown"))
    assert found == Gpus(True, True, True, "", "570.1", ("H100", "H100", "\ufffd", "? (lost)"))


@pytest.mark.parametrize("sign", ["", "proc/driver/nvidia/version", "dev/nvidiactl", "dev/dxg", "tool"])
def test_signs_of_a_driver(tmp_path: Path, sign: str) -> None:
    if sign and sign != "tool":
        (tmp_path / sign).parent.mkdir(parents=True)
        (tmp_path / sign).touch()
    assert seen(tmp_path, None, tool=sign == "tool") == Gpus(package=False, driver=bool(sign))


@pytest.mark.parametrize(
    ("nvml", "expected"),
    [
        (Nvml(fails="init", error=LibraryMissingError("no library")), Gpus(True, False, False, "no library")),
        (Nvml(fails="init"), Gpus(True, False, True, "Driver/library version mismatch")),
        (Nvml(fails="count", error=NvmlError()), Gpus(True, False, True, "NvmlError")),
        (Nvml(), Gpus(True, True, True, "", "570.1")),
    ],
)
def test_what_nvml_may_answer(tmp_path: Path, nvml: Nvml, expected: Gpus) -> None:
    assert seen(tmp_path, nvml) == expected


def test_this_machine() -> None:
    assert isinstance(look(), Gpus)


@pytest.mark.parametrize(
    ("gpus", "status", "said"),
    [
        (Gpus(False, False), "not applicable", "nvidia-ml-py is not installed; the lab simulates its GPUs"),
        (Gpus(True, False, False, "no library"), "not applicable", "no NVIDIA driver on this machine; the lab"),
        (Gpus(False, True), "warning", "pip install '.[gpu]' in the repository"),
        (Gpus(True, True, False, "no library"), "warning", "not NVML's library (no library)"),
        (Gpus(True, True, True, "mismatch"), "warning", "NVML does not answer: mismatch"),
        (Gpus(True, False, True, "mismatch"), "warning", "NVML does not answer: mismatch"),
        (Gpus(True, True, True, "", "570.1"), "warning", "(driver 570.1) and sees no GPU"),
        (Gpus(True, True, True, "", "570.1", ("H100",) * 8), "ok", "8 × H100, driver 570.1"),
    ],
)
def test_verdicts(gpus: Gpus, status: str, said: str) -> None:
    (check,) = judge(gpus)
    assert (check.name, check.status) == ("gpus", status)
    assert said in f"{check.found} {check.advice}"
    assert bool(check.advice) == (status == "warning")
