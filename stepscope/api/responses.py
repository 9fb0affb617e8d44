"""Which errors a route documents. Every one of them is a problem; openapi.py gives them their media type."""

from __future__ import annotations

from typing import Any

from stepscope.api.models.problem import ProblemView

_ABOUT = {
    400: "The body is not JSON, or doubtful JSON: a key twice, NaN, a number out of range, other encodings than UTF-8.",
    401: "The token is missing or wrong.",
    403: "The Origin is another one's.",
    404: "There is no such thing.",
    406: "The client does not take what this answers with.",
    409: "The lab's state does not allow it now.",
    410: "There was such a thing, too long ago for it to be kept.",
    413: "The body is too long.",
    415: "The body is not JSON by its Content-Type, or is compressed.",
    421: "The Host is not one that this lab answers to.",
    422: "The request can be read and not be carried out; `errors` says why, each by JSON pointer.",
    429: "Too many requests of one participant, or of all who join; come back after `Retry-After`.",
    503: "The lab has nothing true to say yet, or too much to do; come back after `Retry-After`.",
}

ALWAYS = (400, 403, 413, 415, 421)
"""What every request can meet; a body is judged whether the route needs one or not."""
ANY = (*ALWAYS, 503)
"""What every request can meet that is not let through whatever else there is to do."""
READ = (*ANY, 406, 422)
WRITE = (*READ, 401)
HIDDEN = (*READ, 401)
"""Of what may be read by everybody but during an exam."""


def problems(*codes: int) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route that can answer with these errors."""
    return {code: {"model": ProblemView, "description": _ABOUT[code]} for code in sorted(set(codes))}
