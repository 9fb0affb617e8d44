"""The small page at `/`, and `/docs` without the internet: files from installed packages, under a strict policy."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from fastapi import APIRouter
from starlette.responses import FileResponse
from starlette.types import Receive, Scope, Send

from stepscope.api.problems import ProblemError

router = APIRouter(include_in_schema=False)

WEB = Path(__file__).parents[2] / "web"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
STRICT = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; object-src 'none'"
"""What a page of the lab may do: use what the lab itself serves, and nothing else."""
# Swagger's interface draws icons from data: addresses and sets styles inline.
_DOCS = f"{STRICT}; img-src 'self' data:; style-src 'self' 'unsafe-inline'"
_SWAGGER = ("swagger-ui-bundle.js", "swagger-ui.css")


@router.get("/")
def home() -> FileResponse:
    """The page."""
    return _file(WEB / "index.html", STRICT)


@router.get("/docs")
def docs() -> FileResponse:
    """The API, to read and to try."""
    return _file(WEB / "docs.html", _DOCS)


@router.get("/web/{name}")
def web(name: str) -> FileResponse:
    """What the pages are made of."""
    if name not in _web_files():
        raise ProblemError(404, "not-found", "There is no such file.")
    return _file(WEB / name, STRICT)


@router.get("/docs/{name}")
def swagger(name: str) -> FileResponse:
    """Swagger UI, as the package fastapi-offline ships it."""
    if name not in _SWAGGER:
        raise ProblemError(404, "not-found", "There is no such file.")
    return _file(_swagger_folder() / name, _DOCS)


class _WholeFile(FileResponse):
    """A file, and never a part of it: RFC 9110 lets a server ignore Range."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [header for header in scope["headers"] if header[0] not in (b"range", b"if-range")]
        await super().__call__({**scope, "headers": headers}, receive, send)


def _file(path: Path, policy: str) -> FileResponse:
    headers = {
        "Content-Security-Policy": policy,
        "Cache-Control": "no-cache",
        "Referrer-Policy": "no-referrer",
        "Accept-Ranges": "none",
    }
    return _WholeFile(path, headers=headers, media_type=_TYPES[path.suffix])


@cache
def _web_files() -> frozenset[str]:
    return frozenset(path.name for path in WEB.iterdir() if path.suffix in _TYPES)


@cache
def _swagger_folder() -> Path:
    # Looked up, not imported: the package's own code is not needed.
    spec = find_spec("fastapi_offline")
    if spec is None or spec.origin is None:
        detail = "The package fastapi-offline is missing: pip install '.[lab]' in the repository."
        raise ProblemError(503, "docs-missing", detail)
    return Path(spec.origin).parent / "static"
