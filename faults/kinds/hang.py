"""A rank never arrives: all others wait for it inside a collective, at full utilization."""

from __future__ import annotations

from faults.effects import Effects
from faults.kind import Application, Kind, Param
from faults.target import Target


class Hang(Kind):
    """It hangs or it does not: the intensity changes nothing. The step that it hangs in begins again once it ends.

    Whether the GPU of the missing rank looks busy depends on where the rank is stuck. Seven of Llama 3's 419
    interruptions were timeouts of NCCL's watchdog, with no other cause found.
    """

    name = "hang"
    summary = "A rank never arrives at its collective, and the job stands still until it does."
    look_at = (
        "The time of the last step stands still while GPU utilization stays at 100 on every rank. The phases go on "
        "growing by a second per second: collective wait on all ranks but the one that is missing, which stalls."
    )
    params = (
        Param(
            name="where",
            type="string",
            default="kernel",
            unit="",
            description="kernel: the rank spins in a kernel, at 100 % utilization; host: its process is stuck, at 0.",
            choices=("kernel", "host"),
        ),
    )
    phases = ("collective_wait", "stall")
    metrics = (
        "training_last_step_timestamp_seconds",
        "training_steps_total",
        "training_phase_seconds_total",
        "training_collective_seconds_total",
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
        "DCGM_FI_DEV_POWER_USAGE",
    )
    composition = "One is enough; the job goes on when the last of them has ended."
    default_target = Target("one")

    def apply(self, effects: Effects, application: Application) -> None:
        """Keep the ranks from arriving."""
        if application.intensity == 0.0:
            return
        missing = effects.hung if application.params["where"] == "kernel" else effects.dead
        missing[application.ranks] = True


KIND = Hang()
