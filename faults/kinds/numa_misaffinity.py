"""The process of a rank runs on the wrong socket: its copies cross the link between sockets, and each step starts late.

Copies at half the rate are what such a crossing leaves of a PCIe link; the delay of a step, up to 0.06 of a healthy
one, is what launching from far memory costs. Both vary by a quarter from step to step.
"""

from __future__ import annotations

from faults.effects import Effects, HostPath
from faults.kind import Application, Kind, Param
from faults.target import Target


class NumaMisaffinity(Kind):
    """Copies to the device are slower, and the device waits for its host at the start of each step."""

    name = "numa_misaffinity"
    summary = "The target ranks' processes run on the wrong NUMA node, far from their GPU and its memory."
    look_at = (
        "Host-to-device time up on the target ranks and on no other, forward and backward as ever. The others wait for "
        "them as for any slow rank: a few percent of the step, lost on every GPU of the job."
    )
    params = (
        Param(
            name="rate_ratio",
            type="number",
            default=0.5,
            unit="ratio",
            description="Rate of copies to the device, relative to healthy, at intensity 1.",
            minimum=0.1,
            maximum=1.0,
        ),
        Param(
            name="delay_steps",
            type="number",
            default=0.06,
            unit="healthy steps",
            description="How late the host starts each step, in durations of a healthy step, at intensity 1.",
            minimum=0.005,
            maximum=1.0,
        ),
    )
    phases = ("h2d", "collective_wait")
    metrics = (
        "training_phase_seconds_total",
        "training_step_seconds",
        "training_model_flops_total",
        "DCGM_FI_DEV_GPU_UTIL",
        "DCGM_FI_DEV_POWER_USAGE",
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
    )
    composition = "Factors on the copies of one rank multiply and its delays add; the step follows the slowest rank."
    default_target = Target("one")

    def apply(self, effects: Effects, application: Application) -> None:
        """Lengthen the way from host to device."""
        intensity = application.intensity
        if intensity == 0.0:
            return
        rate = 1.0 - (1.0 - application.number("rate_ratio")) * intensity
        path = HostPath(
            application.fault,
            application.seed,
            application.ranks,
            copy_factor=1.0 / rate,
            delay_steps=application.number("delay_steps") * intensity,
        )
        effects.host_paths.append(path)


KIND = NumaMisaffinity()
