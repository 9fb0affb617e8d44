"""A Prometheus that holds what a run showed, without a server."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs

from diagnosis.series import Series
from tests.diagnosis.test_answers import results

URL = "http://prometheus:9090"


def answer(result: object, kind: str = "matrix") -> bytes:
    """What a Prometheus answers a query with."""
    return json.dumps({"status": "success", "data": {"resultType": kind, "result": result}}).encode()


class Stored:
    """Answers as a Prometheus that holds these series does; remembers what it was asked."""

    def __init__(self, held: Series) -> None:
        self.members, self.rest = results(held)
        self.asked: list[dict[str, str]] = []

    def __call__(self, url: str, form: bytes, seconds: float) -> bytes:
        assert url == f"{URL}/api/v1/query_range"
        assert seconds > 0
        asked = {name: values[0] for name, values in parse_qs(form.decode()).items()}
        self.asked.append(asked)
        rows = self.members if asked["query"].startswith("training_rank_info") else self._matching(asked["query"])
        first, last = float(asked["start"]) - 1e-6, float(asked["end"]) + 1e-6
        step = float(asked["step"])
        cut = [
            {**row, "values": [(t, v) for t, v in row["values"] if first <= t <= last and (t - first) % step < 1e-3]}
            for row in rows
        ]
        return answer([row for row in cut if row["values"]])

    def _matching(self, query: str) -> list[dict[str, Any]]:
        names = query.partition('"')[2].partition('"')[0].split("|") if "__name__" in query else [query.split()[0]]
        return [row for row in self.rest if row["metric"]["__name__"] in names]
