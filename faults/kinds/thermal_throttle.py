"""Cooling of a GPU fails: it gets hot, and above a limit the board holds its own clocks down."""

from __future__ import annotations

from faults.effects import Effects
from faults.kind import Application, Kind
from faults.target import Target

_EXCESS = 3.0
"""Severe is four times the thermal resistance. Whether a board throttles depends on where between 1 and 4 it is, and
the words for an intensity fall on either side of both borders."""


class ThermalThrottle(Kind):
    """Thermal resistance of the target boards is up to four times the healthy one; the step model does the rest."""

    name = "thermal_throttle"
    summary = "Cooling of the target GPUs fails: they heat up, and above 87 °C their clock falls to a quarter."
    look_at = (
        "Temperature, SM clock, throttle reasons and the thermal violation counter of the culprit; MFU falls as with "
        "any slow rank while GPU utilization stays at 98 or more, and the others wait and cool. On a busy GPU mild is "
        "hot and no more, moderate throttles and recovers in cycles, severe latches within half a minute and stays."
    )
    phases = ("forward", "backward", "collective_wait")
    metrics = (
        "DCGM_FI_DEV_GPU_TEMP",
        "DCGM_FI_DEV_SM_CLOCK",
        "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS",
        "DCGM_FI_DEV_THERMAL_VIOLATION",
        "training_step_seconds",
        "training_model_flops_total",
        "training_phase_seconds_total",
        "DCGM_FI_DEV_POWER_USAGE",
    )
    composition = "Resistances of one board multiply; the step follows the slowest rank."
    default_target = Target("one")

    def apply(self, effects: Effects, application: Application) -> None:
        """Multiply the boards' thermal resistance: 1.75 when mild, 2.5 when moderate, 4 when severe."""
        effects.thermal_resistance[application.ranks] *= 1.0 + _EXCESS * application.intensity


KIND = ThermalThrottle()
