"""A network interface runs at a fraction of its rate, and every ring that goes through it with it."""

from __future__ import annotations

import numpy as np

from faults.effects import Effects
from faults.kind import Application, Kind, Param
from faults.target import Target


class LinkDegraded(Kind):
    """The interface beside the target GPU falls to `rate_ratio` of its healthy rate, as after lost lanes.

    Switches and cables made 35 of Llama 3's 419 interruptions, interfaces 7; slow communication lasts 24 minutes in the
    mean (FALCON, arXiv 2410.12588). One slow part brought the all-reduce of 16 nodes from 350 to 100 GB/s (Smol
    Training Playbook); a quarter of the rate, the default, does the same here.
    """

    name = "link_degraded"
    summary = "One network interface of a node runs at a fraction of its rate; every collective waits for it."
    look_at = (
        "Collective time up on all ranks alike, and nobody waits longer for anybody. The bytes of the slow interface "
        "are below those of its node's others, and all of them are down when the job is bound by the network."
    )
    params = (
        Param(
            name="rate_ratio",
            type="number",
            default=0.25,
            unit="ratio",
            description="Rate of the interface over its healthy one, at intensity 1.",
            minimum=0.05,
            maximum=0.9,
        ),
    )
    phases = ("collective",)
    metrics = (
        "training_network_transmit_bytes_total",
        "training_phase_seconds_total",
        "training_collective_seconds_total",
        "training_step_seconds",
        "training_model_flops_total",
    )
    composition = "The lowest rate of an interface counts; the collective follows the slowest interface."
    default_target = Target("one")
    needs = ("network",)

    def apply(self, effects: Effects, application: Application) -> None:
        """Lower the rate of the interfaces beside the ranks' GPUs: 0.81 when mild, 0.63 when moderate, 0.25 severe."""
        if application.intensity == 0.0:
            return
        rate = 1.0 - (1.0 - application.number("rate_ratio")) * application.intensity
        rates = effects.nic_rate
        rates[application.ranks] = np.minimum(rates[application.ranks], rate)


KIND = LinkDegraded()
