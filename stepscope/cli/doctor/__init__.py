"""`stepscope doctor`. Each module looks at one thing (`look`) and judges what was seen (`judge`), so that tests judge
machines that nobody has."""

from stepscope.cli.doctor.command import add

__all__ = ["add"]
