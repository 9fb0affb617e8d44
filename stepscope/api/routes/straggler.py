"""`/v1/straggler`: what slow ranks, jitter and rare stalls cost a synchronous job, by its size."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from fastapi import Query
from pydantic import AfterValidator, Field

from simulator.straggler import DEFAULT_SEED
from stepscope.api.calculator import MOST_COUNTS, MOST_GPUS, Question
from stepscope.api.lab import CurrentLab
from stepscope.api.models.job import MAX_SEED
from stepscope.api.models.straggler import StragglerRow
from stepscope.api.problems import ErrorItem, pointer, unprocessable
from stepscope.api.query import AsNumber, AsWhole
from stepscope.api.responses import READ, problems
from stepscope.api.routes.common import v1

router = v1("state")

_COUNT = "([1-9][0-9]{0,4}|1[0-2][0-9]{4}|130[0-9]{3}|1310[0-6][0-9]|13107[0-2])"
"""1 to MOST_GPUS, as a document can say it."""
_COUNTS = f"^{_COUNT}(,{_COUNT}){{0,{MOST_COUNTS - 1}}}$"
_DEFAULT = "8,64,1024,16384,131072"
_TYPED = {"slow_ranks": "ranks"}
"""Keys of the calculator that have another name here."""


def _counts(text: str) -> str:
    if re.fullmatch(_COUNTS, text) is None:
        raise ValueError(f"must be up to {MOST_COUNTS} whole numbers from 1 to {MOST_GPUS}, with commas between them")
    return text


Counts = Annotated[
    str,
    AfterValidator(_counts),
    Field(json_schema_extra={"pattern": _COUNTS}),
    Query(description=f"Sizes of the job in GPUs with commas between them, at most {MOST_COUNTS}."),
]
Factor = Annotated[
    float, Field(ge=1, le=100), AsNumber, Query(description="Factor on the steps of the slow ranks, for good.")
]
Ranks = Annotated[
    int, Field(ge=0, le=MOST_GPUS), AsWhole, Query(description="How many ranks are slow; not more than there are.")
]
Spread = Annotated[
    float, Field(ge=0, le=1), AsNumber, Query(description="Spread of a rank's steps over their mean; 0.01 is 1 %.")
]
StallFactor = Annotated[
    float, Field(ge=1, le=1_000), AsNumber, Query(description="Length of a stalled step, in steps.")
]
StallRate = Annotated[
    float, Field(ge=0, le=1), AsNumber, Query(description="Share of steps in which the whole job stalls.")
]
Communication = Annotated[
    float, Field(ge=0, le=1), AsNumber, Query(description="Time of a step's collectives over a healthy rank's compute.")
]
Overlap = Annotated[
    float, Field(ge=0, le=1), AsNumber, Query(description="Share of the communication that hides beside compute.")
]
Seed = Annotated[int, Field(ge=0, le=MAX_SEED), AsWhole, Query(description="Of the drawn steps.")]


@router.get("/straggler", responses=problems(*READ, 503))
async def get_straggler(
    lab: CurrentLab,
    gpus: Counts = _DEFAULT,
    slowdown: Factor = 1.0,
    ranks: Ranks = 1,
    jitter: Spread = 0.0,
    distribution: Annotated[Literal["normal", "lognormal"], Query(description="Of the jitter.")] = "normal",
    stall_factor: StallFactor = 1.0,
    stall_rate: StallRate = 0.0,
    communication: Communication = 0.0,
    overlap: Overlap = 0.0,
    seed: Seed = DEFAULT_SEED,
) -> list[StragglerRow]:
    """Efficiency of a job of each size: exactly, and by drawing steps. It is about no particular run."""
    question = Question(
        tuple(int(count) for count in gpus.split(",")),
        slowdown,
        ranks,
        jitter,
        distribution,
        stall_factor,
        stall_rate,
        seed,
        communication,
        overlap,
    )
    try:
        rows = await lab.calculator.answer(question)
    except ValueError as error:
        key, _, detail = str(error).partition(": ")
        raise unprocessable([ErrorItem("query", pointer([_TYPED.get(key, key)]), detail)]) from None
    return [StragglerRow.model_validate(row) for row in rows]
