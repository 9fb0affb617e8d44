"""Metrics pages of a test's own, served as an exporter would."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any

Page = Callable[[], str]


@contextmanager
def serving(pages: Mapping[str, Page], *, types: Mapping[str, str] = MappingProxyType({})) -> Iterator[str]:
    """Serves each page under its path until the block ends; gives host:port. `types`: content types by path, where it
    is not text 0.0.4.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = pages.get(self.path)
            body = (page() if page else "").encode()
            self.send_response(200 if page else 404)
            self.send_header("Content-Type", types.get(self.path, "text/plain; version=0.0.4; charset=utf-8"))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            pass  # not on the tests' output

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=10)


def job(name: str, address: str, path: str) -> dict[str, Any]:
    """A scrape job for one page."""
    return {"job_name": name, "metrics_path": path, "static_configs": [{"targets": [address]}]}
