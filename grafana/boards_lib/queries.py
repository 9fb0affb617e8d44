"""Queries and the data source they go to."""

from __future__ import annotations

from dataclasses import dataclass

from grafana_foundation_sdk.builders import prometheus
from grafana_foundation_sdk.models.common import DataSourceRef

DATASOURCE_UID = "stepscope"
"""uid of the provisioned data source, and the default of every board's data-source variable."""

DATASOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")

RUN = 'run="$run"'
"""Selector of the run that the board's variable names."""


@dataclass(frozen=True, slots=True)
class Query:
    """One query of a panel."""

    expr: str
    """PromQL. A range over a raw counter is `$__rate_interval`; recorded series need none."""
    legend: str
    """Legend text or template, and the name by which overrides find the series."""

    def build(self, position: int) -> prometheus.Dataquery:
        """The query as the SDK's builder; `position` in its panel gives the reference letter."""
        return (
            prometheus.Dataquery()
            .datasource(DATASOURCE)
            .ref_id(chr(ord("A") + position))
            .expr(self.expr)
            .legend_format(self.legend)
            .range()
        )
