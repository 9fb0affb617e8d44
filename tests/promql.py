"""What a PromQL text selects, asked of a parser."""

from __future__ import annotations

from dataclasses import dataclass

import promql_parser


@dataclass(frozen=True, slots=True)
class Selection:
    """The series that a query reads."""

    metrics: frozenset[str]
    """Metric names."""
    ranged: frozenset[str]
    """Those of them that are read over a range."""
    labels: frozenset[str]
    """Label names that selectors match on."""


def selection(expr: str) -> Selection:
    """Parses the query, which fails on bad syntax, and collects what its selectors name."""
    metrics: set[str] = set()
    ranged: set[str] = set()
    labels: set[str] = set()

    def visit(node: promql_parser.Expr) -> None:
        selector = node.vector_selector if isinstance(node, promql_parser.MatrixSelector) else node
        if not isinstance(selector, promql_parser.VectorSelector):
            return
        assert selector.name is not None, f"a selector without a metric name in {expr}"
        metrics.add(selector.name)
        if selector is not node:
            ranged.add(selector.name)
        labels.update(matcher.name for matcher in selector.matchers.matchers)

    promql_parser.walk(promql_parser.parse(expr), pre_visit=visit)
    return Selection(frozenset(metrics), frozenset(ranged), frozenset(labels))
