"""A dcgm-exporter as a source of GPU readings."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

import requests

from exporter.catalogue import HOSTNAME
from exporter.reading import Reading
from exporter.source import SourceError
from exporter.sources.dcgm.boards import GPU_LOST, Roster
from exporter.sources.dcgm.client import FETCH_REASONS, MAX_BYTES, DcgmClient
from exporter.sources.dcgm.normalise import Normaliser
from exporter.sources.dcgm.parser import PARSE_REASONS, parse
from exporter.sources.dcgm.values import VALUE_REASONS

_FETCH_SHARE = 0.9
"""Of the time of a cycle. The rest is for understanding the page: a cycle is over before its deadline, not at it."""
TRUNCATED = "truncated"
"""Why a GPU is not up that a page which breaks off does not name: it may still be there."""


class DcgmSource:
    """Readings of an existing dcgm-exporter of any generation, under the catalogue's names.

    What the catalogue lacks passes through under its own name, with its type and labels, if its name starts with
    `DCGM_` or `dcgm_`; metrics of the exporter's own process do not. A page without any reading of DCGM is a failure: a
    dcgm-exporter whose host engine is gone answers with an empty one.
    """

    name = "dcgm"
    error_reasons: tuple[str, ...] = (*FETCH_REASONS, "empty")
    drop_reasons: tuple[str, ...] = (*VALUE_REASONS, *PARSE_REASONS, "duplicate")

    def __init__(
        self,
        url: str,
        *,
        hostname: str,
        hostname_label: str = HOSTNAME,
        session: requests.Session | None = None,
        max_bytes: int = MAX_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`hostname` is this node's: it stands for a page from this machine that names no host; one from elsewhere gets
        the host of `url`. ValueError naming --dcgm-url or hostname_label.
        """
        if hostname_label not in (HOSTNAME, HOSTNAME.lower()):
            raise ValueError(f"hostname_label: {hostname_label!r} is neither {HOSTNAME!r} nor {HOSTNAME.lower()!r}")
        self._client = DcgmClient(url, session=session, max_bytes=max_bytes, clock=clock)
        self._clock = clock
        place = self._client.address
        self._normalise = Normaliser(hostname=hostname if place.loopback else place.host, hostname_label=hostname_label)
        self._roster = Roster(clock=clock)

    def collect(self, deadline: float) -> Reading:
        """One page, fetched and understood; SourceError with one of `error_reasons`."""
        now = self._clock()
        page = parse(self._client.fetch(now + _FETCH_SHARE * (deadline - now)))
        found = self._normalise(page)
        dropped = Counter(page.dropped) + Counter(found.dropped)
        if not found.families and not found.gpus:
            said = ", ".join(f"{count} {reason}" for reason, count in sorted(dropped.items()))
            raise SourceError("empty", f"{self._client.address.shown} has no reading of DCGM ({said or 'no line'}).")
        gpus = self._roster.update(found.gpus, missing=TRUNCATED if page.truncated else GPU_LOST)
        return Reading(families=found.families, gpus=gpus, expected=len(gpus), dropped=dropped)

    def close(self) -> None:
        """Give back connections; the next `collect` opens new ones. Boards seen stay expected."""
        self._client.close()
