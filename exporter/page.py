"""One answer to a scrape."""

from __future__ import annotations

from typing import NamedTuple


class Page(NamedTuple):
    """An answer, ready to send."""

    body: bytes
    content_type: str
    content_encoding: str | None

    @property
    def headers(self) -> dict[str, str]:
        """HTTP headers that belong to the body."""
        headers = {"Content-Type": self.content_type, "Vary": "Accept, Accept-Encoding"}
        if self.content_encoding is not None:
            headers["Content-Encoding"] = self.content_encoding
        return headers
