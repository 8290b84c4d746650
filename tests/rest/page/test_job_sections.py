"""The sections of a job's page in a browser, over a job that ran in this process: what is read and done there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec
import pytest

from firesteel.control.commands import now_ms
from firesteel.control.views.flamegraphs import FlameSamples, Stack, write_samples
from firesteel.control.views.metrics import read_metrics, write_metrics
from firesteel.rest.page.recent import Seen
from firesteel.rest.standing import standing
from tests.rest.in_process import Server
from tests.rest.page.conftest import BAD_NAME, see, sums_of

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("page")]

FIRST_PAINT_MS = 1_000

PAINTED = """() => new Promise((resolve) => {
  new PerformanceObserver((list) => {
    const [paint] = list.getEntriesByName("first-contentful-paint");
    if (paint) resolve(paint.startTime);
  }).observe({ type: "paint", buffered: true });
})"""


def open_section(page: Page, address: str, server: Server, section: str) -> None:
    page.goto(f"{address}/#/jobs/{server.record.id}/{section}")
    page.get_by_role("heading", name="measured").wait_for()


def row(page: Page, table: str, text: str) -> list[str]:
    """The cells of the row of a table that has a text in one of them."""
    rows = page.get_by_role("region", name=table, exact=True).get_by_role("row")
    found = rows.filter(has_text=text)
    found.first.wait_for()
    return found.first.locator("th, td").all_inner_texts()


def test_the_first_paint_takes_less_than_a_second(page: Page, address: str, server: Server):
    """The best of some loads with nothing cached: other tests take the machine's time, too."""
    open_section(page, address, server, "graph")
    overview, graph = [], []
    for _ in range(3):
        for painted, url in ((overview, address), (graph, f"{address}/#/jobs/{server.record.id}/graph")):
            with fresh_page(page) as cold:
                cold.goto(url)
                painted.append(cold.evaluate(PAINTED))
    assert max(min(overview), min(graph)) < FIRST_PAINT_MS


@contextmanager
def fresh_page(page: Page) -> Iterator[Page]:
    """A page of the same browser that has nothing in its cache."""
    assert page.context.browser is not None
    with page.context.browser.new_context() as context:
        yield context.new_page()


def test_a_vertex_is_opened_with_its_subtasks_and_operators(page: Page, address: str, server: Server):
    open_section(page, address, server, "graph")
    labels = page.locator("svg.graph text.rate")
    labels.filter(has_text="B/s").first.wait_for()
    assert labels.count() == 4  # records and bytes at both arrows
    page.get_by_role("link", name="sum -> Sink: out").click()
    page.get_by_role("heading", name="sum -> Sink: out").wait_for()
    assert row(page, "Subtasks", "64 to 127")[:2] == ["1", "64 to 127"]
    assert row(page, "Operators", "in_process.py")[:2][0] == "sum"
    see(page, "mean distance from the average: records read 0 %")
    page.get_by_role("link", name="← Graph").click()
    page.locator("svg.graph .vertex").filter(has_text="same").click()
    page.get_by_role("heading", name="same", exact=True).wait_for()


def test_a_flame_graph_is_walked_by_keys_and_names_are_texts(page: Page, address: str, server: Server):
    operator = standing(server.record).vertices[-1].operators[0].id
    stacks = (
        Stack(operator, 0, True, ("job.py:run", "job.py:parse"), 30),
        Stack(operator, 1, False, ("job.py:run", BAD_NAME), 10),
    )
    write_samples(standing(server.record).storage(), FlameSamples(now_ms(), 10, stacks))
    open_section(page, address, server, f"graph/{sums_of(server)}")
    page.get_by_role("button", name="Show where time goes").click()
    see(page, "40 samples until")
    assert page.locator("svg.flames rect").count() == 4
    assert row(page, "Calls in which most samples were themselves", "parse") == ["job.py:parse", "30", "75 %"]
    page.get_by_role("region", name="Flame graph. Arrow keys").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    see(page, f"{BAD_NAME}: 10 samples, 25.0 %")
    page.keyboard.press("Enter")
    assert page.locator("svg.flames rect").count() == 1
    page.keyboard.press("Escape")
    assert page.locator("svg.flames rect").count() == 4
    page.get_by_label("Of subtask").select_option("1")
    see(page, "10 samples until")
    assert page.locator("img, main script").count() == 0


def test_epochs_have_phases_a_forecast_and_sizes_by_operator(page: Page, address: str, server: Server):
    open_section(page, address, server, "checkpoints")
    cells = row(page, "The last epochs whose output is visible, the newest first", "committed")
    assert (cells[0], cells[2], cells[3]) == ("4", "10", "10")
    assert all(word in cells[5] for word in ("planned", "run", "committed", "published"))
    see(page, "The next one reads of each source")
    see(page, "at most 10")
    assert page.locator("svg.fit circle").count() == 4
    page.get_by_role("button", name="Epoch 2 by operator").focus()
    page.keyboard.press("Enter")
    uid, stored, state, parts = row(page, "Epoch 2 by operator", "sum")[1:5]
    assert uid == "sums"
    assert "KiB" in stored
    assert "KiB" in state
    assert parts.endswith(state)
    assert row(page, "Epoch 2 by operator", "same")[2] == "0 B"
    page.keyboard.press("Enter")
    page.get_by_role("region", name="Epoch 2 by operator").wait_for(state="detached")


