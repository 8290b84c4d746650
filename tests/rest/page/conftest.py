"""A browser for the page: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import io
import os
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
import uvicorn

from firesteel.rest.calls import Cluster
from firesteel.rest.routes import GROUPS
from firesteel.rest.security import Security
from firesteel.rest.server import application
from tests.rest.in_process import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

NAMES = ("chromium", "chromium-browser", "google-chrome")
SOON_MS = 20_000
PICTURES = Path(__file__).parents[3] / "docs" / "images"
COLOURS = 128
SIZE: ViewportSize = {"width": 1200, "height": 800}
BAD_NAME = '<img src=x onerror="alert(1)"><script>alert(2)</script>'
QUIET = (
    "--no-sandbox",  # which root needs, and nothing but our own page is opened
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright  # while it runs, this thread has an event loop

    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("no Chromium on the PATH: ./run check installs it")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=program, args=list(QUIET))
        yield launched
        launched.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A tab, in which nothing may go wrong unless the test takes it from `page.said`."""
    context = browser.new_context(viewport=SIZE)
    context.set_default_timeout(SOON_MS)
    opened = context.new_page()
    said: list[str] = []
    opened.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.said = said  # type: ignore[attr-defined]
    yield opened
    context.close()
    assert said == []


def see(page: Page, text: str) -> None:
    """Wait until a text is there."""
    page.get_by_text(text).filter(visible=True).first.wait_for()


def sums_of(server: Server) -> str:
    """Return the id of the vertex that keeps sums."""
    return server.vertex("sum").rpartition("/")[2]


def picture(
    page: Page,
    name: str,
    *,
    scheme: Literal["light", "dark"] = "light",
    width: int = SIZE["width"],
    height: int = SIZE["height"],
) -> None:
    """With REWRITE=1 take the picture of the docs with this name."""
    if not os.environ.get("REWRITE"):
        return
    from PIL import Image  # which comes with matplotlib

    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate("() => scrollTo(0, 0)")
    taken = Image.open(io.BytesIO(page.screenshot(animations="disabled")))
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(SIZE)
    few = taken.convert("RGB").quantize(COLOURS)
    few.save(PICTURES / f"page-{name}.png", optimize=True)


@pytest.fixture(scope="module")
def address(server: Server) -> Iterator[str]:
    """Where the jobs are served that ran in this process."""
    with serving(server.cluster) as url:
        yield url


@contextmanager
def serving(cluster: Cluster, security: Security | None = None) -> Iterator[str]:
    """Serve a cluster at a free port of this machine; yields the address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        web = application(cluster, GROUPS, security or Security())
        server = uvicorn.Server(
            uvicorn.Config(web, log_config=None, lifespan="off", timeout_graceful_shutdown=1)
        )
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
