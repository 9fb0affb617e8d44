"""GPU performance monitoring, Hopper and newer: what DCGM calls profiling, without DCGM.

The driver fills a buffer with counters; metrics are the difference of two such samples, so the first cycle has none.
Buffers belong to the thread that made them: two threads in one buffer have brought kernels down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

_MIB = 2.0**20
_LEAST_SECONDS = 0.1
"""The driver refreshes its counters no faster: closer samples give nonsense."""

# Metric of NVML, family, exposed units per unit of NVML (percent, MiB/s).
INSTANCE_METRICS = (
    ("NVML_GPM_METRIC_GRAPHICS_UTIL", "DCGM_FI_PROF_GR_ENGINE_ACTIVE", 0.01),
    ("NVML_GPM_METRIC_SM_UTIL", "DCGM_FI_PROF_SM_ACTIVE", 0.01),
    ("NVML_GPM_METRIC_SM_OCCUPANCY", "DCGM_FI_PROF_SM_OCCUPANCY", 0.01),
    ("NVML_GPM_METRIC_ANY_TENSOR_UTIL", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", 0.01),
    ("NVML_GPM_METRIC_DRAM_BW_UTIL", "DCGM_FI_PROF_DRAM_ACTIVE", 0.01),
    ("NVML_GPM_METRIC_FP64_UTIL", "DCGM_FI_PROF_PIPE_FP64_ACTIVE", 0.01),
    ("NVML_GPM_METRIC_FP32_UTIL", "DCGM_FI_PROF_PIPE_FP32_ACTIVE", 0.01),
    ("NVML_GPM_METRIC_FP16_UTIL", "DCGM_FI_PROF_PIPE_FP16_ACTIVE", 0.01),
)
"""What a partition has of its own."""

BOARD_METRICS = (
    ("NVML_GPM_METRIC_PCIE_TX_PER_SEC", "DCGM_FI_PROF_PCIE_TX_BYTES", _MIB),
    ("NVML_GPM_METRIC_PCIE_RX_PER_SEC", "DCGM_FI_PROF_PCIE_RX_BYTES", _MIB),
    ("NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC", "DCGM_FI_PROF_NVLINK_TX_BYTES", _MIB),
    ("NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC", "DCGM_FI_PROF_NVLINK_RX_BYTES", _MIB),
)
"""What only a board has."""

Metric = tuple[str, str, float]


class Gpm:
    """Samples of one board or partition; every method is for the thread of its board."""

    def __init__(
        self, library: Any, metrics: Iterable[Metric], fill: Callable[[Any], object], clock: Callable[[], float]
    ) -> None:
        """`fill` has the driver write a sample into a buffer. Raises what NVML raises."""
        self._library = library
        self._fill = fill
        self._clock = clock
        self._samples: list[Any] = []
        self._filled: float | None = None
        """When the first sample was taken; None while there is none to compare with."""
        self._metrics = tuple(metrics)
        self._request = library.c_nvmlGpmMetricsGet_t()
        self._request.version = library.NVML_GPM_METRICS_GET_VERSION
        self._request.numMetrics = len(self._metrics)
        self._answers = [self._request.metrics[index] for index in range(len(self._metrics))]
        for answer, (name, _, _) in zip(self._answers, self._metrics, strict=True):
            answer.metricId = getattr(library, name)
        self.missing: set[str] = set()
        """Families that the last comparison had no value for."""
        try:
            self._samples = [library.nvmlGpmSampleAlloc()]
            self._samples.append(library.nvmlGpmSampleAlloc())
        except BaseException:
            self.free()
            raise

    @property
    def families(self) -> frozenset[str]:
        """What this should give."""
        return frozenset(family for _, family, _ in self._metrics)

    def read(self) -> list[tuple[str, float]]:
        """Family and value, in exposed units, over the time since the last call; nothing at the first.

        Raises what NVML raises; the next call is then a first one again.
        """
        now, before = self._clock(), self._filled
        if before is not None and now - before < _LEAST_SECONDS:
            return []
        self._filled = None
        old, new = self._samples
        self._fill(new)
        values = [] if before is None else self._compare(old, new)
        self._samples = [new, old]
        self._filled = now
        return values

    def free(self) -> None:
        """Give the buffers back; what NVML says to that changes nothing."""
        samples, self._samples, self._filled = self._samples, [], None
        for sample in samples:
            try:
                self._library.nvmlGpmSampleFree(sample)
            except Exception:  # the second buffer goes back whatever became of the first
                continue

    def _compare(self, old: Any, new: Any) -> list[tuple[str, float]]:
        self._request.sample1, self._request.sample2 = old, new
        self._library.nvmlGpmMetricsGet(self._request)
        values = []
        self.missing.clear()
        for answer, (_, family, factor) in zip(self._answers, self._metrics, strict=True):
            if answer.nvmlReturn == 0:
                values.append((family, answer.value * factor))
            else:
                self.missing.add(family)
        return values
