"""The page when its server is killed and started again: it says so, comes back, and keeps what was typed."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from firesteel.rest.records import SERVER_LOCK, held
from harness.waiting import until
from tests.rest.page.conftest import see
from tests.rest.served import Served

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [
    pytest.mark.spark,
    pytest.mark.long,
    pytest.mark.xdist_group("spark"),
    pytest.mark.timeout(900),
]

SOON_MS = 120_000
CUT_OFF = "The server cannot be reached."
TYPED = "SELECT 'typed before' AS said"


class Restarted(Served):
    """A cluster whose server is killed, and serves at the same port again."""

    def kill(self) -> None:
        os.kill(json.loads((self.cluster / "server.json").read_text())["pid"], signal.SIGKILL)
        until(lambda: not held(self.cluster / SERVER_LOCK))

    def again(self) -> None:
        port = str(urlsplit(self.client.url).port)
        self.firesteel("cluster", "start", str(self.cluster), "--port", port, "--slots", "8", *self.options)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Restarted]:
    made = Restarted(tmp_path_factory.mktemp("restart"), "--session")
    try:
        made.run("words")
        until(lambda: len(made.counts("words")) == 3)
        yield made
    finally:
        made.firesteel("cluster", "stop", str(made.cluster))


def test_a_page_outlives_its_server_with_what_was_typed(served: Restarted, page: Page, tmp_path: Path):
    page.context.set_default_timeout(SOON_MS)
    url = served.client.url
    running = page.get_by_role("row").filter(has_text="RUNNING").get_by_role("link", name="words", exact=True)
    page.goto(url)
    running.wait_for()
    job, sql, submit = tabs = [page.context.new_page() for _ in range(3)]
    job.goto(f"{url}/#/jobs/{served.jobs['words']}")
    job.get_by_role("img", name="The graph of").wait_for()
    sql.goto(f"{url}/#/sql")
    editor = sql.get_by_role("textbox", name="SQL")
    editor.fill(TYPED)
    program = tmp_path / "typed.py"
    program.write_text("print('typed')\n")
    submit.goto(f"{url}/#/submit")
    submit.locator("input[type=file]").set_input_files(program)
    submit.get_by_label("Arguments").fill("--first 'and second'")
    submit.get_by_label("Parallelism").fill("3")

    served.kill()
    for tab in (page, *tabs):
        see(tab, CUT_OFF)
    running.wait_for()  # what was known stays
    editor.press("Control+Enter")
    sql.get_by_role("status").filter(has_text="Failed.").wait_for()
    submit.get_by_role("button", name="Submit").click()
    submit.get_by_role("alert").filter(has_text=CUT_OFF).wait_for()

    served.again()
    for tab in (page, *tabs):
        tab.locator("#link").filter(has_text=CUT_OFF).wait_for(state="detached")
    job.get_by_text("RUNNING", exact=True).first.wait_for()
    served.run("more words")
    page.get_by_role("link", name="more words").wait_for()
    running.first.wait_for()
    assert editor.input_value() == TYPED
    editor.press("Control+Enter")
    sql.get_by_text("Done, 1 row.").wait_for()
    assert submit.get_by_label("Arguments").input_value() == "--first 'and second'"
    submit.get_by_role("button", name="Submit").click()
    dialog = submit.get_by_role("dialog", name="Submit typed.py")
    dialog.get_by_text("It takes 3 slots").wait_for()
    dialog.get_by_text('"--first", "and second"').wait_for()
    page.said.clear()  # type: ignore[attr-defined]  # a browser tells of each
