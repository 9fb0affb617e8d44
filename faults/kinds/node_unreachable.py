"""A node does not answer the scrape: its exporter is down, or the way to it is. The job runs on."""

from __future__ import annotations

from faults.effects import Effects, Outage
from faults.kind import Application, Kind
from faults.target import Target


class NodeUnreachable(Kind):
    """Intensity is the share of the time in which it does not answer, ten seconds at a time.

    The page of the node answers with status 503, for which Prometheus stores `up` 0 and ends the node's series, as it
    does when nothing answers at all; the single page for people leaves the node out.
    """

    name = "node_unreachable"
    summary = "The exporter of a node does not answer; what runs on the node is well."
    look_at = (
        "up of that node's target 0, and all series of its GPUs and ranks gone, while steps and tokens of the job go "
        "on as before: nothing is known of the node, and nothing is wrong with it."
    )
    metrics = ("up",)
    composition = "Unreachable for one reason is unreachable."
    target_modes = ("nodes", "all")
    default_target = Target("nodes")

    def apply(self, effects: Effects, application: Application) -> None:
        """Keep the ranks' nodes from answering."""
        if application.intensity > 0.0:
            outage = Outage(application.fault, application.seed, application.ranks, application.intensity)
            effects.node_outages.append(outage)


KIND = NodeUnreachable()
