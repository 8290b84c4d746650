"""SQL and submission in a browser, over a gateway in this process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from firesteel.rest.calls import Right
from firesteel.rest.security import Security
from tests.rest.gateway.gateway_here import GatewayHere

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("page")]

VIEWER, SUBMITTER = "v" * 16, "s" * 16
BAD = '<img src=x onerror="alert(1)">'
ENDLESS = """CREATE TEMPORARY TABLE ticks (k INT) WITH (
  'connector' = 'datagen', 'rows-per-second' = '40', 'fields.k.min' = '1', 'fields.k.max' = '3')"""
PRICES = "CREATE TEMPORARY VIEW prices AS SELECT * FROM (VALUES ('tea', 5), ('cup', 7), ('tea', 4)) AS t (what, price)"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> GatewayHere:
    return GatewayHere(
        tmp_path_factory.mktemp("page"), page=True, secrets={"DB_PASSWORD": "tiger", "KEY": "k"}
    )


@pytest.fixture(scope="module")
def address(here: GatewayHere) -> Iterator[str]:
    with here.listening() as url:
        yield url


@pytest.fixture
def sql(page: Page, address: str) -> Page:
    page.goto(f"{address}/#/sql")
    editor(page).wait_for()
    return page


def editor(page: Page) -> Locator:
    return page.get_by_role("textbox", name="SQL")


def run(page: Page, statement: str, *, until: str | None = "Done") -> None:
    editor(page).fill(statement)
    editor(page).press("Control+Enter")
    if until is not None:
        page.get_by_role("status").filter(has_text=until).wait_for()


def rows(page: Page) -> list[list[str]]:
    body = page.get_by_role("region", name="Rows").locator("tbody tr")
    return [[cell.inner_text() for cell in row.locator("th, td").all()] for row in body.all()]


def number_of(page: Page, row: str) -> int:
    return int(page.get_by_role("row", name=row).get_by_role("cell").last.inner_text())


def test_rows_of_a_streaming_query_move_until_it_is_cancelled(sql: Page):
    run(sql, ENDLESS)
    run(sql, "SELECT k, COUNT(*) AS n FROM ticks GROUP BY k", until="Running, ")
    one = (
        sql.get_by_role("region", name="Rows")
        .get_by_role("row")
        .filter(has=sql.get_by_role("rowheader", name="1"))
    )
    one.wait_for()
    before = int(one.get_by_role("cell").inner_text())
    sql.wait_for_function(f"() => Number(document.querySelector('tbody td').textContent) > {before + 5}")
    sql.get_by_text("of which took a row away").wait_for()
    assert len(rows(sql)) == 3  # retractions took the earlier counts away
    sql.get_by_role("button", name="n", exact=True).click()
    sql.get_by_role("columnheader", name="n", exact=True).and_(
        sql.locator("[aria-sort=ascending]")
    ).wait_for()
    sql.get_by_role("button", name="Changes").click()
    sql.locator("tr[data-change='-U']").first.wait_for()
    sql.get_by_role("button", name="Chart").click()
    sql.get_by_role("img", name="n over k: 3 points").wait_for()
    sql.get_by_role("button", name="Cancel").click()
    sql.get_by_text("Cancelled. What had come stays.").wait_for()
    assert sql.get_by_role("button", name="Cancel").is_disabled()


def test_a_query_goes_on_while_something_else_is_looked_at(sql: Page):
    run(sql, ENDLESS.replace("ticks", "others"))
    run(sql, "SELECT k FROM others", until="Running, ")
    sql.get_by_role("link", name="Jobs", exact=True).click()
    sql.get_by_role("heading", name="Jobs").wait_for()
    sql.get_by_role("link", name="SQL").click()
    editor(sql).wait_for()
    changes = "() => Number(/Running, (\\d+)/.exec(document.querySelector('main').textContent)[1])"
    before = sql.evaluate(changes)
    sql.wait_for_function(f"() => ({changes})() > {before}")
    sql.get_by_role("button", name="Cancel").click()
    sql.get_by_text("Cancelled.").wait_for()


def test_a_page_of_rows_that_is_lost_is_asked_for_again(sql: Page):
    run(sql, ENDLESS.replace("ticks", "lossy"))
    run(sql, "SELECT k FROM lossy", until="Running, ")
    sql.route("**/result/*", lambda route: route.abort(), times=2)
    sql.get_by_text("The server cannot be reached. It is asked again.").wait_for()
    sql.get_by_text("Running, ").wait_for()
    sql.get_by_role("button", name="Cancel").click()
    sql.get_by_text("Cancelled.").wait_for()
    sql.said.clear()  # type: ignore[attr-defined]


def test_a_batch_query_has_its_final_rows_and_a_chart(sql: Page):
    run(sql, PRICES)
    sql.get_by_label("Mode").select_option("batch")
    run(sql, "SELECT what, SUM(price) AS total FROM prices GROUP BY what ORDER BY what", until="Done, 2 rows")
    assert rows(sql) == [["cup", "7"], ["tea", "9"]]
    sql.get_by_role("button", name="total", exact=True).click()
    sql.get_by_role("button", name="total", exact=True).click()
    assert rows(sql) == [["tea", "9"], ["cup", "7"]]
    sql.get_by_role("button", name="Chart").click()
    sql.get_by_role("img", name="total over what: 2 bars").wait_for()


def test_an_error_is_shown_at_its_place(sql: Page):
    run(sql, "SELECT 1;\n\n-- 😀\nSELECT 'é',\n  nosuch(1);", until=None)
    alert = sql.get_by_role("alert")
    alert.get_by_text("has NOSUCH, which is no function").wait_for()
    alert.get_by_text("(line 5, column 3)").wait_for()
    assert sql.locator(".layer .wrong").all_inner_texts() == ["nosuch"]
    assert editor(sql).get_attribute("aria-invalid") == "true"
    sql.get_by_role("button", name="Line 5, column 3").click()
    assert editor(sql).evaluate("area => area.value.slice(area.selectionStart)") == "nosuch(1);"
    editor(sql).press("End")
    sql.keyboard.type(" ")
    assert sql.locator(".layer .wrong").count() == 0
    sql.said.clear()  # type: ignore[attr-defined]  # a browser tells of each 500


def test_words_are_completed_with_the_keyboard(sql: Page):
    run(sql, PRICES.replace("prices", "costs"))
    editor(sql).fill("")
    sql.keyboard.type("SELECT what FROM cos")
    sql.get_by_role("option", name="costs").wait_for()
    sql.keyboard.press("Tab")
    assert editor(sql).input_value() == "SELECT what FROM costs"
    sql.keyboard.type(" WHERE pr")
    sql.keyboard.press("Control+Space")
    sql.get_by_role("option", name="price", selected=True).wait_for()
    sql.keyboard.press("Enter")
    assert editor(sql).input_value() == "SELECT what FROM costs WHERE price"
    sql.keyboard.press("Control+z")
    assert editor(sql).input_value().endswith("WHERE pr")
    sql.keyboard.press("Escape")
    sql.get_by_role("listbox").wait_for(state="hidden")
    sql.keyboard.press("Tab")  # and then Tab leaves the editor
    assert not editor(sql).evaluate("area => area === document.activeElement")


def test_all_statements_run_one_after_the_other(sql: Page):
    editor(sql).fill(
        f"{PRICES.replace('prices', 'bought')};\n-- twice\n"
        "SELECT COUNT(*) AS n FROM bought WHERE what = :what;\nSELECT MAX(price) AS most FROM bought;\n"
        "SELECT MAX(price) AS most FROM bought;"
    )
    sql.get_by_label("Mode").select_option("batch")
    run_all = sql.get_by_role("button", name="Run all")
    run_all.click()
    sql.get_by_role("alert").get_by_text("Fill in their values, and run all once more.").wait_for()
    sql.get_by_label("Value of what").fill("tea")
    run_all.click()
    sql.get_by_role("status").filter(has_text="4 of 4: Done, 1 row.").wait_for()
    headings = sql.get_by_role("region", name="Result").get_by_role("heading").all_inner_texts()
    assert [heading.split()[0] for heading in headings] == ["CREATE", "SELECT", "SELECT", "SELECT"]
    tables = sql.get_by_role("region", name="Rows").all()[-3:]
    assert [table.locator("tbody th").all_inner_texts() for table in tables] == [["2"], ["7"], ["7"]]


def test_of_all_statements_those_behind_a_failure_do_not_run(sql: Page, here: GatewayHere):
    editor(sql).fill(
        "CREATE TEMPORARY TABLE away (a INT) WITH ('connector' = 'blackhole');\n"
        "SELECT nosuch(1);\nINSERT INTO away VALUES (1);"
    )
    before = len(here.dispatcher.jobs())
    sql.get_by_role("button", name="Run all").click()
    dialog = sql.get_by_role("dialog", name="Run 3 statements")
    dialog.get_by_text("INSERT into away: It becomes a job of this cluster").wait_for()
    dialog.get_by_role("button", name="Run all").click()
    sql.get_by_role("status").filter(has_text="2 of 3: Failed.").wait_for()
    sql.get_by_role("alert").get_by_text("(line 2, column 8)").wait_for()
    run(sql, "SELECT 1", until="Done, 1 row")  # which would wait for all that is to run before it
    assert len(here.dispatcher.jobs()) == before
    sql.said.clear()  # type: ignore[attr-defined]


def test_parameters_are_values_and_never_sql(sql: Page):
    editor(sql).fill("SELECT :name AS name, CHAR_LENGTH(:name) + :more AS n")
    sql.get_by_label("Value of name").fill("it's '; DROP")
    sql.get_by_label("Kind of more").select_option("number")
    sql.get_by_label("Value of more").fill("x")
    sql.get_by_role("button", name="Run", exact=True).click()
    sql.get_by_text("The parameter more is no number: x.").wait_for()
    sql.get_by_label("Value of more").fill("30")
    sql.get_by_role("button", name="Run", exact=True).click()
    sql.get_by_text("Done, 1 row.").wait_for()
    assert rows(sql) == [["it's '; DROP", "42"]]


def test_statements_and_results_with_html_are_texts(sql: Page):
    run(sql, f"SELECT '{BAD}' AS `{BAD}`")
    sql.get_by_role("rowheader", name=BAD).wait_for()
    sql.get_by_role("columnheader", name=BAD).wait_for()
    sql.get_by_text("Statements that were run in this browser").click()
    sql.get_by_role("listitem").get_by_text(BAD).wait_for()
    run(sql, f"SELECT `{BAD}`", until="Failed")
    sql.get_by_role("alert").get_by_text(BAD).first.wait_for()
    assert sql.locator("main img").count() == 0
    sql.said.clear()  # type: ignore[attr-defined]


def test_statements_that_were_run_are_there_after_a_reload(sql: Page):
    run(sql, "SELECT 'remember me'")
    sql.evaluate("() => sessionStorage.removeItem('firesteel.sql.draft')")
    sql.reload()
    sql.get_by_text("Statements that were run in this browser").click()
    entry = sql.get_by_role("listitem").filter(has_text="remember me")
    entry.get_by_text("ended after").wait_for()
    entry.get_by_role("button", name="Put into the editor").click()
    assert "SELECT 'remember me';" in editor(sql).input_value()
    editor(sql).press("Control+Enter")
    sql.get_by_text("Done, 1 row.").wait_for()
    sql.get_by_role("button", name="Forget them all").click()
    sql.get_by_text("There are none.").wait_for()


def test_the_plan_of_a_query_is_drawn(sql: Page):
    run(sql, PRICES.replace("prices", "planned"))
    editor(sql).fill("SELECT what, COUNT(*) FROM planned GROUP BY what")
    sql.get_by_role("button", name="Plan").click()
    sql.get_by_role("img", name="The plan: ").wait_for()
    names = sql.locator("svg.boxes text.name").all_text_contents()
    assert any("GroupAggregate" in name for name in names)
    assert sql.locator("svg.boxes .arrow").count() == len(names) - 1
    sql.get_by_text("The plan as text").click()
    sql.get_by_text("== Optimized Execution Plan ==").wait_for()


def test_an_insert_is_asked_for_and_leads_to_its_job(sql: Page, here: GatewayHere):
    run(sql, "CREATE TEMPORARY TABLE nowhere (a INT) WITH ('connector' = 'blackhole')")
    editor(sql).fill("INSERT INTO nowhere VALUES (1)")
    editor(sql).press("Control+Enter")
    dialog = sql.get_by_role("dialog", name="INSERT into nowhere")
    dialog.get_by_text("It becomes a job of this cluster").wait_for()
    sql.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    assert here.dispatcher.jobs() == []
    editor(sql).press("Control+Enter")
    dialog.get_by_role("button", name="Start the job").click()
    sql.get_by_text("The job was started:").wait_for()
    (job,) = here.dispatcher.jobs()
    assert sql.get_by_role("link", name=job.id).get_attribute("href") == f"#/jobs/{job.id}"


def test_a_session_that_has_ended_is_told_and_another_one_begins(sql: Page, here: GatewayHere):
    run(sql, PRICES.replace("prices", "lost"))
    here.sessions.close_all()
    run(sql, "SELECT 1", until="Done, 1 row")
    sql.get_by_text("A new one has begun, without the tables of the old one.").wait_for()
    sql.said.clear()  # type: ignore[attr-defined]


def test_a_program_is_submitted_with_its_arguments_and_secrets(
    page: Page, address: str, here: GatewayHere, tmp_path: Path
):
    program = tmp_path / "words.py"
    program.write_text("print('words')\n")
    page.goto(f"{address}/#/submit")
    page.locator("input[type=file]").set_input_files(program)
    page.get_by_label("Arguments").fill("--name 'two words'")
    page.get_by_label("Parallelism").fill("3")
    page.get_by_role("checkbox", name="DB_PASSWORD").check()
    page.get_by_role("button", name="Submit").click()
    dialog = page.get_by_role("dialog", name="Submit words.py")
    dialog.get_by_text(
        'It takes 3 slots; 4 of 4 are free, so it starts at once. Its arguments are "--name", "two words".'
    ).wait_for()
    dialog.get_by_text("It can read the secrets DB_PASSWORD.").wait_for()
    before = len(here.dispatcher.jobs())
    dialog.get_by_role("button", name="Submit").click()
    page.get_by_text("CREATED").first.wait_for()
    jobs = here.dispatcher.jobs()
    assert len(jobs) == before + 1
    said = jobs[0].submission()
    assert said is not None
    assert (said.arguments, said.parallelism, said.secrets) == (("--name", "two words"), 3, ("DB_PASSWORD",))
    assert "tiger" not in page.content()
    page.goto(f"{address}/#/submit")
    page.get_by_role("row").filter(has_text="words.py").get_by_role("button", name="Delete words.py").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.get_by_role("row").filter(has_text="words.py").wait_for(state="detached")


def test_what_the_server_refuses_is_said(page: Page, address: str, tmp_path: Path):
    program = tmp_path / "bad name.py"
    program.write_text("")
    page.goto(f"{address}/#/submit")
    page.locator("input[type=file]").set_input_files(program)
    page.get_by_role("button", name="Submit").click()
    page.get_by_role("dialog").get_by_role("button", name="Submit").click()
    page.get_by_role("alert").get_by_text(
        "Only Python files (.py) and archives (.zip) with plain names are allowed."
    ).wait_for()
    page.said.clear()  # type: ignore[attr-defined]


def test_a_viewer_is_told_what_is_not_allowed(page: Page, tmp_path: Path):
    security = Security({VIEWER: Right.VIEWER, SUBMITTER: Right.SUBMITTER})
    with GatewayHere(tmp_path, page=True, security=security, secrets={"KEY": "k"}).listening() as address:
        page.goto(f"{address}/#/sql")
        page.get_by_label("Token").fill(VIEWER)
        page.get_by_role("button", name="Log in").click()
        told = "Your token is that of a viewer; this takes the right of a submitter."
        page.get_by_text(told).wait_for()
        assert page.get_by_role("textbox").count() == 0
        page.get_by_role("link", name="Submit").click()
        page.get_by_text(told).wait_for()
        assert page.get_by_role("button", name="Submit").count() == 0
        page.get_by_role("button", name="Log out").click()
        page.get_by_label("Token").fill(SUBMITTER)
        page.get_by_role("button", name="Log in").click()
        page.get_by_role("checkbox", name="KEY").wait_for()
        page.said.clear()  # type: ignore[attr-defined]
        page.goto("about:blank")


def test_a_cluster_without_submission_says_so(page: Page, tmp_path: Path):
    with GatewayHere(tmp_path, page=True, submission=False).listening() as address:
        page.goto(f"{address}/#/submit")
        page.get_by_text("Submitting is not allowed. Submission is switched off on this cluster.").wait_for()
        page.goto("about:blank")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 380)])
def test_axe_finds_nothing_serious_and_nothing_is_cut_off(sql: Page, scheme: str, width: int):
    from axe_playwright_python.sync_playwright import Axe

    def check(where: str) -> None:
        found = Axe().run(sql).response["violations"]
        serious = [each for each in found if each["impact"] in ("serious", "critical")]
        assert [(each["id"], each["nodes"][0]["html"]) for each in serious] == [], where
        assert sql.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), where

    sql.set_viewport_size({"width": width, "height": 800})
    sql.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    run(sql, "SELECT what, price, :x AS x FROM (VALUES ('tea', 5), ('cup', 7)) AS t (what, price)")
    check("table")
    for name in ("Changes", "Chart"):
        sql.get_by_role("button", name=name).click()
        check(name)
    sql.get_by_role("button", name="Plan").click()
    sql.get_by_role("img", name="The plan: ").wait_for()
    sql.get_by_text("Statements that were run in this browser").click()
    check("plan")
    run(sql, "SELECT pri", until="Failed")
    editor(sql).press("End")
    editor(sql).press("Control+Space")
    sql.get_by_role("listbox").wait_for()
    check("error and words")
    sql.goto(sql.url.partition("#")[0] + "#/submit")
    sql.get_by_role("checkbox", name="DB_PASSWORD").wait_for()
    sql.get_by_text("More").click()
    check("submit")
    sql.said.clear()  # type: ignore[attr-defined]
