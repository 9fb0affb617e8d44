"""Queries, the selectors that they share, and the data sources that they go to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from grafana_foundation_sdk.builders import prometheus
from grafana_foundation_sdk.models.common import DataSourceRef
from grafana_foundation_sdk.models.prometheus import PromQueryFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A provisioned data source, and the variable through which a board reads it."""

    uid: str
    """uid of the provisioned data source, which is its name too, and the variable's default."""
    variable: str
    label: str
    pattern: str = ""
    """Regular expression on the names that the variable offers; empty offers every Prometheus."""

    @property
    def ref(self) -> DataSourceRef:
        """What panels, queries and variables name."""
        return DataSourceRef(type_val="prometheus", uid=f"${{{self.variable}}}")


LAB = Source(uid="stepscope", variable="datasource", label="Data source")
"""The Prometheus that everybody reads. It does not know which faults act."""

ANSWERS = Source(uid="stepscope-answers", variable="answers", label="Answers", pattern="/^stepscope-answers$/")
"""The Prometheus that scrapes the truth page. Its variable has a name of its own: links between boards pass variables
on, and one name would carry this source to the boards of an exercise."""

RUN = 'run="$run"'
"""Selector of the run that the board's variable names."""

NODE = 'Hostname=~"$node|"'
"""Selector of the chosen nodes; the empty alternative lets series without the label pass."""

GPU = f'{NODE}, hostname=~"$node|", gpu=~"$gpu"'
"""Selector of the chosen GPUs. A series has one spelling of the node's label; the other matches as empty."""

Form = Literal["lines", "table", "buckets"]


@dataclass(frozen=True, slots=True)
class Query:
    """One query of a panel."""

    expr: str
    """PromQL. A range over a raw counter is `$__rate_interval`; recorded series need none."""
    legend: str
    """Legend text or template, and the name by which overrides find the series."""
    form: Form = "lines"
    """`lines` over time, the values of one moment as a `table`, or the `buckets` of a histogram over time."""
    source: Source = LAB

    def build(self, position: int) -> prometheus.Dataquery:
        """The query as the SDK's builder; `position` in its panel gives the reference letter."""
        query = (
            prometheus.Dataquery()
            .datasource(self.source.ref)
            .ref_id(chr(ord("A") + position))
            .expr(self.expr)
            .legend_format(self.legend)
        )
        if self.form == "table":
            return query.instant().format(PromQueryFormat.TABLE)
        return query.range().format(PromQueryFormat.HEATMAP) if self.form == "buckets" else query.range()
