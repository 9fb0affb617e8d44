"""The film and the 64-GPU case, played from the console by somebody who only has a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.api.live import running
from tests.stack.console import Watched, browser, watching

pytestmark = pytest.mark.stack

NUMBER = "(given) => Number(document.querySelector(given[0]).textContent.replaceAll(',', ''))"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as found:
        yield found


def press(watched: Watched, scene: str) -> None:
    """One of the scenes on the first view."""
    watched.page.click(f"#film button:text('{scene}')")
    watched.page.wait_for_selector(f"#answer:text('{scene}')")


def wait_for(watched: Watched, what: str, selector: str, comparison: str, value: float, *, within: float) -> None:
    """Until the number that an element shows compares so with a value."""
    script = f"(given) => ({NUMBER})(given) {comparison} given[1]"
    watched.until(what, script, argument=[selector, value], within=within)


def test_the_film_runs_from_the_page(chromium: Browser) -> None:
    with running("--seed", "7") as lab, watching(chromium, lab.url) as watched:
        page = watched.open()
        wait_for(watched, "the job runs healthy", "#mfu", ">", 38, within=20)
        before = watched.number("#mfu")

        press(watched, "1. Starve the input")
        wait_for(watched, "MFU falls", "#mfu", "<", 0.72 * before, within=15)
        assert watched.number("#util") >= 88
        page.wait_for_selector("#faults li:has-text('io_starvation')")
        watched.shot("film-starved")

        page.click("#tabs a:text('Find it')")
        page.wait_for_selector(".verdict[data-cause=io_starvation]", timeout=60_000)
        page.wait_for_selector("tr.lit[data-cause=io_starvation]")
        watched.shot("film-verdict")

        page.click("#tabs a:text('The trap')")
        press(watched, "2. Feed it again")
        wait_for(watched, "MFU recovers", "#mfu", ">", 0.96 * before, within=30)
        page.wait_for_selector("#faults[data-empty=true]")

        press(watched, "3. Explode the gradients")
        page.wait_for_selector("#grad_norm.bad", timeout=30_000)
        assert "gradient norm" in page.locator("#reading").inner_text()
        assert watched.number("#util") >= 98
        assert watched.number("#mfu") > 0.96 * before
        page.click("#more button:text('gradient norm')")
        page.wait_for_selector("#norm-chart", state="visible")
        watched.shot("film-exploded")
        press(watched, "Reset")
        watched.expect_well_behaved()


FAULTS = {"numa_misaffinity": "ranks", "nccl_small_buffer": "all", "gdr_disabled": "all"}
REMEDIES = ("numa_pin", "NCCL_BUFFSIZE", "NCCL_NET_GDR_LEVEL")
FOUND, SOLVED = 1_840, 3_110
"""Tokens per second and GPU of the published case, as it was found and once all three causes were put right."""


def test_the_case_of_64_gpus_is_broken_and_solved_by_its_remedies(chromium: Browser) -> None:
    with running("--seed", "7") as lab, watching(chromium, lab.url) as watched:
        page = watched.open("break")
        page.select_option("#preset", "case-64xh100")
        page.click("text=Start as a new run")
        page.wait_for_selector("#run:has-text('64 ×')")
        for kind, mode in FAULTS.items():
            break_it(watched, kind, mode)
        watched.shot("case-broken")
        page.click("#tabs a:text('The trap')")
        wait_for(watched, "the job is as slow as it was found", "#tokens", "<", 1.04 * FOUND, within=40)
        assert watched.number("#tokens") > 0.96 * FOUND
        assert watched.number("#util") >= 98

        page.click("#tabs a:text('Break it, fix it')")
        for remedy in REMEDIES:
            page.select_option("#remedy", remedy)
            page.wait_for_selector("section:has(#remedy) .forecast[data-state=ready]")
            page.click("section:has(#remedy) button:text('Apply')")
            page.wait_for_selector(f"section:has(#remedy) .answer:has-text('{remedy}')")
        page.wait_for_selector("#live-faults[data-empty=true]")
        watched.shot("case-solved")
        page.click("#tabs a:text('The trap')")
        wait_for(watched, "the job is as fast as it can be", "#tokens", ">", 0.98 * SOLVED, within=90)
        watched.expect_well_behaved()


def break_it(watched: Watched, kind: str, mode: str) -> None:
    """Choose a card, aim it, look at what it would do, and press."""
    page = watched.page
    page.click(f"[data-kind={kind}]")
    form = page.locator("section:has(.cards) form")
    form.locator("select").first.select_option(mode)
    if mode == "ranks":
        form.get_by_label("Ranks, with commas").fill("3, 17, 34, 51")
    form.get_by_label("until cleared").check()
    page.wait_for_selector("section:has(.cards) .forecast[data-state=ready]")
    form.locator("button:text('Break it')").click()
    page.wait_for_selector(f"#live-faults li:has-text('{kind}')")
