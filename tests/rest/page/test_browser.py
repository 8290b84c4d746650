"""The page in a browser, over jobs that ran in this process: what it shows, to whom, how little it touches."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from firesteel.control.views.plans import read_plan, write_plan
from firesteel.rest.calls import Right
from firesteel.rest.security import Security
from firesteel.rest.standing import standing
from tests.rest.in_process import Server
from tests.rest.page.conftest import BAD_NAME, see, serving, sums_of

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("page")]

TOKEN = "v" * 16
SECTIONS = {
    "Epochs": "checkpoints",
    "Metrics": "metrics",
    "Exceptions": "exceptions",
    "State": "state",
    "Log": "log",
    "Configuration": "configuration",
    "Graph": "graph",
}


def test_the_overview_leads_to_a_job_and_its_sections(page: Page, address: str, server: Server):
    page.goto(address)
    see(page, "1 RUNNING, 1 FAILED.")
    assert page.title() == "Jobs - Firesteel"
    rows = page.get_by_role("row").filter(has_text="measured")
    assert rows.count() == 2
    rows.filter(has_text="RUNNING").get_by_role("link").click()
    page.get_by_role("rowheader", name="sum -> Sink: out").wait_for()
    assert page.title() == "measured - Firesteel"
    assert page.locator("svg.graph g.bottleneck").count() <= 1
    assert page.locator("svg.graph path.arrow").count() == 2
    page.get_by_role("link", name="Epochs").click()
    see(page, "4 committed, 0 running, 0 failed")
    assert page.locator("svg.timeline rect.bar").count() == 4
    assert page.locator("svg.timeline rect.run").count() == 4
    page.get_by_role("link", name="Configuration").click()
    see(page, server.record.state)


def test_a_failure_is_shown_with_the_line_of_the_program(page: Page, address: str, server: Server):
    page.goto(f"{address}/#/jobs/{server.failed.id}/exceptions")
    page.get_by_text("in_process.py:").first.wait_for()
    see(page, "ZeroDivisionError")
    assert page.get_by_role("button", name="Cancel").is_disabled()


def test_a_key_is_looked_up_and_keys_are_listed(page: Page, address: str, server: Server):
    page.goto(f"{address}/#/jobs/{server.record.id}/state")
    page.get_by_label("Key", exact=True).fill("1")
    page.keyboard.press("Enter")
    page.get_by_role("cell", name="190", exact=True).wait_for()
    page.get_by_role("button", name="All keys").click()
    see(page, "4 keys after epoch 4")
    page.get_by_label("Key", exact=True).fill("17")
    page.get_by_role("button", name="Look up").click()
    see(page, "has nothing at the key 17")
    page.said.clear()  # type: ignore[attr-defined]  # a browser tells of each 404


def test_names_and_keys_with_html_are_texts(page: Page, address: str, server: Server):
    storage = standing(server.record).storage()
    plan = read_plan(storage)
    assert plan is not None
    description = msgspec.structs.replace(plan.description, name=BAD_NAME)
    write_plan(storage, msgspec.structs.replace(plan, description=description))
    try:
        page.goto(address)
        page.get_by_role("link", name=BAD_NAME).click()
        page.get_by_role("heading", name=BAD_NAME).wait_for()
        page.get_by_role("link", name="State", exact=True).click()
        page.get_by_label("Key", exact=True).fill(BAD_NAME)
        page.get_by_role("button", name="Look up").click()
        see(page, f"got {BAD_NAME}")
        assert page.locator("img, main script").count() == 0
    finally:
        write_plan(storage, plan)
    page.said.clear()  # type: ignore[attr-defined]


def test_a_server_with_tokens_asks_for_one_and_the_tab_keeps_it(page: Page, server: Server):
    with serving(server.cluster, Security({TOKEN: Right.VIEWER})) as address:
        page.goto(address)
        page.get_by_label("Token").fill("wrong" * 4)
        page.get_by_role("button", name="Log in").click()
        see(page, "The server does not know this token.")
        page.get_by_label("Token").fill(TOKEN)
        page.get_by_role("button", name="Log in").click()
        see(page, "1 RUNNING, 1 FAILED.")
        page.reload()
        see(page, "1 RUNNING, 1 FAILED.")
        page.goto(f"{address}/#/jobs/{server.record.id}")
        see(
            page,
            "These are not allowed. Your token is that of a viewer; this takes the right of an operator.",
        )
        page.get_by_text("RUNNING").first.wait_for()
        assert all(
            page.get_by_role("button", name=name).is_disabled() for name in ("Savepoint", "Stop", "Cancel")
        )
        assert TOKEN not in page.url
        page.get_by_role("button", name="Log out").click()
        page.get_by_label("Token").wait_for()
        page.said.clear()  # type: ignore[attr-defined]
        page.goto("about:blank")


def test_a_question_is_asked_first_and_the_keyboard_suffices(page: Page, address: str, server: Server):
    page.goto(f"{address}/#/jobs/{server.record.id}")
    page.get_by_role("button", name="Stop", disabled=False).focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("with a savepoint from which it can be started again").wait_for()
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    assert server.record.wish() is None
    page.goto(address)
    page.get_by_role("link", name="measured").first.focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="measured").wait_for()
    page.keyboard.press("Tab")  # the content has the focus
    assert page.evaluate("() => document.activeElement.closest('main') !== null")


def test_axe_finds_nothing_serious(page: Page, address: str, server: Server):
    from axe_playwright_python.sync_playwright import Axe

    def check(where: str) -> None:
        found = Axe().run(page).response["violations"]
        told = [
            (each["id"], each["nodes"][0]["html"])
            for each in found
            if each["impact"] in ("serious", "critical")
        ]
        assert told == [], where

    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.goto(address)
        see(page, "1 RUNNING, 1 FAILED.")
        check(f"overview, {scheme}")
        page.goto(f"{address}/#/jobs/{server.record.id}")
        for section in SECTIONS:
            page.get_by_role("link", name=section, exact=True).click()
            page.locator(".sections [aria-current]").get_by_text(section, exact=True).wait_for()
            page.wait_for_load_state("networkidle")
            check(f"{section}, {scheme}")
        page.goto(f"{address}/#/jobs/{server.record.id}/graph/{sums_of(server)}")
        page.get_by_role("heading", name="sum -> Sink: out").wait_for()
        check(f"vertex, {scheme}")
        page.get_by_role("button", name="Rescale").click()
        check(f"dialog, {scheme}")
        page.keyboard.press("Escape")


def test_light_and_dark_are_those_of_the_system_until_one_is_chosen(page: Page, address: str):
    def ground() -> str:
        return page.evaluate("() => getComputedStyle(document.body).backgroundColor")

    page.emulate_media(color_scheme="dark")
    page.goto(address)
    dark = ground()
    page.get_by_role("button", name="Light").click()
    light = ground()
    assert light != dark
    page.reload()
    assert ground() == light


def test_a_phone_needs_no_scrolling_sideways(page: Page, address: str, server: Server):
    page.set_viewport_size({"width": 360, "height": 700})
    page.goto(address)
    see(page, "1 RUNNING, 1 FAILED.")
    for section in SECTIONS:
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 360, section
        page.goto(f"{address}/#/jobs/{server.record.id}/{SECTIONS[section]}")
        page.locator(".sections [aria-current]").get_by_text(section, exact=True).wait_for()
        page.wait_for_load_state("networkidle")
    page.goto(f"{address}/#/jobs/{server.record.id}/graph/{sums_of(server)}")
    page.get_by_role("heading", name="sum -> Sink: out").wait_for()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360


def test_a_server_that_goes_away_is_told_and_waited_for(page: Page, address: str):
    page.goto(address)
    see(page, "1 RUNNING, 1 FAILED.")
    page.route("**/page/jobs*", lambda route: route.abort())
    see(page, "The server cannot be reached.")
    page.unroute("**/page/jobs*")
    page.get_by_text("The server cannot be reached.").wait_for(state="detached")
    page.said.clear()  # type: ignore[attr-defined]


def test_a_view_whose_files_do_not_come_is_asked_for_again(page: Page, address: str):
    page.goto(address)
    see(page, "1 RUNNING, 1 FAILED.")
    page.route("**/views/submit.js", lambda route: route.abort())
    page.get_by_role("link", name="Submit").click()
    see(page, "The files of this view did not come from the server.")
    page.unroute("**/views/submit.js")
    page.get_by_role("heading", name="Submit a program").wait_for()
    assert page.url.endswith("#/submit")
    page.said.clear()  # type: ignore[attr-defined]


WATCH = """(selector) => {
  window.touched = 0;
  const count = (records) => { window.touched += records.length; };
  const all = { subtree: true, childList: true, characterData: true, attributes: true };
  new MutationObserver(count).observe(document.querySelector(selector), all);
}"""
ALL_SAY = (
    "(text) => [...document.querySelectorAll('tbody tr')].every((row) => row.textContent.includes(text))"
)


def answering(answers: list[Any], every: str | None = None) -> Any:
    """Give one answer after the other, and the last one from then on."""

    def answer(route: Route) -> None:
        data = answers.pop(0) if len(answers) > 1 else answers[0]
        route.fulfill(body=json.dumps(data), content_type="application/json")

    return answer


def test_of_200_jobs_only_what_changed_is_touched(page: Page, address: str):
    row = {"mode": "STREAMING", "health": "ok", "end": 5_000, "parallelism": 2, "restarts": 0}
    row |= {"status": "RUNNING", "start": 1_000, "records_in": 1.0, "records_out": 1.0, "busy": 0.5}
    row |= {"backpressured": 0.0, "bottleneck": None}
    jobs = [{**row, "id": f"{number:032x}", "name": f"job {number}"} for number in range(200)]
    one = {**jobs[100], "records_in": 77.0}
    first = {"version": "a-1", "now": 6_000, "all": True, "jobs": jobs, "gone": []}
    later = {"version": "a-2", "now": 6_000, "all": False, "jobs": [one], "gone": []}
    page.route("**/page/jobs?after=", answering([first]))
    page.route("**/page/jobs?after=a-1", answering([{**first, "all": False, "jobs": []}]))
    page.goto(address)
    see(page, "job 199")
    page.evaluate(WATCH, "tbody")
    page.route("**/page/jobs?after=a-*", answering([later]))
    see(page, "77/s")
    assert 1 <= page.evaluate("() => window.touched") <= 4


def test_of_1000_vertices_only_what_changed_is_touched(page: Page, address: str, server: Server):
    ids = [f"{number:032x}" for number in range(1_000)]
    nodes = [
        {"id": id_, "inputs": [{"id": ids[place // 2], "ship_strategy": "HASH"}] if place else []}
        for place, id_ in enumerate(ids)
    ]
    job = {
        "vertices": [{"id": id_, "name": f"vertex {id_}", "parallelism": 2} for id_ in ids],
        "plan": {"nodes": nodes},
    }
    idle = {"records_in": 1.0, "records_out": 1.0, "bytes_out": 1.0, "busy": 0.1, "backpressured": 0.0}
    flows = [{**idle, "id": id_, "watermark": None} for id_ in ids]
    busy = [*flows[:500], {**flows[500], "busy": 0.9, "records_in": 77.0}, *flows[501:]]
    flow = server.get("JOB/flow") | {"bottleneck": None, "shape": "x"}
    first = {**flow, "measured_at": 1, "vertices": flows}
    page.route(f"**/jobs/{server.record.id}", answering([job]))
    page.route("**/flow?after=-1", answering([first]))
    page.route("**/flow?after=1", answering([{**first, "vertices": None}]))
    page.goto(f"{address}/#/jobs/{server.record.id}")
    page.locator("svg.graph").wait_for()
    assert 1 <= page.locator("svg.graph rect.box").count() < 100
    assert page.locator("tbody tr").count() == 1_000
    page.wait_for_function(ALL_SAY, arg="1/s")
    page.evaluate(WATCH, "main")
    page.route("**/flow?after=2", answering([{**first, "measured_at": 2, "vertices": None}]))
    page.route("**/flow?after=1", answering([{**first, "measured_at": 2, "vertices": busy}]))
    page.get_by_role("cell", name="77/s").wait_for()
    assert 1 <= page.evaluate("() => window.touched") <= 20
