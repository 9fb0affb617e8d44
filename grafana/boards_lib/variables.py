"""The variables of the boards. Each offers what the one before it leaves, and travels with links under one name."""

from __future__ import annotations

from grafana_foundation_sdk.builders import dashboard as build
from grafana_foundation_sdk.models import dashboard

from boards_lib.queries import LAB, NODE, RUN, Source


def source_variable(source: Source) -> build.DatasourceVariable:
    """Which Prometheus to read; the provisioned one unless the reader picks another."""
    variable = (
        build.DatasourceVariable(source.variable)
        .label(source.label)
        .type("prometheus")
        .current(dashboard.VariableOption(selected=True, text=source.uid, value=source.uid))
    )
    return variable.regex(source.pattern) if source.pattern else variable


def run_variable() -> build.QueryVariable:
    """Which run to look at, the newest name first."""
    return _query("run", "Run", "label_values(training_run_info, run)").sort(dashboard.VariableSort.ALPHABETICAL_DESC)


def run_passed_on() -> build.TextBoxVariable:
    """The run, on a board that has no use for it: unseen, so that it survives the way through this board."""
    return build.TextBoxVariable("run").hide(dashboard.VariableHide.HIDE_VARIABLE).default_value("")


def node_variable() -> build.QueryVariable:
    """Which nodes of the run."""
    query = f"label_values(training_rank_info{{{RUN}}}, Hostname)"
    return _many(_query("node", "Node", query)).sort(dashboard.VariableSort.ALPHABETICAL_ASC)


def rank_variable() -> build.QueryVariable:
    """Which ranks of those nodes."""
    query = f"label_values(training_rank_info{{{RUN}, {NODE}}}, rank)"
    return _many(_query("rank", "Rank", query)).sort(dashboard.VariableSort.NUMERICAL_ASC)


def gpu_node_variable() -> build.QueryVariable:
    """Which nodes of a GPU exporter, however it spells their label."""
    query = "query_result(group by (Hostname, hostname) (DCGM_FI_DEV_GPU_TEMP))"
    return (
        _many(_query("node", "Node", query))
        .regex('/[Hh]ostname="([^"]+)"/')
        .sort(dashboard.VariableSort.ALPHABETICAL_ASC)
    )


def gpu_variable() -> build.QueryVariable:
    """Which GPUs of those nodes, by their number on the node."""
    query = f'label_values(DCGM_FI_DEV_GPU_TEMP{{{NODE}, hostname=~"$node|"}}, gpu)'
    return _many(_query("gpu", "GPU", query)).sort(dashboard.VariableSort.NUMERICAL_ASC)


def _query(name: str, label: str, query: str) -> build.QueryVariable:
    return (
        build.QueryVariable(name)
        .label(label)
        .datasource(LAB.ref)
        .query(query)
        .definition(query)
        .refresh(dashboard.VariableRefresh.ON_TIME_RANGE_CHANGED)
    )


def _many(variable: build.QueryVariable) -> build.QueryVariable:
    """Several may be chosen; at first all are, as one pattern that no number of them makes longer."""
    everything = dashboard.VariableOption(selected=True, text=["All"], value=["$__all"])
    return variable.multi(True).include_all(True).all_value(".*").current(everything)
