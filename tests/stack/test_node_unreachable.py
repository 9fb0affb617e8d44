"""A simulated node that does not answer, and what a real Prometheus makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stack.conftest import all_up
from tests.stack.real import eventually
from tests.stack.servers import running_lab, running_prometheus, shipped_config

pytestmark = pytest.mark.stack


def test_its_target_is_down_its_series_end_and_the_job_goes_on(tmp_path: Path) -> None:
    with running_lab(tmp_path / "lab.log", "--preset", "anatomy-32gpu") as lab:
        config = shipped_config(lab=lab)
        with running_prometheus(tmp_path / "prometheus", config) as prometheus:
            eventually("every target is up", lambda: all_up(prometheus, count=5), within=60)
            target = {"mode": "nodes", "value": [2]}
            lab.put_fault("gone", kind="node_unreachable", target=target, open_ended=True)

            def down() -> dict[str, float] | None:
                up = {dict(labels)["instance"]: value for labels, value in prometheus.vector("up").items()}
                return up if up.get("node-02") == 0 else None

            up = eventually("the node's target is down", down, within=30)
            assert up == {"run": 1, "node-00": 1, "node-01": 1, "node-02": 0, "node-03": 1}
            assert prometheus.value("count(training_rank_info)") == 24
            assert prometheus.value("count(DCGM_FI_DEV_GPU_UTIL)") == 24
            steps = prometheus.value("training_steps_total")
            eventually("steps go on", lambda: prometheus.value("training_steps_total") > steps or None, within=30)
            lab.clear_fault("gone")
            eventually("it is up again", lambda: all_up(prometheus, count=5), within=30)
