"""The page of a lab in a real browser: Debian's Chromium, driven by Playwright, which downloads none of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, ViewportSize, sync_playwright

from tests.stack.real import ROOT, eventually, need

SHOTS = ROOT / "build" / "console"
"""Where screenshots are kept, for people to look at."""
DESK = ViewportSize(width=1280, height=900)
PHONE = ViewportSize(width=390, height=844)
# Without these, Chromium looks for servers of its maker's at every start; --no-sandbox since tests may run as root.
_ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


@dataclass(slots=True)
class Watched:
    """A page of the lab, and what it did that it should not."""

    page: Page
    url: str
    strays: list[str] = field(default_factory=list)
    """Requests to other origins."""
    complaints: list[str] = field(default_factory=list)
    """Errors and warnings on the console, and exceptions that nobody caught."""

    def open(self, view: str = "trap") -> Page:
        """Show a view and wait until it is live."""
        self.page.goto(f"{self.url}/#{view}")
        self.page.wait_for_selector("#link[data-state=live]")
        return self.page

    def number(self, selector: str) -> float:
        """The number that an element shows."""
        text = self.page.locator(selector).inner_text()
        found = re.search(r"-?\d+(\.\d+)?(e[+-]?\d+)?", text.replace(",", ""))
        assert found is not None, f"{selector} shows {text!r}"
        return float(found[0])

    def until(self, what: str, script: str, *, within: float, argument: object = None) -> None:
        """Waits until a script is true on the page; it fails saying `what`."""
        # Not Playwright's own waiting, which evaluates text on the page: the page's policy forbids that.
        eventually(what, lambda: self.page.evaluate(script, argument) or None, within=within, every=0.2)

    def shot(self, name: str) -> None:
        """Keep a picture of the whole page."""
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SHOTS / f"{name}.png", full_page=True)

    def expect_well_behaved(self) -> None:
        """Nothing left the origin, nothing complained."""
        assert self.strays == []
        assert self.complaints == []


@contextmanager
def browser() -> Iterator[Browser]:
    """Chromium, until the block ends."""
    path = need("chromium")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=list(_ARGUMENTS))
        yield running
        running.close()


@contextmanager
def watching(running: Browser, url: str, *, size: ViewportSize = DESK, **options: Any) -> Iterator[Watched]:
    """A page of the lab at `url`; `options` are those of Playwright's contexts, such as `color_scheme`."""
    context = running.new_context(viewport=size, **options)
    page = context.new_page()
    page.set_default_timeout(15_000)
    watched = Watched(page, url)

    def on_request(request: Request) -> None:
        if not request.url.startswith((url, "data:")):
            watched.strays.append(request.url)

    def on_console(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            watched.complaints.append(message.text)

    page.on("request", on_request)
    page.on("console", on_console)
    page.on("pageerror", lambda error: watched.complaints.append(str(error)))
    yield watched
    context.close()
