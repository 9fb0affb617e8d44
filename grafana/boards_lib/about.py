"""What a panel is for, and where its values stop being healthy."""

from __future__ import annotations

from dataclasses import dataclass

from grafana_foundation_sdk.builders import dashboard as build_dashboard
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models import dashboard

from boards_lib import palette

NO_DATA = "No run here yet: start one with `make lab` or `docker compose up`"
NO_NETWORK = "This job never leaves its node. One that does: `make lab ARGS='--preset anatomy-32gpu'`"
NO_ANSWERS = "No answers here: start them with `docker compose --profile answers up`"


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a panel is for."""

    title: str
    question: str
    """What the reader wants to know, ending in a question mark."""
    healthy: str
    """What it shows when all is well."""
    reading: str = ""
    """How to read it when it does not."""
    empty: str = NO_DATA
    """What stands there without data: what to start."""
    next_board: str = ""
    """uid of the board that answers the question which this panel raises."""

    @property
    def description(self) -> str:
        """The text behind the panel's i, in Markdown."""
        parts = (self.question, f"**Healthy:** {self.healthy}", self.reading)
        return "\n\n".join(part for part in parts if part)

    @property
    def links(self) -> list[Builder[dashboard.DashboardLink]]:
        """The link to the next board, with the time and the variables of this one."""
        if not self.next_board:
            return []
        title = f"Next: {self.next_board.replace('-', ' ')}"
        url = f"/d/{self.next_board}?${{__url_time_range}}&${{__all_variables}}"
        return [build_dashboard.DashboardLink(title).type(dashboard.DashboardLinkType.LINK).url(url)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The two thresholds of a value that is good when it is high."""

    low: float
    healthy: float

    @property
    def steps(self) -> list[dashboard.Threshold]:
        """Bad below `low`, good from `healthy`."""
        steps = [dashboard.Threshold(value=None, color=palette.BAD)]
        if self.low < self.healthy:
            steps.append(dashboard.Threshold(value=self.low, color=palette.WARN))
        return [*steps, dashboard.Threshold(value=self.healthy, color=palette.GOOD)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """The threshold of a value that is good while it is low."""

    high: float
    """From here on the value is bad."""

    @property
    def steps(self) -> list[dashboard.Threshold]:
        """Good below `high`."""
        return [
            dashboard.Threshold(value=None, color=palette.GOOD),
            dashboard.Threshold(value=self.high, color=palette.BAD),
        ]


Judgement = Limits | Ceiling


def percent(ratio: float) -> str:
    """A ratio as text: 0.4 is `40 %`."""
    return f"{100 * ratio:.0f} %"
