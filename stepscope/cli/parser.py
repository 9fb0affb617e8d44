"""argparse in this program's manners: one line per mistake, options that several commands share, typed values."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn, TypeAlias

from stepscope import __version__
from stepscope.cli.errors import UsageError

Commands: TypeAlias = "argparse._SubParsersAction[Parser]"
"""Where commands are added to."""

# These repeat what faults and simulator say, so that parsing words does not import NumPy; a test holds them together.
DEFAULT_PRESET = "workshop-4gpu"
MAX_SEED = 2**32 - 1
NAME_PATTERN = "^[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?$"

DEFAULT_SEED = 1


class UnusableWordsError(UsageError):
    """Words that the parser cannot use; knows which command they were meant for."""

    def __init__(self, message: str, *, prog: str) -> None:
        super().__init__(message)
        self.prog = prog


class Parser(argparse.ArgumentParser):
    """Raises instead of printing usage and leaving."""

    def error(self, message: str) -> NoReturn:
        """One line: what is wrong, and where to read on."""
        raise UnusableWordsError(f"{message.removeprefix('argument ')} (see {self.prog} --help)", prog=self.prog)

    def understand(self, words: Sequence[str] | None) -> argparse.Namespace:
        """The command and its options; UsageError, in the name of the command, for words that are too many."""
        args, unknown = self.parse_known_args(words)
        if unknown:
            message = f"{' '.join(unknown)}: not an option of this command (see {args.prog} --help)"
            raise UnusableWordsError(message, prog=args.prog)
        return args


def root() -> tuple[Parser, Commands]:
    """The parser of `stepscope` itself, and where commands are added to."""
    parser = Parser(
        prog="stepscope",
        description="Break a simulated training job and watch what its GPU metrics say, and do not say.",
        epilog="start here: stepscope lab",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"stepscope {__version__}")
    return parser, parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)


def command(
    commands: Commands,
    name: str,
    run: Callable[[argparse.Namespace], int],
    *,
    summary: str,
    epilog: str = "",
) -> Parser:
    """Add a command that `run` carries out."""
    parser = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=epilog,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run, prog=parser.prog)
    return parser


def add_json(parser: Parser) -> None:
    """`--json`."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_server(parser: Parser, *, token: bool = True) -> None:
    """`--url` and `--token`; read them with `server_url` and `server_token`."""
    parser.add_argument("--url", help="where the lab is (default: STEPSCOPE_URL, else http://127.0.0.1:8000)")
    if token:
        parser.add_argument("--token", help="the lab's token, where it asks for one (default: STEPSCOPE_TOKEN)")


def server_url(args: argparse.Namespace, environ: Mapping[str, str] = os.environ) -> tuple[str, str]:
    """The lab's address and the key that it came from: option over environment over default."""
    if args.url is not None:
        return args.url, "--url"
    if environ.get("STEPSCOPE_URL"):
        return environ["STEPSCOPE_URL"], "STEPSCOPE_URL"
    return f"http://127.0.0.1:{environ.get('STEPSCOPE_PORT') or 8000}", "STEPSCOPE_PORT"


def server_token(args: argparse.Namespace, environ: Mapping[str, str] = os.environ) -> str:
    """The token to send, empty for none: option over environment over the file in which a lab beside this shares it."""
    if args.token is not None:
        return str(args.token)
    # The file's token is that of the lab which wrote it, and nobody else's business.
    elsewhere = args.url is not None or environ.get("STEPSCOPE_URL")
    shared = "" if elsewhere else environ.get("STEPSCOPE_TOKEN_FILE", "")
    return environ.get("STEPSCOPE_TOKEN") or _shared_token(shared)


def _shared_token(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip() if path else ""
    except (OSError, UnicodeDecodeError):
        # The lab's own answer says what is missing.
        return ""


def whole(low: int, high: int | None = None) -> Callable[[str], int]:
    """A type for whole numbers within a range."""
    span = f"of at least {low}" if high is None else f"from {low} to {high}"

    def convert(text: str) -> int:
        digits = text.removeprefix("+")
        if digits.isascii() and digits.isdigit() and len(digits) <= 18:
            value = int(digits)
            if low <= value and (high is None or value <= high):
                return value
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number {span}")

    return convert


def fault_name(text: str) -> str:
    """A type for names of faults."""
    if not re.fullmatch(NAME_PATTERN, text):
        what = "1 to 64 of a-z 0-9 . _ - that begin and end with a letter or digit"
        raise argparse.ArgumentTypeError(f"{text!r} is not a name: {what}")
    return text


def one_of(*valid: str) -> Callable[[str], str]:
    """A type for one of several words. Not argparse's `choices`, which words its refusal in each version anew."""

    def convert(text: str) -> str:
        if text not in valid:
            raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(valid)}")
        return text

    return convert


def number(text: str) -> float:
    """A type for finite numbers; the server knows the ranges."""
    try:
        value = float(text) if "_" not in text else float("nan")
    except ValueError:
        value = float("nan")
    if value - value != 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return value


seed = whole(0, MAX_SEED)
"""A type for seeds."""
