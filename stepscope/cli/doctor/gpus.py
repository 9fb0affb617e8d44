"""Are there real GPUs, and can they be read? None of this can fail: most machines that run the lab have none."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from stepscope.cli.doctor.check import Check, listed

_SIGNS = ("proc/driver/nvidia/version", "dev/nvidiactl", "dev/dxg")
"""Files of a driver, the last under WSL."""
_SIMULATED = "the lab simulates its GPUs"


@dataclass(frozen=True, slots=True)
class Gpus:
    """What NVML says, or why it says nothing."""

    package: bool
    """Whether nvidia-ml-py is installed."""
    driver: bool
    """Whether something of a driver is on this machine."""
    nvml: bool = False
    """Whether NVML's library was found."""
    error: str = ""
    """What NVML answered instead."""
    version: str = ""
    """Of the driver."""
    names: tuple[str, ...] = ()


def look(
    root: Path = Path("/"),
    *,
    load: Callable[[str], Any] = import_module,
    which: Callable[[str], object] = shutil.which,
) -> Gpus:
    """At this machine; `load` imports a module. Never raises."""
    driver = any((root / sign).exists() for sign in _SIGNS) or which("nvidia-smi") is not None
    try:
        nvml = load("pynvml")
    except Exception:
        return Gpus(package=False, driver=driver)
    try:
        nvml.nvmlInit()
    except Exception as error:
        missing = isinstance(error, getattr(nvml, "NVMLError_LibraryNotFound", ()))
        return Gpus(package=True, driver=driver, nvml=not missing, error=_words(error))
    try:
        version = _text(nvml.nvmlSystemGetDriverVersion)
        count = nvml.nvmlDeviceGetCount()
        names = tuple(_text(partial(_name, nvml, index)) for index in range(count))
        return Gpus(package=True, driver=True, nvml=True, version=version, names=names)
    except Exception as error:
        return Gpus(package=True, driver=driver, nvml=True, error=_words(error))
    finally:
        _quietly(nvml.nvmlShutdown)


def judge(gpus: Gpus) -> Iterator[Check]:
    """Check `gpus`."""
    if not gpus.driver and not gpus.nvml:
        package = "" if gpus.package else ", and nvidia-ml-py is not installed"
        yield Check("gpus", "not applicable", f"no NVIDIA driver on this machine{package}; {_SIMULATED}")
    elif not gpus.package:
        found = "an NVIDIA driver, but not nvidia-ml-py, which reads it"
        yield Check("gpus", "warning", found, "to read real GPUs: pip install '.[gpu]' in the repository")
    elif not gpus.nvml:
        advice = "install libnvidia-ml with the driver; in a container ask for the capability `utility`"
        yield Check("gpus", "warning", f"an NVIDIA driver, but not NVML's library ({gpus.error})", advice)
    elif gpus.error:
        advice = "does nvidia-smi work? After an update of the driver reload its module, or restart the machine"
        yield Check("gpus", "warning", f"NVML does not answer: {gpus.error}", advice)
    elif not gpus.names:
        advice = "in a container: start it with --gpus all"
        yield Check("gpus", "warning", f"NVML answers (driver {gpus.version}) and sees no GPU", advice)
    else:
        kinds = listed(f"{count} × {name}" for name, count in Counter(gpus.names).items())
        yield Check("gpus", "ok", f"{kinds}, driver {gpus.version}")


def _name(nvml: Any, index: int) -> object:
    return nvml.nvmlDeviceGetName(nvml.nvmlDeviceGetHandleByIndex(index))


def _text(ask: Callable[[], object]) -> str:
    """What NVML answers, as text: it may be bytes that are no UTF-8, or an error of one GPU among many."""
    try:
        answer = ask()
    except Exception as error:
        return f"? ({_words(error)})"
    return answer.decode(errors="replace") if isinstance(answer, bytes) else str(answer)


def _words(error: Exception) -> str:
    return " ".join((str(error) or type(error).__name__).split())


def _quietly(end: Callable[[], object]) -> None:
    try:
        end()
    except Exception:
        return
