"""An exam is sat by two participants and a facilitator who only have a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.api.live import TOKEN, running
from tests.stack.console import PHONE, Watched, browser, watching

pytestmark = pytest.mark.stack

NASTY = '<img src=x onerror="document.title=1">'


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as found:
        yield found


def serious(page: Page) -> list[str]:
    """What keeps people out of the page, by axe."""
    return [
        found["id"] for found in Axe().run(page).response["violations"] if found["impact"] in ("serious", "critical")
    ]


def join(watched: Watched, name: str) -> None:
    page = watched.open("exam")
    page.fill("#exam-name", name)
    page.keyboard.press("Enter")
    page.wait_for_selector("#exam-mine:has-text('not handed in')")


def hand_in(page: Page, cause: str, rank: str, remedy: str) -> None:
    page.select_option("#exam-cause", cause)
    page.fill("#exam-rank", rank)
    page.select_option("#exam-remedy", remedy)
    page.click("#exam-submit")
    page.wait_for_selector(f"#exam-mine:has-text('Your answer: {cause.replace('_', ' ')}')")


def start(watched: Watched) -> Page:
    page = watched.open("exam")
    page.click("#exam-facilitator summary")
    page.wait_for_selector("#exam-preset option[value=workshop-4gpu]", state="attached")
    page.select_option("#exam-incident", "one-of-four")
    page.click("#exam-start")
    page.fill("#token", TOKEN)
    page.click("dialog button[value=use]")
    page.wait_for_selector("#exam-clock:has-text('left')")
    return page


def test_an_exam_is_sat(chromium: Browser) -> None:
    with (
        running("--seed", "7") as lab,
        watching(chromium, lab.url) as boss,
        watching(chromium, lab.url, size=PHONE, reduced_motion="reduce") as ada,
        watching(chromium, lab.url, color_scheme="dark") as eve,
    ):
        facilitator = start(boss)
        join(ada, "Ada")
        join(eve, NASTY)
        ada.page.click("#exam-hint")
        ada.page.wait_for_selector(".hints li")
        facilitator.click("#exam-show")
        facilitator.wait_for_selector("#exam-answers b")
        said = facilitator.locator("#exam-answers b").inner_text()
        assert "rank" in said
        rank = said.split("rank ")[1].split(";")[0].split(" or ")[0]
        cause = said.split(",")[0].replace(" ", "_")
        remedy = said.split("remedy: ")[1].split(" or ")[0].split(" · ")[0]
        hand_in(ada.page, cause, rank, remedy)
        hand_in(eve.page, "healthy", "", "none")
        for one in (ada, eve):
            one.page.wait_for_selector("#exam-board tbody tr:nth-child(2) td:has-text('hidden')")
        assert ada.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        for one, name in ((ada, "phone"), (eve, "dark"), (boss, "facilitator")):
            one.shot(f"exam-{name}")
            assert serious(one.page) == []

        # The other views say that it is hidden, and ask for nothing that would be refused.
        eve.page.click("#tabs a:text('Find it')")
        eve.page.wait_for_selector("#sentence:has-text('exam is running')")
        eve.page.reload()
        for view in ("break", "trap", "step"):
            eve.page.goto(f"{lab.url}/?{view}#{view}")
            eve.page.wait_for_selector("#link[data-state=live]")
        eve.page.click("#tabs a:text('Exam')")

        facilitator.click("#exam-stop")
        ada.page.wait_for_selector("#exam-says:has-text('Time is up')")
        assert not ada.page.locator("#exam-submit").is_visible()
        facilitator.click("#exam-reveal")
        for one in (ada, eve):
            one.page.wait_for_selector(f"#exam-truth:has-text('{cause.replace('_', ' ')}')")
        first = ada.page.locator("#exam-board tbody tr").first
        assert first.locator("th").inner_text() == "Ada"
        names = eve.page.locator("#exam-board tbody th").all_inner_texts()
        assert names == ["Ada", NASTY]
        assert float(first.locator("td").nth(3).inner_text()) > 80
        eve.shot("exam-revealed")
        assert eve.page.title() == "stepscope: Exam"
        for one in (boss, ada, eve):
            one.expect_well_behaved()
