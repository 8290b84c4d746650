"""The page over a slow network: what it says while it waits, that a button acts once, and that all comes in order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.rest.gateway.gateway_here import GatewayHere
from tests.rest.in_process import Server
from tests.rest.page.conftest import see

if TYPE_CHECKING:
    from playwright.sync_api import CDPSession, Locator, Page, Request, Route

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("page"), pytest.mark.timeout(600)]

SOON_MS = 120_000
SLOW = {"offline": False, "latency": 400, "downloadThroughput": 50_000, "uploadThroughput": 50_000}
SHOWN = """() => {
  window.shown = [];
  const place = document.querySelector("main");
  new MutationObserver(() => {
    const key = place.querySelector("tbody th")?.textContent ?? "";
    if (key !== "" && window.shown.at(-1) !== key) window.shown.push(key);
  }).observe(place, { subtree: true, childList: true, characterData: true });
}"""


@pytest.fixture
def network(page: Page) -> CDPSession:
    """The network of the tab, which is slow."""
    page.set_default_timeout(SOON_MS)
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", SLOW)
    return session


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> GatewayHere:
    return GatewayHere(tmp_path_factory.mktemp("slow"), page=True)


@pytest.fixture(scope="module")
def gateway(here: GatewayHere) -> Iterator[str]:
    with here.listening() as url:
        yield url


@contextmanager
def held(page: Page, pattern: str) -> Iterator[None]:
    """Hold back what the page asks for, until the block ends."""
    routes: list[Route] = []
    holding = True

    def hold(route: Route) -> None:
        if holding:
            routes.append(route)
        else:
            route.continue_()

    page.route(pattern, hold)
    yield
    holding = False
    for route in routes:
        route.continue_()


def sent(page: Page, method: str, pattern: str) -> list[str]:
    """Return a list to which requests of the page are added."""
    found: list[str] = []

    def note(request: Request) -> None:
        if request.method == method and fnmatchcase(request.url, pattern):
            found.append(request.url)

    page.on("request", note)
    return found


def press_twice(button: Locator) -> None:
    """Press a button, and once more before anything else happens."""
    button.evaluate("button => { button.click(); button.click(); }")


@pytest.mark.usefixtures("network")
def test_it_paints_before_its_scripts_and_says_what_it_waits_for(page: Page, address: str, server: Server):
    with held(page, "**/page/jobs*"):
        with held(page, "**/app.js"):
            page.goto(address, wait_until="commit")
            see(page, "The page is being loaded.")
            page.wait_for_function(
                "() => performance.getEntriesByName('first-contentful-paint').length === 1"
            )
            page.get_by_role("link", name="Submit").wait_for()
        see(page, "The server is asked for its jobs.")
        page.get_by_label("Show only jobs with").fill("measured")
        see(page, "The server is asked for its jobs.")
        assert page.get_by_text("There are no jobs.").count() == 0
    see(page, "1 RUNNING, 1 FAILED.")
    with held(page, f"**/jobs/{server.failed.id}/flow*"):
        page.get_by_role("row").filter(has_text="FAILED").get_by_role("link").click()
        see(page, "The server is asked for it.")
        assert page.get_by_role("button", name="Cancel").is_disabled()
    page.get_by_text("FAILED").first.wait_for()
    assert page.locator("#link").inner_text() == ""


def test_a_network_that_is_gone_is_told_and_the_last_numbers_stay(
    page: Page, network: CDPSession, address: str
):
    page.goto(address)
    see(page, "1 RUNNING, 1 FAILED.")
    network.send("Network.emulateNetworkConditions", {**SLOW, "offline": True})
    see(page, "The server cannot be reached.")
    see(page, "1 RUNNING, 1 FAILED.")
    network.send("Network.emulateNetworkConditions", SLOW)
    page.get_by_text("The server cannot be reached.").wait_for(state="hidden")
    page.said.clear()  # type: ignore[attr-defined]  # a browser tells of each


@pytest.mark.usefixtures("network")
def test_a_server_that_takes_too_long_is_told(page: Page, address: str):
    page.goto(address)
    see(page, "1 RUNNING, 1 FAILED.")
    with held(page, "**/page/jobs*"):
        see(page, "The server does not answer.")
    page.get_by_text("The server does not answer.").wait_for(state="hidden")
    page.said.clear()  # type: ignore[attr-defined]


@pytest.mark.usefixtures("network")
def test_answers_are_shown_in_the_order_of_the_questions(page: Page, address: str, server: Server):
    page.goto(f"{address}/#/jobs/{server.record.id}/state")
    look = page.get_by_role("button", name="Look up", disabled=False)
    look.wait_for()
    page.evaluate(SHOWN)
    with held(page, "**/keys/1*"):
        for key in ("1", "2", "3"):
            page.get_by_label("Key", exact=True).fill(key)
            look.click()
    page.get_by_role("rowheader", name="3", exact=True).wait_for()
    assert page.evaluate("() => window.shown") == ["1", "3"]  # nobody waits for the second one any more


@pytest.mark.usefixtures("network")
def test_earlier_lines_of_a_log_are_put_there_once(page: Page, address: str, server: Server):
    log = server.record.log
    before = log.read_text()
    log.write_text("".join(f"line {number:0200}\n" for number in range(1_500)))
    try:
        page.goto(f"{address}/#/jobs/{server.record.id}/log")
        earlier = page.get_by_role("button", name="Earlier lines", disabled=False)
        earlier.wait_for()
        lines = page.locator("pre.log span").count()
        asked = sent(page, "GET", "*/log/part[?]before=*")
        with held(page, "**/log/part?before=*"):
            press_twice(earlier)
        page.wait_for_function(
            "(lines) => document.querySelector('pre.log').childElementCount > lines", arg=lines
        )
        assert len(asked) == 1
    finally:
        log.write_text(before)


@pytest.mark.usefixtures("network")
def test_statements_are_run_once_and_one_after_the_other(page: Page, gateway: str):
    page.goto(f"{gateway}/#/sql")
    editor = page.get_by_role("textbox", name="SQL")
    editor.fill("CREATE TEMPORARY VIEW costs AS SELECT 'tea' AS what;\nSELECT what FROM costs;")
    editor.press("Control+Home")
    posts = sent(page, "POST", "*/statements")
    with held(page, "**/statements"):
        editor.press("Shift+Enter")
        editor.press("Shift+Enter")
        press_twice(
            page.get_by_role("button", name="Run", exact=True)
        )  # at the second statement, which waits already
    page.get_by_text("Done, 1 row.").wait_for()
    assert len(posts) == 2
    page.get_by_role("rowheader", name="tea").wait_for()


@pytest.mark.usefixtures("network")
def test_what_waits_for_a_statement_that_fails_does_not_run(page: Page, gateway: str):
    page.goto(f"{gateway}/#/sql")
    editor = page.get_by_role("textbox", name="SQL")
    editor.fill("DESCRIBE nowhere_at_all;\nSHOW TABLES;")
    editor.press("Control+Home")
    posts = sent(page, "POST", "*/statements")
    with held(page, "**/statements"):
        editor.press("Shift+Enter")
        editor.press("Shift+Enter")
    page.get_by_role("status").filter(has_text="Failed.").wait_for()
    editor.fill("SHOW TABLES")
    editor.press("Control+Enter")
    page.get_by_role("status").filter(has_text="Done").wait_for()
    assert len(posts) == 2
    page.said.clear()  # type: ignore[attr-defined]


@pytest.mark.usefixtures("network")
def test_a_program_is_submitted_once(page: Page, gateway: str, here: GatewayHere, tmp_path: Path):
    program = tmp_path / "once.py"
    program.write_text("print('once')\n")
    page.goto(f"{gateway}/#/submit")
    page.locator("input[type=file]").set_input_files(program)
    uploads, runs = sent(page, "POST", "*/programs"), sent(page, "POST", "*/run")
    with held(page, "**/overview"):
        press_twice(page.get_by_role("button", name="Submit"))
    dialog = page.get_by_role("dialog", name="Submit once.py")
    with held(page, "**/programs"):
        press_twice(dialog.get_by_role("button", name="Submit"))
        page.get_by_role("button", name="Uploading", disabled=True).wait_for()
    page.get_by_text("CREATED").first.wait_for()
    assert (len(uploads), len(runs), len(here.dispatcher.jobs())) == (1, 1, 1)
