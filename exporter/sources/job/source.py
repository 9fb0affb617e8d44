"""The training job as a source: the recorders' socket to text of the training families."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from exporter.catalogue import HOSTNAME
from exporter.reading import Gpu
from exporter.render import Format
from exporter.sources.job.book import BOOK_REASONS, MAX_RUNS, Book
from exporter.sources.job.check import CHECK_REASONS, check
from exporter.sources.job.families import SOURCE, Peak, Place, families, without_peak
from exporter.sources.job.fields import Refused
from exporter.sources.job.receiver import RECEIVER_REASONS, Receiver
from exporter.sources.job.report import Report
from exporter.sources.job.socket_file import SOCKET_REASONS
from exporter.sources.job.wire import socket_paths

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """How the source does. Counts are since the start; every reason is there from the start."""

    up: bool
    """Whether recorders can report. A node without a job is up."""
    detail: str
    """The socket's path when up, else why it is down."""
    errors: Mapping[str, int]
    """Times that the socket was lost or could not be had, by reason."""
    dropped: Mapping[str, int]
    """Reports and datagrams that were not believed, by reason."""
    last_success: float
    """Unix time of the last report that was; 0 before."""
    runs: int
    """Runs with series now."""
    ranks: int
    """Ranks of this node with series now, over all runs."""


class JobSource:
    """Listens to the recorders of this node in a thread of its own. Methods may be called from any thread."""

    name = SOURCE
    error_reasons = SOCKET_REASONS
    """Keys of `JobStatus.errors`."""
    drop_reasons = (*RECEIVER_REASONS, *CHECK_REASONS, *BOOK_REASONS)
    """Keys of `JobStatus.dropped`."""

    def __init__(
        self,
        *,
        hostname: str,
        gpus: Callable[[], Sequence[Gpu]],
        peak: Peak,
        socket_path: str | None = None,
        hostname_label: str = HOSTNAME,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`gpus` gives the boards of this node as they are now, for the join; `peak` the dense peak of a GPU where a
        report has none. Without `socket_path`, the places where recorders look are tried. `clock` gives Unix seconds.
        """
        self._hostname = hostname
        self._hostname_label = hostname_label
        self._gpus = gpus
        self._peak = peak
        self._clock = clock
        self._lock = threading.Lock()
        self._book = Book()
        self._errors = Counter(dict.fromkeys(self.error_reasons, 0))
        self._dropped = Counter(dict.fromkeys(self.drop_reasons, 0))
        self._last_success = 0.0
        self._problem = "not started"
        self._told: set[str] = set()
        paths = (socket_path,) if socket_path is not None else socket_paths()
        self._receiver = Receiver(paths, take=self.take, refuse=self._refuse, fail=self._fail)

    def start(self) -> None:
        """Listen. A socket that cannot be had is no error here: it is tried for again every second."""
        self._receiver.start()

    def close(self) -> None:
        """Stop listening and remove the socket. The source cannot be started again."""
        self._receiver.close()

    def take(self, datagram: bytes, user: int) -> None:
        """Believe a datagram from the user of this uid, or count why not."""
        now = self._clock()
        try:
            report = check(datagram, now=now)
            with self._lock:
                self._book.add(report, user=user, now=now)
                self._last_success = now
        except Refused as error:
            self._refuse(error.reason, error.detail)

    def families(self, format_: Format) -> Iterator[str]:
        """Text of the training families of the ranks that report now: of every rank, and of the runs whose rank 0 is
        here. Nothing about the source itself. A run that can have no MFU is named in the log once.
        """
        place = Place(
            hostname=self._hostname, hostname_label=self._hostname_label, gpus=tuple(self._gpus()), peak=self._peak
        )
        reports = self._reports()
        self._tell(reports, place)
        return families(reports, place, format_)

    def status(self) -> JobStatus:
        """The state now."""
        reports = self._reports()
        path = self._receiver.path
        with self._lock:
            return JobStatus(
                up=bool(path),
                detail=path or self._problem,
                errors=dict(self._errors),
                dropped=dict(self._dropped),
                last_success=self._last_success,
                runs=len({report.run for report in reports}),
                ranks=len(reports),
            )

    def _tell(self, reports: Sequence[Report], place: Place) -> None:
        for run, reason in without_peak(reports, place):
            with self._lock:
                # Names of runs come from anybody: no more of them than fit on a page.
                told = run in self._told or len(self._told) >= MAX_RUNS
                self._told |= set() if told else {run}
            if not told:
                advice = "give its StepRecorder precision=… or peak_flops_per_second=…"
                LOG.warning("job source: run %r will have no MFU: %s; %s", run, reason, advice)

    def _reports(self) -> tuple[Report, ...]:
        with self._lock:
            return self._book.reports(now=self._clock())

    def _refuse(self, reason: str, detail: str) -> None:
        with self._lock:
            self._dropped[reason] += 1
            first = self._dropped[reason] == 1
        if first:
            LOG.warning("job source: report refused (%s): %s; more of the kind are only counted", reason, detail)

    def _fail(self, reason: str, detail: str) -> None:
        with self._lock:
            self._errors[reason] += 1
            self._problem = detail
        LOG.warning("job source: down (%s): %s; trying again", reason, detail)
