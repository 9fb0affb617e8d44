"""The maths between samples and verdicts: what each rank, each node and the run did per step of one window.

Time is given per *step*, and steps are counted by each rank's own progress (bytes moved in collectives, the same for
every rank of a step): nodes are scraped seconds apart, and a minute of one has more of a fault that has just set in
than a minute of another. Shapes: R ranks, K nodes, P phases. NaN is "not known".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from diagnosis import thresholds as limit
from diagnosis.rates import increase, last, mean, ratio
from diagnosis.series import Series
from simulator.names import PHASES, STEP_SECONDS_BUCKETS
from simulator.observation import Floats

DATA_WAIT, H2D, FORWARD, BACKWARD, COLLECTIVE_WAIT, COLLECTIVE, OPTIMIZER, CHECKPOINT, STALL = range(len(PHASES))


@dataclass(frozen=True)
class Window:
    """One stretch of a run's series. Everything is computed when first asked for."""

    series: Series
    bytes_per_step: float = float("nan")
    """What a rank moves in collectives per step. Given to all windows of a case alike, it makes them comparable: the
    step that is under way at a border counts by what was done of it. NaN: from the window itself."""

    @cached_property
    def seconds(self) -> float:
        """Between the first and the last scrape."""
        times = self.series.times
        return float(times[-1] - times[0]) if len(times) else 0.0

    @property
    def scrapes(self) -> int:
        """N."""
        return len(self.series.times)

    @cached_property
    def single(self) -> Mapping[str, float]:
        """Last value of every sample of which the run has one."""
        return {name: float(last(values)) for name, values in self.series.single.items()}

    def grown(self, name: str) -> float:
        """Growth of a counter of the run; NaN when it is not there."""
        return float(increase(self.series.single[name]))

    # -- pace ---------------------------------------------------------------------------------------------------

    @cached_property
    def steps(self) -> float:
        """Steps that ended."""
        count = self.grown("training_step_seconds_count")
        return 0.0 if np.isnan(count) else count

    @cached_property
    def step_seconds(self) -> float:
        """Mean duration of the steps that ended; NaN when none did."""
        return ratio(self.grown("training_step_seconds_sum"), self.steps)

    @cached_property
    def mfu(self) -> float:
        """Model FLOPs utilization of the steps that ended, 0-1."""
        work = self.grown("training_model_flops_total") * self.steps / max(1.0, self.grown("training_steps_total"))
        return ratio(
            ratio(work, self.grown("training_step_seconds_sum")), self.single["training_peak_flops_per_second"]
        )

    @cached_property
    def step_counts(self) -> Floats:
        """(B,) steps that ended, by the bucket of their duration."""
        counts: Floats = np.diff(np.nan_to_num(increase(self.series.buckets)), prepend=0.0)
        return counts

    @cached_property
    def step_cv(self) -> float:
        """Spread of the step time over its mean, from the histogram: 0 when all steps fall into one bucket."""
        counts = self.step_counts
        if not counts.sum() > 1:
            return float("nan")
        bounds = np.array([0.0, *STEP_SECONDS_BUCKETS, 2 * STEP_SECONDS_BUCKETS[-1]])
        middle = np.sqrt(np.maximum(bounds[:-1], bounds[1] / 2) * bounds[1:])
        weight = counts / counts.sum()
        centre = float(weight @ middle)
        return float(np.sqrt(weight @ (middle - centre) ** 2)) / centre

    @cached_property
    def longest_step_seconds(self) -> float:
        """Lower edge of the highest bucket in which a step ended; NaN when none did."""
        counts = self.step_counts
        used = np.flatnonzero(counts > 0)
        return float([0.0, *STEP_SECONDS_BUCKETS][used[-1]]) if len(used) else float("nan")

    # -- ranks --------------------------------------------------------------------------------------------------

    @cached_property
    def clock(self) -> Floats:
        """(R,) wall clock that each rank accounts for: the sum of its phases."""
        clock: Floats = np.nansum(self._grown_phases, axis=0)
        return np.where(np.isnan(self._grown_phases).all(axis=0), np.nan, clock)

    @cached_property
    def _grown_phases(self) -> Floats:
        return increase(self.series.phase_seconds)

    @cached_property
    def rank_steps(self) -> Floats:
        """(R,) steps that each rank did, fractions included; NaN where nothing tells."""
        clock = self.clock
        step = self.step_seconds
        if np.isnan(step) or not np.isfinite(clock).any():
            return np.full(self.series.ranks, np.nan)
        moved = increase(self.series.rank["training_collective_bytes_total"])
        usable = np.isfinite(moved) & (moved > 0)
        if not usable.any():
            return np.where(clock > 0, clock / step, np.nan)
        each = self.bytes_per_step
        if not each > 0:
            each = float(np.median(moved[usable])) * step / middle(clock)
        return np.where(usable, moved / each, np.nan)

    @cached_property
    def pace_seconds(self) -> float:
        """Wall clock per step, counting also the step that is under way, without checkpoints and stalls."""
        each = self.clock / self.rank_steps - self.phases[CHECKPOINT] - self.phases[STALL]
        return middle(each)

    @cached_property
    def phases(self) -> Floats:
        """(P, R) seconds per step in each phase; 0 for a phase that a source does not know."""
        return np.nan_to_num(self._grown_phases) / self.rank_steps

    def _of(self, *rows: int) -> Floats:
        """(R,) seconds per step in these phases together."""
        total: Floats = self.phases[list(rows)].sum(axis=0)
        return total

    @cached_property
    def splits_waiting(self) -> bool:
        """Whether waiting in a collective is told from transferring; a real job cannot."""
        return bool(np.isfinite(self.series.phase_seconds[:, COLLECTIVE_WAIT]).any())

    @cached_property
    def compute(self) -> Floats:
        """(R,) seconds per step of forward and backward."""
        return self._of(FORWARD, BACKWARD)

    @cached_property
    def work(self) -> Floats:
        """(R,) seconds per step that a rank works at its own pace: copy to the device, forward, backward."""
        return self._of(H2D, FORWARD, BACKWARD)

    @cached_property
    def communication(self) -> Floats:
        """(R,) seconds per step in exposed collectives, waiting for peers included."""
        return self._of(COLLECTIVE_WAIT, COLLECTIVE)

    @cached_property
    def communication_excess(self) -> Floats:
        """(R,) the same beyond the least of the peers: 0 is who is waited for."""
        return self.communication - low(self.communication)

    @cached_property
    def exposed(self) -> float:
        """Seconds per step that the rank with least communication spends in it."""
        return low(self.communication)

    @cached_property
    def data_wait(self) -> Floats:
        """(R,) seconds per step waiting for a batch."""
        return self._of(DATA_WAIT)

    @cached_property
    def input_late(self) -> float:
        """Seconds per step that late batches cost the job, on whichever ranks they are late.

        A late batch costs every rank the same: the late one waits for data, the others for it. So the sum over ranks
        counts, held to what each of them spends on both.
        """
        handed = np.maximum(0.0, self.data_wait - limit.HANDOVER_SHARE * self.step_seconds)
        return min(float(np.nansum(handed)), low(self.data_wait + self.communication))

    @cached_property
    def bus_bandwidth(self) -> float:
        """Bytes per second of the collectives, on the rank that spins least in them; NaN when nothing was moved."""
        moved = increase(self.series.rank["training_collective_bytes_total"])
        inside = increase(self.series.rank["training_collective_seconds_total"])
        good = (inside > 0) & (moved > 0)
        return float((moved[good] / inside[good]).max()) if good.any() else float("nan")

    @cached_property
    def kernel_seconds(self) -> Floats:
        """(R,) seconds per step inside collective kernels, overlapped and spinning included."""
        return increase(self.series.rank["training_collective_seconds_total"]) / self.rank_steps

    @cached_property
    def queue_fill(self) -> Floats:
        """(R,) share of the loader's queue that was full, mean over the scrapes; NaN where there is no queue."""
        capacity = last(self.series.rank["training_dataloader_capacity_batches"])
        queue = mean(self.series.rank["training_dataloader_queue_batches"])
        return np.where(capacity > 0, queue / np.maximum(capacity, 1.0), np.nan)

    # -- boards and nodes ---------------------------------------------------------------------------------------

    def gpu(self, name: str) -> Floats:
        """(R,) mean of a reading over the scrapes."""
        return mean(self.series.gpu[name])

    def gpu_last(self, name: str) -> Floats:
        """(R,) newest value of a reading."""
        return last(self.series.gpu[name])

    def gpu_grown(self, name: str) -> Floats:
        """(R,) growth of a counter of the boards, per second."""
        return increase(self.series.gpu[name]) / max(self.seconds, 1e-9)

    def node(self, name: str) -> Floats:
        """(K,) growth of a counter of the nodes, per second."""
        return increase(self.series.node[name]) / max(self.seconds, 1e-9)

    def link(self, name: str) -> Floats:
        """(L,) growth of a counter of the network interfaces, per second."""
        return increase(self.series.link[name]) / max(self.seconds, 1e-9)

    @cached_property
    def link_share(self) -> Floats:
        """(L,) bytes that an interface sent over the median of the interfaces of its node: 1 is its fair part."""
        sent = self.link("training_network_transmit_bytes_total")
        node_of = np.array([link.node for link in self.series.links], dtype=np.int64)
        usual = np.array([middle(sent[node_of == node]) for node in range(len(self.series.nodes))])
        with np.errstate(invalid="ignore", divide="ignore"):
            share: Floats = sent / usual[node_of] if len(sent) else sent
        return share

    @cached_property
    def transfer(self) -> float:
        """Seconds per step that a rank is inside collectives without waiting for a peer that is late.

        The median over ranks. Where a source cannot tell waiting from transferring, that of the rank that spins least.
        """
        if self.splits_waiting:
            return middle(self.kernel_seconds - self.phases[COLLECTIVE_WAIT])
        return low(self.kernel_seconds)

    def over_nodes(self, values: Floats) -> Floats:
        """(K,) median over the ranks of each node of (R,) values."""
        node_of = self.series.node_of
        return np.array([middle(values[node_of == node]) for node in range(len(self.series.nodes))])


def high(values: Floats) -> float:
    """Greatest of what is known; NaN when nothing is."""
    known = values[np.isfinite(values)]
    return float(known.max()) if len(known) else float("nan")


def low(values: Floats) -> float:
    """Least of what is known; NaN when nothing is."""
    known = values[np.isfinite(values)]
    return float(known.min()) if len(known) else float("nan")


def middle(values: Floats) -> float:
    """Median of what is known; NaN when nothing is."""
    known = values[np.isfinite(values)]
    return float(np.median(known)) if len(known) else float("nan")