def test_a_metric_of_a_vertex_is_drawn_while_it_changes(page: Page, address: str, server: Server):
    open_section(page, address, server, "metrics")
    page.get_by_role("img", name="An epoch took since").wait_for()
    page.get_by_role("combobox", name="Of", exact=True).select_option(label="sum -> Sink: out")
    page.get_by_role("combobox", name="Metric").select_option("numRecordsIn")
    page.get_by_role("button", name="Draw").click()
    chart = page.locator("figure").filter(has_text="numRecordsIn, sum · sum -> Sink: out")
    chart.get_by_text("40").first.wait_for()
    storage = standing(server.record).storage()
    before = read_metrics(storage)
    assert before is not None
    try:
        write_metrics(storage, msgspec.structs.replace(before, measured_at=now_ms()))
        page.locator("figure").filter(has_text="Read").locator("path.line[d*=L]").first.wait_for(
            state="attached"
        )
    finally:
        write_metrics(storage, before)
    page.get_by_role("link", name="Epochs", exact=True).click()
    page.get_by_role("link", name="Metrics", exact=True).click()
    chart.wait_for()  # it is still chosen
    chart.get_by_role("button", name="Remove").click()
    chart.wait_for(state="detached")


def test_charts_begin_with_what_was_seen_before(page: Page, address: str, server: Server):
    storage = standing(server.record).storage()
    before = read_metrics(storage)
    assert before is not None
    vertex = sums_of(server)
    seen = Seen(before.measured_at + 1, server.get("JOB/flow")["totals"], {vertex: {"records_in": 123.0}})
    server.cluster.recent.note(server.record.id, seen)
    try:
        write_metrics(storage, msgspec.structs.replace(before, measured_at=before.measured_at + 2))
        open_section(page, address, server, "metrics")
        read = page.locator("figure").filter(has_text="Read")
        read.locator("path.line[d*=L]").first.wait_for(state="attached")
        page.get_by_role("combobox", name="Of", exact=True).select_option(label="sum -> Sink: out")
        page.get_by_role("combobox", name="Metric").select_option("numRecordsInPerSecond")
        page.get_by_role("button", name="Draw").click()
        chart = page.locator("figure").filter(has_text="numRecordsInPerSecond, sum · sum -> Sink: out")
        chart.locator("path.line[d*=L]").wait_for(state="attached")
    finally:
        write_metrics(storage, before)


def test_two_epochs_are_compared_at_a_key_and_at_all_keys(page: Page, address: str, server: Server):
    open_section(page, address, server, "state")
    page.get_by_label("Compared with").select_option("epoch 2")
    page.get_by_label("Key", exact=True).fill("1")
    page.keyboard.press("Enter")
    see(page, "It has changed.")
    assert row(page, "What the state has", "190") == ["1", "45", "190"]
    page.get_by_role("button", name="Changed keys").click()
    see(page, "4 keys have changed")
    page.get_by_label("After the epoch").select_option("2")
    page.get_by_label("Compared with").select_option("epoch 4")
    page.get_by_role("button", name="Changed keys").click()
    page.get_by_role("columnheader", name="After epoch 4").wait_for()
    page.get_by_label("Compared with").select_option("no other")
    page.get_by_role("button", name="Look up").click()
    page.get_by_role("cell", name="45", exact=True).wait_for()


def test_keys_are_turned_page_by_page_and_counted_by_group(page: Page, address: str, server: Server):
    def short(route: Route) -> None:
        route.continue_(url=route.request.url.replace("limit=50", "limit=3"))

    page.route("**limit=50*", short)
    open_section(page, address, server, "state")
    page.get_by_role("button", name="All keys").click()
    see(page, "3 keys on page 1 after epoch 4")
    assert page.get_by_role("button", name="Previous page").is_disabled()
    page.get_by_role("button", name="Next page").click()
    see(page, "1 key on page 2 after epoch 4")
    assert page.get_by_role("button", name="Next page").is_disabled()
    page.get_by_role("button", name="Previous page").click()
    see(page, "3 keys on page 1 after epoch 4")
    page.get_by_role("button", name="Key groups").click()
    see(page, "4 entries in 128 key groups after epoch 4")
    assert row(page, "Key groups by subtask", "64 to 127")[2] == "2"


def test_the_log_is_followed_filtered_and_read_back(page: Page, address: str, server: Server):
    log = server.record.log
    before = log.read_bytes()
    try:
        log.write_text("".join(f"line {number} INFO\n" for number in range(8_000)) + f"ERROR {BAD_NAME}\n")
        open_section(page, address, server, "log")
        see(page, BAD_NAME)
        assert page.locator("pre.log .error").count() == 1
        assert page.locator("img, main script").count() == 0
        with log.open("a") as more:
            more.write("the newest line\n")
        see(page, "the newest line")
        page.get_by_label("Show only lines with").fill("newest")
        assert page.locator("pre.log span:visible").all_inner_texts() == ["the newest line\n"]
        page.get_by_label("Show only lines with").fill("")
        page.get_by_role("button", name="Earlier lines").focus()
        page.keyboard.press("Enter")
        page.get_by_text("line 100 INFO").wait_for(state="attached")
    finally:
        log.write_bytes(before)
