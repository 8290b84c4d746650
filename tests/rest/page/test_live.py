"""The page over a job on Spark: it is watched, saved, rescaled and cancelled by the buttons."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness.waiting import until
from tests.rest.page.conftest import picture, see
from tests.rest.served import Served

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [
    pytest.mark.spark,
    pytest.mark.long,
    pytest.mark.xdist_group("spark"),
    pytest.mark.timeout(600),
]

SOON_MS = 120_000
ORDERS = Path(__file__).with_name("orders.py").read_text()

PAYMENTS = """-- Payments that are made up, twenty a second, in three shops.
CREATE TEMPORARY TABLE payments (shop INT, amount INT) WITH (
  'connector' = 'datagen',
  'rows-per-second' = '20',
  'fields.shop.min' = '1',
  'fields.shop.max' = '3',
  'fields.amount.min' = '5',
  'fields.amount.max' = '95'
)"""
SALES = """SELECT shop, COUNT(*) AS payments, SUM(amount) AS total
FROM payments
GROUP BY shop"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    made = Served(tmp_path_factory.mktemp("page"), "--session")
    try:
        made.run("orders", text=ORDERS)  # it has something to show by the time that words are counted
        made.run("words")
        until(lambda: len(made.counts("words")) == 3)
        yield made
    finally:
        made.firesteel("cluster", "stop", str(made.cluster))


def do(page: Page, action: str, **fields: str) -> None:
    page.get_by_role("button", name=action).click()
    dialog = page.get_by_role("dialog")
    for label, text in fields.items():
        dialog.get_by_label(label).fill(text)
    dialog.get_by_role("button", name=action).click()


def test_a_job_is_watched_and_operated(served: Served, page: Page):
    page.set_default_timeout(SOON_MS)
    page.goto(served.client.url)
    page.get_by_role("row").filter(has_text="RUNNING").get_by_role("link", name="words").click()
    page.get_by_text("RUNNING").first.wait_for()
    page.get_by_role("img", name="The graph of").wait_for()

    do(page, "Savepoint")
    said = page.get_by_text("The savepoint is at file:")
    said.wait_for()
    assert Path(said.inner_text().rpartition("file:")[2], "savepoint.json").is_file()

    page.get_by_role("link", name="State", exact=True).click()
    page.get_by_label("Key", exact=True).fill("a")
    page.get_by_role("button", name="Look up").click()
    page.get_by_role("cell", name="2", exact=True).wait_for()
    served.feed("words", "a\n")

    def shows_three() -> bool:
        page.get_by_role("button", name="Look up").click()
        return page.get_by_role("cell", name="3", exact=True).count() == 1

    until(shows_three)

    do(page, "Rescale", Parallelism="3")
    page.locator(".facts").filter(has_text="parallelism 3").wait_for()

    do(page, "Cancel")
    page.get_by_text("CANCELED", exact=True).first.wait_for()
    assert served.status("words") == "CANCELED"
    page.get_by_role("link", name="Jobs", exact=True).click()
    page.get_by_role("row").filter(has_text="CANCELED").get_by_text("words").wait_for()


