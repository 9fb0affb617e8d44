"""Reports to the training families, spelled as the simulated job spells them. What was not reported is absent.

Per-rank families come from every node. What exists once per run comes from rank 0, so from one node alone. Storage and
network of a node are not among them: a training process cannot see them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from exporter.catalogue import BY_NAME, RANK_FAMILIES, RUN_FAMILIES, Family
from exporter.reading import Gpu
from exporter.render import Format, head, header, histogram, inner, lines, number
from exporter.sources.job.devices import find_gpu
from exporter.sources.job.report import JOB_PHASES, Report
from simulator.names import STEP_SECONDS_BUCKETS

SOURCE = "job"
"""Value of the label `source`."""

Peak = Callable[[str, str], float | None]
"""Dense peak, in FLOP/s, of a GPU of this name at this precision; None when it is not known."""


_TOLD_AFTER_STEPS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What this node knows, and a report does not."""

    hostname: str
    hostname_label: str
    gpus: Sequence[Gpu]
    peak: Peak


@dataclass(frozen=True, slots=True)
class _Rank:
    report: Report
    gpu: Gpu | None

    @property
    def opened(self) -> str:
        return "{" + inner((("run", self.report.run), ("rank", str(self.report.rank))))

    @property
    def gpu_model(self) -> str:
        """As the driver has it, else as the rank does."""
        known = dict(self.gpu.labels).get("modelName") if self.gpu is not None else None
        return known or self.report.gpu.name


def families(reports: Sequence[Report], place: Place, format_: Format) -> Iterator[str]:
    """Text of every family that has a sample, in the catalogue's order. `reports`: one of each rank of a run."""
    ranks = [_Rank(report, find_gpu(report.gpu, place.gpus)) for report in reports]
    yield from _rank_families(ranks, place, format_)
    yield from _run_families([rank for rank in ranks if rank.report.rank == 0], place, format_)


def without_peak(reports: Sequence[Report], place: Place) -> Iterator[tuple[str, str]]:
    """Runs of this page that have no peak, and so no MFU, each with the reason in words."""
    for report in reports:
        # A recorder looks for its GPU when the first steps begin.
        if report.rank == 0 and (report.steps or 0) >= _TOLD_AFTER_STEPS:
            rank = _Rank(report, find_gpu(report.gpu, place.gpus))
            if _peak(rank, place.peak) is None:
                precision = f"at precision {report.precision!r}" if report.precision else "without a precision"
                yield report.run, f"no peak is known of {rank.gpu_model or 'its device'} {precision}"


def _rank_families(ranks: Sequence[_Rank], place: Place, format_: Format) -> Iterator[str]:
    opened = [rank.opened for rank in ranks]
    for family in RANK_FAMILIES:
        if family.name == "training_rank_info":
            text = lines(family.name, [_rank_info_head(rank, place) for rank in ranks], ["1"] * len(ranks))
        elif family.name == "training_phase_seconds_total":
            text = "".join(
                _known(family, opened, f',phase="{phase}"}} ', [rank.report.phases.get(phase) for rank in ranks])
                for phase in JOB_PHASES
            )
        else:
            text = _known(family, opened, "} ", [_VALUES[family.name](rank.report) for rank in ranks])
        if text:
            yield header(family, format_) + text


def _known(family: Family, opened: Sequence[str], ending: str, values: Sequence[float | None]) -> str:
    there = [(start + ending, number(value)) for start, value in zip(opened, values, strict=True) if value is not None]
    return lines(family.name, [start for start, _ in there], [value for _, value in there])


def _rank_info_head(rank: _Rank, place: Place) -> str:
    labels = [("run", rank.report.run), ("rank", str(rank.report.rank)), (place.hostname_label, place.hostname)]
    if rank.gpu is not None:
        labels += [("gpu", rank.gpu.index), ("UUID", rank.gpu.uuid)]
    return head((name, value) for name, value in labels if value)


def _run_families(ranks: Sequence[_Rank], place: Place, format_: Format) -> Iterator[str]:
    for family in RUN_FAMILIES:
        text = "".join(_run_sample(family, rank, place) for rank in ranks)
        if text:
            yield header(family, format_) + text


def _run_sample(family: Family, rank: _Rank, place: Place) -> str:
    report = rank.report
    run = (("run", report.run),)
    if family.type == "histogram":
        if report.step_seconds_sum is None:
            return ""
        counts = list(accumulate(report.step_seconds_counts))
        return histogram(family, run, bounds=STEP_SECONDS_BUCKETS, counts=counts, total=report.step_seconds_sum)
    if family.name == "training_run_info":
        return f"{family.name}{_run_info_head(rank)}1\n"
    value = _peak(rank, place.peak) if family.name in _OF_THE_DEVICE else _VALUES[family.name](report)
    if value is None:
        return ""
    return f"{family.name}{head(run)}{value if family.number == 'int' else number(float(value))}\n"


def _run_info_head(rank: _Rank) -> str:
    report = rank.report
    values = {
        "run": report.run,
        "model": report.model,
        "precision": report.precision,
        "strategy": report.strategy,
        "gpu_model": rank.gpu_model,
        "flops_convention": report.flops_convention,
        "source": SOURCE,
    }
    labels = BY_NAME["training_run_info"].labels
    return head((name, values[name]) for name in labels if values[name])


def _peak(rank: _Rank, known: Peak) -> float | None:
    """Of the whole run, as if every rank had rank 0's device."""
    own = rank.report.peak_flops_per_second or known(rank.gpu_model, rank.report.precision)
    return rank.report.world_size * own if own else None


_OF_THE_DEVICE = {"training_peak_flops_per_second"}
_VALUES: Mapping[str, Callable[[Report], float | None]] = {
    "training_collective_seconds_total": lambda report: report.collective_seconds,
    "training_collective_bytes_total": lambda report: report.collective_bytes,
    "training_dataloader_queue_batches": lambda report: report.queue_batches,
    "training_dataloader_capacity_batches": lambda report: report.capacity_batches,
    "training_steps_total": lambda report: report.steps,
    "training_tokens_total": lambda report: report.tokens,
    "training_samples_total": lambda report: report.samples,
    "training_model_flops_total": lambda report: report.model_flops,
    "training_loss": lambda report: report.loss,
    "training_grad_norm": lambda report: report.grad_norm,
    "training_learning_rate": lambda report: report.learning_rate,
    "training_loss_scale": lambda report: report.loss_scale,
    "training_nonfinite_steps_total": lambda report: report.nonfinite_steps,
    "training_skipped_steps_total": lambda report: report.skipped_steps,
    "training_checkpoints_total": lambda report: report.checkpoints,
    "training_grad_norm_spikes_total": lambda report: report.grad_norm_spikes,
    "training_last_step_timestamp_seconds": lambda report: report.last_step_time or None,
}
