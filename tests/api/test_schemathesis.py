from __future__ import annotations

import pytest

from tests.api import schemathesis_run


@pytest.mark.stack
def test_the_api_is_what_its_document_says() -> None:
    assert schemathesis_run.main(["--no-color"]) == 0
