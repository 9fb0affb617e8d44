"""`/v1/job` and `/v1/presets`: what runs, and running something else."""

from __future__ import annotations

from simulator.job import JobSpec
from simulator.observation import Tick
from simulator.presets import PRESETS
from stepscope.api.lab import CurrentLab, CurrentTick
from stepscope.api.models.job import JobView, JobWrite, PresetList, PresetView, StartedView
from stepscope.api.responses import READ, WRITE, problems
from stepscope.api.routes.common import v1
from stepscope.api.views import rfc3339, run_view

router = v1("job")


@router.get("/job", responses=problems(*READ, 503))
def get_job(tick: CurrentTick) -> JobView:
    """The job that runs."""
    return _job(tick)


@router.put("/job", responses=problems(*WRITE))
def put_job(lab: CurrentLab, wanted: JobWrite) -> StartedView:
    """Start a preset as a new run, with a `run` label of its own; the faults of the old run end with it."""
    seed = lab.engine.seed if wanted.seed is None else wanted.seed
    started = lab.engine.start_job(wanted.preset, seed=seed)
    job = _job(started.tick)
    return StartedView(run=job.run, started_at=job.started_at, faults_ended=started.faults_ended)


@router.get("/presets", responses=problems(*READ))
def list_presets() -> PresetList:
    """The jobs that can be started."""
    return PresetList(presets=[_preset(spec) for spec in PRESETS.values()])


def _job(tick: Tick) -> JobView:
    return JobView(run=run_view(tick.info), started_at=rfc3339(tick.timestamp - tick.seconds))


def _preset(spec: JobSpec) -> PresetView:
    return PresetView(
        preset=spec.preset,
        summary=spec.title,
        model=spec.model.name,
        gpu_model=spec.cluster.gpu.product,
        ranks=spec.ranks,
        nodes=spec.cluster.nodes,
        notes=list(spec.notes),
    )
