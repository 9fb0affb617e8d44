"""`/v1/diagnosis`: what is wrong with the run, from nothing but what it shows."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import Field
from starlette.responses import Response

from diagnosis.thresholds import DIAGNOSIS_WINDOW_SECONDS
from stepscope.api.diagnoses import DiagnosisQuestion
from stepscope.api.lab import CurrentLab, not_ready
from stepscope.api.models.diagnosis import DiagnosisView
from stepscope.api.query import AsNumber
from stepscope.api.responses import HIDDEN, problems
from stepscope.api.routes.common import v1

router = v1("state")

WindowSeconds = Annotated[
    float, Field(ge=10, le=600), AsNumber, Query(description="Length of the stretch that is judged, up to now.")
]
Price = Annotated[
    float, Field(ge=0, le=1_000_000), AsNumber, Query(description="Price of a GPU-hour, in any currency; 0 for none.")
]


@router.get("/diagnosis", response_model=DiagnosisView, responses=problems(*HIDDEN, 503))
def get_diagnosis(
    lab: CurrentLab, window_seconds: WindowSeconds = DIAGNOSIS_WINDOW_SECONDS, price_per_gpu_hour: Price = 0.0
) -> Response:
    """The verdicts on the last stretch of the run. Compared with its own better minutes of the last 15."""
    question = DiagnosisQuestion(window_seconds, price_per_gpu_hour or None)

    def write() -> str:
        found = lab.diagnoses.answer(lab.engine, question)
        if found is None:
            raise not_ready("engine: has not finished its first second")
        return DiagnosisView.model_validate(found).model_dump_json()

    # A room that looks for the same thing asks the same each second.
    return Response(lab.fresh.body(lab.moment(), ("diagnosis", question), write), media_type="application/json")
