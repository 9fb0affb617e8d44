from __future__ import annotations

import subprocess
import sys
import time
from types import SimpleNamespace
from typing import Any

import pytest

from exporter.source import SourceError
from exporter.sources.nvml import binding
from exporter.sources.nvml.source import NvmlSource
from tests.exporter.nvml.fake import FakeNvml, NVMLError


def _raising(error: BaseException) -> Any:
    def find(name: str) -> Any:
        raise error

    return find


@pytest.mark.parametrize(
    ("find", "words"),
    [
        (_raising(ModuleNotFoundError("No module named 'pynvml'", name="pynvml")), "no module pynvml"),
        (_raising(ModuleNotFoundError("No module named 'ctypes'", name="ctypes")), "cannot be imported"),
        (_raising(SyntaxError("invalid syntax")), "cannot be imported (SyntaxError"),
        (_raising(OSError("bad ELF header")), "cannot be imported (OSError: bad ELF header)"),
        (lambda name: SimpleNamespace(nvmlInit=1, NVMLError=1, __file__="/x.py"), "pynvml (/x.py) is an older package"),
    ],
)  # fmt: skip
def test_what_is_missing_is_named(find: Any, words: str) -> None:
    with pytest.raises(SourceError) as error:
        binding.load(find)
    assert error.value.reason == "library_not_found"
    assert words in error.value.detail
    assert "nvidia-ml-py" in error.value.detail
    assert "\n" not in error.value.detail
    assert error.value.__suppress_context__ or error.value.__context__ is None


def test_a_whole_module_is_taken() -> None:
    fake = FakeNvml()
    assert binding.load(lambda name: fake) is fake


def test_nothing_is_imported_before_a_cycle() -> None:
    program = (
        "import sys\n"
        "from exporter.sources.nvml.source import NvmlSource\n"
        "source = NvmlSource(hostname='a')\n"
        "source.close()\n"
        "assert 'pynvml' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_machine_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    source = NvmlSource(hostname="a")
    with pytest.raises(SourceError, match="pip install nvidia-ml-py") as error:
        source.collect(time.monotonic() + 30.0)
    assert error.value.reason == "library_not_found"
    source.close()


@pytest.mark.parametrize(
    ("error", "code", "reason"),
    [
        (NVMLError(15), 15, "gpu_lost"),
        (NVMLError(4), 4, "no_permission"),
        (NVMLError(77), 77, "unknown"),
        (AttributeError("nvmlGpmSampleGet"), 13, "unknown"),
        (ValueError("not NVML's"), 999, "unknown"),
        (StopIteration("also has a value"), 999, "unknown"),
    ],
)
def test_codes(error: BaseException, code: int, reason: str) -> None:
    assert binding.code_of(error) == code
    assert binding.reason_of(code) == reason


def test_every_reason_of_an_error_has_its_series() -> None:
    assert set(binding.REASONS.values()) - {"not_supported"} == set(NvmlSource.error_reasons)
    assert len(set(NvmlSource.error_reasons)) == len(NvmlSource.error_reasons)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (b"NVIDIA H100", "NVIDIA H100"),
        ("NVIDIA H100", "NVIDIA H100"),
        (b"NVIDIA\x00rest of the buffer", "NVIDIA"),
        (b"NVIDIA \xff\xfe", "NVIDIA \ufffd\ufffd"),
        (b" 550.90.07\n", "550.90.07"),
        (b"", ""),
    ],
)
def test_texts(value: object, shown: str) -> None:
    assert binding.text(value) == shown
