"""The console in a real browser: every view, with keys alone, on a phone, in the dark, with nothing from elsewhere."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from tests.api.live import TOKEN, LiveLab, running
from tests.stack.console import DESK, PHONE, Watched, browser, watching
from tests.stack.http import request
from tests.stack.real import ROOT

pytestmark = pytest.mark.stack

VIEWS = ("trap", "step", "break", "cost", "find")
SERIOUS = {"serious", "critical"}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def lab() -> Iterator[LiveLab]:
    """32 GPUs, one of them slow."""
    with running("--preset", "anatomy-32gpu", "--seed", "7") as found:
        slow_down(found)
        yield found


def slow_down(lab: LiveLab) -> None:
    slow = {"kind": "straggler", "target": {"mode": "ranks", "value": [5]}, "open_ended": True}
    assert request(f"{lab.url}/v1/faults/slow", method="PUT", json_body=slow).status == 201


@pytest.fixture
def watched(chromium: Browser, lab: LiveLab) -> Iterator[Watched]:
    with watching(chromium, lab.url) as found:
        yield found
        found.expect_well_behaved()


def settle(watched: Watched, view: str) -> None:
    """Wait until a view shows what it is for."""
    selector = {
        "trap": "#faults li",
        "step": "#view-step tbody tr",
        "break": "[data-kind=straggler]",
        "cost": "#view-cost tbody tr",
        "find": "#view-find .lamp",
    }[view]
    watched.page.wait_for_selector(selector)


@pytest.mark.parametrize(("size", "scheme"), [("desk", "light"), ("desk", "dark"), ("phone", "dark")])
def test_every_view_can_be_read_by_everybody(
    chromium: Browser, lab: LiveLab, scheme: Literal["light", "dark"], size: str
) -> None:
    viewport = {"desk": DESK, "phone": PHONE}[size]
    with watching(chromium, lab.url, size=viewport, color_scheme=scheme, reduced_motion="reduce") as watched:
        for view in VIEWS:
            page = watched.open(view)
            settle(watched, view)
            if view == "break":
                page.click("[data-kind=straggler]")
                page.wait_for_selector(".forecast[data-state=ready]")
            watched.shot(f"{view}-{size}-{scheme}")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
                f"{view} is wider than the screen"
            )
            found = [
                (violation["id"], [node["target"] for node in violation["nodes"]])
                for violation in Axe().run(page).response["violations"]
                if violation["impact"] in SERIOUS
            ]
            assert found == [], view
        watched.expect_well_behaved()


def test_the_page_is_small_and_there_at_once(chromium: Browser, lab: LiveLab) -> None:
    paints, sizes = [], []
    for _ in range(3):
        with watching(chromium, lab.url) as watched:
            page = watched.open()
            entries: list[Any] = page.evaluate("performance.getEntriesByType('paint').map((entry) => entry.startTime)")
            paints.append(max(entries))
            sizes.append(
                page.evaluate("performance.getEntriesByType('resource').reduce((sum, e) => sum + e.transferSize, 0)")
            )
    assert min(paints) < 1000
    assert max(sizes) < 6 * 2**20


def test_the_page_is_no_more_than_two_seconds_behind(watched: Watched, lab: LiveLab) -> None:
    watched.open()
    step = request(f"{lab.url}/v1/state?limit=1").json["position"]["step"]
    script = "(step) => Number(document.getElementById('run').textContent.match(/step (\\d+)/)?.[1]) >= step"
    watched.until("the page shows a step that the lab had done", script, argument=step, within=2)


def test_thirty_two_ranks_move_smoothly_and_the_straggler_stands_out(watched: Watched) -> None:
    page = watched.open("step")
    settle(watched, "step")
    watched.until("30 frames a second", "Number(document.getElementById('lanes').dataset.fps) >= 30", within=30)
    assert page.locator("#view-step tbody tr").count() == 32
    assert page.locator("#view-step tr.slow th").inner_text().endswith("rank 5")
    assert "Rank 5 is last at the barrier" in page.locator("#step-says").inner_text()
    assert "longer than with nothing wrong" in page.locator("#step-says").inner_text()
    watched.shot("step-playing")


def test_the_film_of_a_step_obeys_the_keyboard(watched: Watched) -> None:
    page = watched.open("step")
    settle(watched, "step")
    page.wait_for_selector("#play:text('Pause')")
    page.keyboard.press("Space")
    page.wait_for_selector("#play:text('Play')")
    page.keyboard.press("Home")
    assert page.locator("#step-says").inner_text().startswith("0 s into the step")
    page.keyboard.press(".")
    after = page.locator("#step-says").inner_text()
    assert not after.startswith("0 s into the step")
    page.keyboard.press(",")
    assert page.locator("#step-says").inner_text().startswith("0 s into the step")


def test_who_asks_for_less_motion_gets_a_still_picture(chromium: Browser, lab: LiveLab) -> None:
    with watching(chromium, lab.url, reduced_motion="reduce") as watched:
        page = watched.open("step")
        settle(watched, "step")
        assert page.locator("#play").inner_text() == "Play"
        assert page.locator("#lanes").get_attribute("data-fps") is None


def test_the_chunks_of_a_ring_end_as_a_sum_on_every_rank(watched: Watched) -> None:
    page = watched.open()
    script = """async ([count]) => {
      const { held } = await import("/web/ring.js");
      const ranks = [...Array(count).keys()];
      const share = (rank, chunk, hops) => Math.round(held(rank, chunk, hops, count) * count);
      const all = (hops) => ranks.map((rank) => ranks.map((chunk) => share(rank, chunk, hops)));
      return [0, count - 1, 2 * (count - 1)].map(all);
    }"""
    for count in (2, 4, 7):
        begin, middle, end = page.evaluate(script, [count])
        assert begin == [[1] * count] * count
        assert [row.count(count) for row in middle] == [1] * count, "after the reduce-scatter each rank has one sum"
        assert [column.count(count) for column in zip(*middle, strict=True)] == [1] * count, "and each its own"
        assert end == [[count] * count] * count


def test_views_and_their_controls_are_reached_with_keys_alone(watched: Watched) -> None:
    page = watched.open()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("4")
    page.wait_for_selector("#view-cost:not([hidden])")
    page.focus("#cost-slowdown")
    before = page.locator("[for=cost-slowdown] + output").inner_text()
    page.keyboard.press("ArrowRight")
    assert page.locator("[for=cost-slowdown] + output").inner_text() != before
    page.keyboard.press("1")
    assert page.locator("#view-cost").is_visible(), "who moves a slider does not want another view"
    page.focus("#tabs a >> nth=2")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-kind=power_cap]")
    page.focus("[data-kind=power_cap]")
    page.keyboard.press("Enter")
    page.wait_for_selector(".forecast[data-state=ready]")


def test_the_costs_are_those_of_the_command(watched: Watched) -> None:
    page = watched.open("cost")
    settle(watched, "cost")
    for key, value in {
        "slowdown": "1.25",
        "ranks": "3",
        "jitter": "0.02",
        "stall_factor": "2.5",
        "stall_rate": "0.01",
        "communication": "0.4",
        "overlap": "0.75",
    }.items():
        page.locator(f"#cost-{key}").fill(value)
    watched.until(
        "the table follows",
        "document.querySelector('#view-cost pre').textContent.includes('--overlap 0.75')",
        within=20,
    )
    watched.shot("cost-all")
    command = page.locator("#view-cost pre").inner_text().split()
    said = subprocess.run(
        [sys.executable, "-m", *command, "--json"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    rows = {row["gpus"]: row["efficiency"] for row in json.loads(said.stdout)}
    for gpus in (8, 1024, 131072):
        shown = page.locator(f"#view-cost tr[data-gpus='{gpus}'] td >> nth=0").inner_text()
        assert shown == f"{100 * rows[gpus]:.2f} %"


def test_names_from_elsewhere_are_text(watched: Watched, lab: LiveLab) -> None:
    mark = "<img src=/nowhere onerror=\"document.title='run'\"><b>bold</b>"
    scenario = {
        "id": "marked", "title": mark, "question": mark, "preset": "workshop-4gpu", "duration_seconds": 60,
        "timeline": [], "expect": {}, "answer": {"cause": "healthy", "rank": None, "remedy": "none"}, "hints": [mark],
    }  # fmt: skip
    page = watched.open("break")
    answer = request(f"{lab.url}/v1/playbacks", method="POST", json_body={"scenario": scenario})
    assert answer.status == 201, answer.text
    page.wait_for_selector("text=<b>bold</b>")
    assert page.locator("img, #view-break p b:text-is('bold')").count() == 0
    assert page.title() != "run"
    assert request(f"{lab.url}/v1/job", method="PUT", json_body={"preset": "anatomy-32gpu"}).status == 200
    slow_down(lab)


def test_the_token_is_asked_for_once(chromium: Browser, lab: LiveLab) -> None:
    with watching(chromium, lab.url) as watched:
        page = watched.open("break")
        page.select_option("#scenario", "film")
        page.click("text=Show the answer")
        page.wait_for_selector("dialog[open]")
        watched.shot("token")
        page.keyboard.type(TOKEN)
        page.keyboard.press("Enter")
        page.wait_for_selector("#view-break >> text=io_starvation")
        page.select_option("#scenario", "one-of-four")
        page.click("text=Show the answer")
        page.wait_for_selector("#view-break >> text=straggler on rank")
        assert page.locator("dialog").count() == 0
        # The browser itself writes a refused request on the console.
        assert [line for line in watched.complaints if "401" not in line] == []
        assert watched.strays == []


def test_a_run_that_has_not_ended_a_step_is_waited_for(chromium: Browser) -> None:
    with running("--preset", "honest-64xh100", "--seed", "7") as own, watching(chromium, own.url) as watched:
        page = watched.open("step")
        settle(watched, "step")
        assert page.locator("#view-step tbody tr").count() == 64
        watched.until("the film plays", "document.getElementById('play').textContent === 'Pause'", within=10)
        watched.expect_well_behaved()


def test_a_lab_that_stops_is_said_so(chromium: Browser) -> None:
    with running("--seed", "7") as own, watching(chromium, own.url) as watched:
        page = watched.open()
        own.process.kill()
        page.wait_for_selector("#link[data-state=stale]")
        assert "the lab does not answer" in page.locator("#link").inner_text()
