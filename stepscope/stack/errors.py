"""What can go wrong with the stack, in one line each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from docker.errors import APIError, DockerException, NotFound
from requests.exceptions import RequestException


class StackError(Exception):
    """The engine or the stack is not as it has to be. `str()` is one line."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class StackInputError(StackError):
    """What was asked for cannot be had; the message names the key and what would be valid."""


class GoneError(StackError):
    """A container or network that was there is there no longer."""


@contextmanager
def one_line() -> Iterator[None]:
    """Errors of the SDK as a StackError: GoneError for what was not found."""
    try:
        yield
    except NotFound as error:
        raise GoneError(_explained(error)) from error
    except APIError as error:
        raise StackError(f"the Docker engine refuses: {_explained(error)}") from error
    except (DockerException, RequestException, OSError) as error:
        raise StackError(f"the Docker engine does not answer: {reason(error)}") from error


def reason(error: BaseException) -> str:
    """What the system said at the root of an error, which libraries wrap several times; else the error's own words."""
    cause: object = error
    seen: set[int] = set()
    while isinstance(cause, BaseException) and id(cause) not in seen:
        seen.add(id(cause))
        if isinstance(cause, OSError) and isinstance(cause.strerror, str):
            return cause.strerror.lower()
        wrapped = next((part for part in cause.args if isinstance(part, BaseException)), None)
        cause = cause.__cause__ or wrapped or cause.__context__
    return str(error) or type(error).__name__


def _explained(error: APIError) -> str:
    return str(error.explanation or error).rstrip(".")
