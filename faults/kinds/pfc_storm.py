"""A storm of pause frames: the lossless fabric stands still by turns, and what is lost is sent again from there on."""

from __future__ import annotations

from faults.effects import Effects, PauseStorm
from faults.kind import Application, Kind, Param


class PfcStorm(Kind):
    """Collectives that meet the storm take several times as long; beyond `collapse_intensity` none of them ends.

    A lost packet makes a RoCE interface send all that followed it once more (go-back-N), which brings on more pauses
    and losses: from some point on nothing useful gets through. Nobody has published rates for a whole storm; the
    defaults are far above the thresholds of an alert and far below the line rate of 400 Gb/s. Slow communication hits
    40 % of large jobs, for 24 minutes in the mean (FALCON, arXiv 2410.12588).
    """

    name = "pfc_storm"
    summary = "Pause frames and retransmits take the fabric over; a severe storm stops every collective for good."
    look_at = (
        "Pause frames and retransmits climb on the interfaces, and the collective time of single steps spikes, on all "
        "ranks alike. Severe: no step ends, the time of the last one stands still, and GPU utilization stays at 100."
    )
    params = (
        Param(
            name="spike_factor",
            type="number",
            default=12.0,
            unit="ratio",
            description="Mean time of a collective that meets the storm, relative to healthy, at intensity 1.",
            minimum=2.0,
            maximum=50.0,
        ),
        Param(
            name="spike_ratio",
            type="number",
            default=0.3,
            unit="ratio",
            description="Share of the steps that meet the storm.",
            minimum=0.01,
            maximum=1.0,
        ),
        Param(
            name="pause_frames_per_second",
            type="number",
            default=20_000.0,
            unit="frames/s",
            description="Pause frames that each target interface receives, at intensity 1.",
            minimum=100.0,
            maximum=1e6,
        ),
        Param(
            name="retransmits_per_second",
            type="number",
            default=400.0,
            unit="packets/s",
            description="Packets that each target interface sends again, at intensity 1.",
            minimum=10.0,
            maximum=1e5,
        ),
        Param(
            name="collapse_intensity",
            type="number",
            default=0.8,
            unit="ratio",
            description="From this intensity on go-back-N has eaten the whole fabric, and no collective ends.",
            minimum=0.1,
            maximum=1.0,
        ),
    )
    phases = ("collective",)
    metrics = (
        "training_network_pause_frames_total",
        "training_network_retransmits_total",
        "training_phase_seconds_total",
        "training_collective_seconds_total",
        "training_step_seconds",
        "training_model_flops_total",
        "training_last_step_timestamp_seconds",
    )
    composition = "Frames and retransmits add, factors of a step that meets several multiply; one collapse is enough."
    needs = ("network",)

    def apply(self, effects: Effects, application: Application) -> None:
        """Pause the interfaces, stretch the collectives of some steps, or stop them all."""
        if application.intensity == 0.0:
            return
        storm = PauseStorm(
            application.fault,
            application.seed,
            application.ranks,
            pause_frames_per_second=application.number("pause_frames_per_second") * application.intensity,
            retransmits_per_second=application.number("retransmits_per_second") * application.intensity,
            spike_factor=1.0 + (application.number("spike_factor") - 1.0) * application.intensity,
            spike_ratio=application.number("spike_ratio"),
        )
        effects.pause_storms.append(storm)
        effects.fabric_collapsed |= application.intensity >= application.number("collapse_intensity")


KIND = PfcStorm()
