"""Panels that stand on more than one board, made anew for each."""

from __future__ import annotations

from grafana_foundation_sdk.builders import statetimeline, timeseries

from boards_lib import formulas, palette
from boards_lib.about import About, percent
from boards_lib.lines import lines, shares
from boards_lib.queries import RUN, Query
from boards_lib.states import states
from boards_lib.style import RATIO
from diagnosis import thresholds

_ALERT_STATES = {0: ("silent", palette.SILENT), 1: ("pending", palette.PENDING), 2: ("firing", palette.FIRING)}
_HEARTBEAT = "Watchdog"
"""The alert that always fires, so that its silence means that alerting is broken."""


def phase_shares() -> timeseries.Panel:
    """What the ranks do with their time."""
    return shares(
        About(
            title="Where the time goes",
            question="What do the ranks do with a second of wall clock?",
            healthy=(
                f"mostly blue (computing), data_wait below {percent(thresholds.DATA_WAIT_HIGH)}, collective and "
                f"collective_wait together below {percent(thresholds.COLLECTIVE_HIGH)}."
            ),
            reading=(
                "Grey moves data, orange waits. One late rank is data_wait on itself and collective_wait on all "
                "others: read the two together."
            ),
            next_board="ranks",
        ),
        tuple(
            Query(f'run:training_phase_share:ratio_rate1m{{{RUN}, phase=~"{"|".join(group)}"}}', "{{phase}}")
            for group in (palette.WORKING, palette.MOVING, palette.WAITING)
        ),
        colours=palette.PHASES,
    )


def both_mfu() -> timeseries.Panel:
    """MFU with and without the time between steps."""
    return lines(
        About(
            title="MFU of the steps, and against wall clock",
            question="Is time lost inside the steps or between them?",
            healthy=f"one line on the other, at {percent(thresholds.MFU_HEALTHY)} or above.",
            reading="Stops, restarts and hangs cost wall clock only: the lines part.",
        ),
        (Query(formulas.MFU, "Inside steps"), Query(formulas.MFU_WALL, "Wall clock")),
        unit=RATIO,
        colours={"Inside steps": palette.MFU, "Wall clock": palette.NEUTRAL},
    )


def alerts(about: About, alert_set: str) -> statetimeline.Panel:
    """The alerts of one set: a line that says whether any is raised, and one for each that is."""
    firing, pending = (_raised(alert_set, state) for state in ("firing", "pending"))
    raised = f"2 * max by (alertname) ({firing}) or max by (alertname) ({pending})"
    return states(
        about,
        (Query(f"max({raised}) or vector(0)", "any of them"), Query(raised, "{{alertname}}")),
        _ALERT_STATES,
    )


def _raised(alert_set: str, state: str) -> str:
    """Alerts on the run, on one of its GPUs, and those that concern neither: a target, the exporter.

    Of those, the ones that come from the job of another run are none of this run's business.
    """
    others = f"training_run_info{{{RUN.replace('=', '!=', 1)}}} unless on (job) training_run_info{{{RUN}}}"
    chosen = f'ALERTS{{set="{alert_set}", alertname!="{_HEARTBEAT}", alertstate="{state}"'
    return (
        f'{chosen}, {RUN}}} or {chosen}, run="", UUID!=""}} and on (UUID) {formulas.OF_RUN}'
        f' or {chosen}, run="", UUID=""}} unless on (job) ({others})'
    )