def test_a_bottleneck_a_failure_and_its_epochs_are_read_on_the_page(served: Served, page: Page):
    page.set_default_timeout(SOON_MS)
    job = f"{served.client.url}/#/jobs/{served.jobs['orders']}"
    page.goto(job)
    page.locator(".bottleneck-line[data-limit]").get_by_role("link", name="spend").wait_for()
    page.locator("svg.graph g.bottleneck").filter(has_text="spend").wait_for()
    page.locator(".bottleneck-line").get_by_role("link", name="spend").click()
    page.get_by_role("button", name="Show where time goes").click()
    see(page, "samples until")
    hot = page.get_by_role("region", name="Calls in which most samples were themselves").get_by_role("row")
    assert "look_up_rating" in hot.nth(1).inner_text()
    assert "orders.py:" in page.get_by_role("region", name="Operators").get_by_role("row").nth(1).inner_text()
    picture(page, "vertex", height=1180)

    (served.taken("orders") / "poison").touch()
    page.get_by_role("link", name="Exceptions", exact=True).click()
    see(page, "an order without a user")
    assert "orders.py:" in page.locator("details.failure summary").first.inner_text()
    page.get_by_text("1 restart").wait_for()
    page.get_by_role("link", name="Log", exact=True).click()
    page.get_by_label("Show only lines with").fill("the job is restarted")
    page.locator("pre.log span:visible").first.wait_for()

    page.get_by_role("link", name="Epochs", exact=True).click()
    page.locator("svg.timeline line.failed").first.wait_for(state="attached")
    page.get_by_role("button", name="by operator").first.click()
    spent = page.get_by_role("row").filter(has=page.get_by_role("cell", name="spend", exact=True))
    spent.get_by_text("KiB").first.wait_for()

    page.get_by_role("link", name="State", exact=True).click()
    page.get_by_role("combobox", name="State", exact=True).select_option(label="spend: total")
    epochs = page.get_by_label("Compared with").locator("option")
    until(lambda: epochs.count() > 3)
    page.get_by_label("Compared with").select_option(index=3)
    page.get_by_label("Key", exact=True).fill("user7")
    page.get_by_role("button", name="Look up").click()
    see(page, "It has changed.")
    page.get_by_role("button", name="Changed keys").click()
    see(page, "50 keys on page 1 have changed")
    picture(page, "state")
    page.get_by_role("link", name="Metrics", exact=True).click()
    page.locator("figure").filter(has_text="Read").locator("path.line[d*=L]").first.wait_for(state="attached")
    picture(page, "metrics")
    page.get_by_role("link", name="Graph", exact=True).click()
    page.locator("svg.graph g.bottleneck").wait_for()
    picture(page, "graph")
    picture(page, "dark", scheme="dark")
    picture(page, "phone", width=390)
    page.get_by_role("link", name="Epochs", exact=True).click()
    page.locator("svg.timeline").wait_for()
    picture(page, "epochs", height=1000)
    do(page, "Cancel")
    page.get_by_text("CANCELED").wait_for()


def test_a_program_is_submitted_and_watched(served: Served, page: Page, tmp_path: Path):
    page.set_default_timeout(SOON_MS)
    program = tmp_path / "count.py"
    program.write_text(served.program)
    served.feed("more words", "a\nb\na\n")
    page.goto(f"{served.client.url}/#/submit")
    page.locator("input[type=file]").set_input_files(program)
    page.get_by_label("Parallelism").fill("2")
    page.get_by_label("Arguments").fill("--country AT --name 'all words'")
    page.get_by_role("row").filter(has_text="count.py").wait_for()
    picture(page, "submit", height=1000)
    page.get_by_label("Arguments").fill(
        f"'{served.taken('more words')}' '{served.put('more words')}' 'more words'"
    )
    page.get_by_role("button", name="Submit").click()
    dialog = page.get_by_role("dialog", name="Submit count.py")
    dialog.get_by_text("It takes 2 slots").wait_for()
    dialog.get_by_role("button", name="Submit").click()
    page.get_by_role("heading", name="more words").wait_for()
    page.get_by_text("RUNNING", exact=True).first.wait_for()
    page.get_by_role("img", name="The graph of").wait_for()
    until(lambda: len(served.counts("more words")) == 3)
    do(page, "Cancel")
    page.get_by_text("CANCELED").wait_for()


def test_a_query_of_the_cluster_moves_rows_and_an_insert_becomes_a_job(
    served: Served, page: Page, tmp_path: Path
):
    page.set_default_timeout(SOON_MS)
    page.goto(f"{served.client.url}/#/sql")
    editor = page.get_by_role("textbox", name="SQL")

    def run(statement: str) -> None:
        editor.fill(statement)
        editor.press("Control+Enter")

    editor.fill(f"{PAYMENTS};\n\n{SALES};")
    editor.press("Control+Home")
    editor.press("Control+Enter")
    page.get_by_text("Done").wait_for()
    editor.press("Control+End")
    editor.press("Control+Enter")
    page.get_by_text("of which took a row away").wait_for()
    assert page.get_by_role("region", name="Rows").locator("tbody tr").count() == 3
    picture(page, "sql")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Cancelled.").wait_for()

    run("CREATE TEMPORARY TABLE nowhere (k INT) WITH ('connector' = 'blackhole')")
    page.get_by_text("Done").wait_for()
    run("INSERT INTO nowhere SELECT shop FROM payments")
    page.get_by_role("dialog").get_by_role("button", name="Start the job").click()
    page.get_by_text("The job was started:").get_by_role("link").click()
    page.get_by_text("RUNNING", exact=True).first.wait_for()
    do(page, "Cancel")
    page.get_by_text("CANCELED").wait_for()
