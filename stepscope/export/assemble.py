"""The node that the settings describe: its sources, ready to be started."""

from __future__ import annotations

from exporter.choice import AUTO, Chooser
from exporter.collector import DEADLINE_SECONDS, Collector, Pace
from exporter.node import Node
from exporter.source import Source
from exporter.sources.dcgm.source import DcgmSource
from exporter.sources.job.source import JobSource
from exporter.sources.nvml.source import NvmlSource
from stepscope.api.settings import SettingsError
from stepscope.export.peaks import peak_flops_per_second
from stepscope.export.settings import ExportSettings


def assemble(settings: ExportSettings) -> Node:
    """The node; nothing of it runs yet, and nothing has been asked of a driver. `SettingsError` for what cannot be."""
    auto = AUTO in settings.sources
    asked = [name for name in settings.sources if name != AUTO]
    collectors = [
        Collector(source, pace=pace(settings), quiet=auto and source.name not in asked)
        for source in _gpu_sources(settings)
    ]
    node = Node(collectors, Chooser(asked, auto=auto))
    if auto or "job" in asked:
        node.attach(
            JobSource(
                socket_path=settings.socket_path,
                hostname=settings.hostname,
                hostname_label=settings.hostname_label,
                gpus=node.gpus,
                peak=peak_flops_per_second,
            )
        )
    return node


def pace(settings: ExportSettings) -> Pace:
    """How often each source is asked. No cycle may take longer than its reading would be shown."""
    deadline = min(DEADLINE_SECONDS, settings.max_age_seconds)
    return Pace(interval=settings.interval_seconds, deadline=deadline, max_age=settings.max_age_seconds)


def nvml_source(settings: ExportSettings) -> NvmlSource:
    """The driver of this machine."""
    return NvmlSource(
        hostname=settings.hostname,
        hostname_label=settings.hostname_label,
        max_age_seconds=settings.max_age_seconds,
    )


def _gpu_sources(settings: ExportSettings) -> list[Source]:
    names = ("nvml", "dcgm") if AUTO in settings.sources else settings.sources
    sources: list[Source] = []
    if "nvml" in names:
        sources.append(nvml_source(settings))
    if "dcgm" in names:
        try:
            dcgm = DcgmSource(settings.dcgm_url, hostname=settings.hostname, hostname_label=settings.hostname_label)
        except ValueError as error:
            raise SettingsError(str(error)) from None
        sources.append(dcgm)
    return sources
