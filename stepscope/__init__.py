"""A lab that shows why a training cluster can report 99 % GPU utilization and do a fifth of the work."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.recorder import StepRecorder

__version__ = "0.1.0"
__all__ = ["StepRecorder", "__version__"]


def __getattr__(name: str) -> object:
    """`StepRecorder`, read when it is asked for: the commands do without it."""
    if name == "StepRecorder":
        from stepscope.recorder import StepRecorder

        return StepRecorder
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
