"""`stepscope remedy …` against a lab that runs."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Command


def test_list_apply_and_what_was_applied(lab: Command) -> None:
    listed = lab("remedy", "list").out
    assert "NCCL_BUFFSIZE=…" in listed
    assert "Needs --node." in listed
    full = lab("remedy", "list", "power_limit").out
    assert "value: 100.0 to 2000.0 watts" in full
    assert "the job goes on meanwhile" in full
    status, out, err = lab("remedy", "apply", "power_limit=650", "--node", "0")
    assert (status, err) == (0, "")
    assert out.startswith("power_limit=650.0 on nodes 0, from step ")
    assert "power_limit=650.0 on nodes 0" in lab("remedy", "list").out
    assert json.loads(lab("remedy", "list", "--json").out)["applied"][-1]["value"] == 650.0


def test_a_dry_run(lab: Command) -> None:
    status, out, err = lab("remedy", "apply", "num_workers=8", "--dry-run")
    assert (status, err) == (0, "")
    assert "the job would be down for 40 s" in out
    assert "nothing was applied (dry run)" in out
    assert "tokens/s" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("apply", "pray"), "REMEDY: must be one of"),
        (("apply", "NCCL_BUFFSIZE=4194304"), "needs a network"),
        (("apply", "num_workers=many"), "VALUE: must be an integer from 1 to 64"),
        (("apply", "roll_back=1"), "VALUE: must be left out"),
        (("apply", "cordon_node"), "--node or --rank: is required"),
        (("apply", "cordon_node", "--node", "0", "--rank", "1"), "not allowed with"),
        (("list", "pray"), "REMEDY: 'pray' is not one of"),
    ],
)
def test_wrong_words(lab: Command, words: tuple[str, ...], said: str) -> None:
    status, out, err = lab("remedy", *words)
    assert status in (1, 2)
    assert out == ""
    assert said in err
