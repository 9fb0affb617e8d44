"""What NVML's package, codes and texts need of us: finding it, naming what went wrong, reading its strings.

Nothing is imported before a source collects, since a machine without GPUs has neither the package nor the driver.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from exporter.source import SourceError

MODULE = "pynvml"
PACKAGE = "nvidia-ml-py"

UNINITIALIZED = 1
NOT_SUPPORTED = 3
TIMEOUT = 10
FUNCTION_NOT_FOUND = 13
UNKNOWN = 999

REASONS = {
    UNINITIALIZED: "uninitialized", NOT_SUPPORTED: "not_supported", 4: "no_permission", 9: "driver_not_loaded",
    TIMEOUT: "timeout", 12: "library_not_found", 15: "gpu_lost", 16: "reset_required", 18: "version_mismatch",
    28: "gpu_lost", UNKNOWN: "unknown",
}  # fmt: skip
"""Value of the label `reason` by NVML's return code; every other code is `unknown`."""

UNSUPPORTED = frozenset({2, NOT_SUPPORTED, FUNCTION_NOT_FOUND, 25, 26})
"""Invalid argument, not supported, function not found, version of an argument, deprecated: asking again is in vain."""
NOTHING = frozenset({6, 21, 27})
"""Not found, no data, not ready: there is no value now, and nothing is wrong."""
BOARD_GONE = frozenset({15, 16, 28})
"""Nothing else can be had of this board either."""
SESSION_GONE = frozenset({UNINITIALIZED, 18})
"""Every handle is void, whoever's it is."""

_SIGNS_OF_AGE = ("nvmlInit", "NVMLError", "nvmlMemory_v2", "nvmlGpmMetricsGet", "c_nvmlGpmMetricsGet_t")
"""The last three are missing from the package named pynvml (11.x), which has the same module name."""


def load(find: Callable[[str], Any] = import_module) -> Any:
    """The module, found anew at every call, so that it may be installed while we run.

    Raises `SourceError` (`library_not_found`) that names the package to install.
    """
    try:
        module = find(MODULE)
    except ModuleNotFoundError as error:
        if error.name == MODULE:
            raise SourceError("library_not_found", f"no module {MODULE}: pip install {PACKAGE}") from None
        raise _broken(error) from None
    except Exception as error:
        raise _broken(error) from None
    if not all(hasattr(module, name) for name in _SIGNS_OF_AGE):
        where = getattr(module, "__file__", None) or "of unknown place"
        found = f"the module {MODULE} ({where}) is an older package of that name"
        advice = f"pip uninstall pynvml, then pip install --force-reinstall {PACKAGE}"
        raise SourceError("library_not_found", f"{found}: {advice}")
    return module


def _broken(error: BaseException) -> SourceError:
    found = f"the module {MODULE} cannot be imported ({type(error).__name__}: {error})"
    return SourceError("library_not_found", f"{found}: pip install --force-reinstall {PACKAGE}")


def code_of(error: BaseException) -> int:
    """NVML's return code in what a call raised; `UNKNOWN` when it was not NVML that raised it.

    NVML's own exceptions can be neither hashed nor compared with a number: this is the only way that they are read.
    """
    if isinstance(error, AttributeError):  # the module is older than the function
        return FUNCTION_NOT_FOUND
    value = getattr(error, "value", None)
    return value if isinstance(value, int) else UNKNOWN


def reason_of(code: int) -> str:
    """Value of the label `reason`."""
    return REASONS.get(code, "unknown")


def text(value: object) -> str:
    """A string of NVML: older bindings give bytes, drivers give what is not UTF-8, and both may end in NULs."""
    shown = value.decode("utf-8", errors="replace") if isinstance(value, bytes) else str(value)
    return shown.partition("\0")[0].strip()
