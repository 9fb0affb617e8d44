"""`python -m tests.api.schemathesis_run`: every phase of Schemathesis against a live lab; 0 when nothing fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

from tests.api.live import ROOT, TOKEN, running

HERE = Path(__file__).parent


def main(arguments: list[str]) -> int:
    """Run; `arguments` go to Schemathesis, for example `--max-examples 10`."""
    with running() as lab:
        command = [
            str(Path(sys.executable).with_name("schemathesis")),
            "--config-file",
            str(HERE / "schemathesis.toml"),
            "run",
            f"{lab.url}/openapi.json",
            "--header",
            f"Authorization: Bearer {TOKEN}",
            "--phases",
            "examples,coverage,fuzzing,stateful",
            "--continue-on-failure",
            # Generous: a dry run beside other work on a small machine takes its time, and no clock may fail this.
            "--request-timeout",
            "120",
            *arguments,
        ]
        environ = os.environ | {"SCHEMATHESIS_HOOKS": "tests.api.schemathesis_hooks", "PYTHONPATH": str(ROOT)}
        status = subprocess.run(command, env=environ, cwd=HERE, check=False).returncode
        with urlopen(f"{lab.url}/readyz") as answer:  # Raises when the engine lost its tick on the way.
            print(answer.read().decode())
        return status


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
