"""Pages without a browser ask for what pages in a browser ask for."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from harness.waiting import until
from tests.rest.in_process import Server
from tests.rest.page.many_pages import VIEWS, asked_for, looking

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.mark.long
@pytest.mark.xdist_group("page")
@pytest.mark.parametrize("place", range(len(VIEWS)))
def test_they_ask_for_what_a_page_in_a_browser_asks_for(
    page: Page, address: str, server: Server, place: int, monkeypatch: pytest.MonkeyPatch
):
    view, ask = [*VIEWS.items()][place]
    monkeypatch.setattr("tests.rest.page.many_pages.VIEWS", {view: ask})
    job = server.record.id
    seen: Counter[str] = Counter()
    page.on("response", lambda answer: seen.update([asked_for(urlsplit(answer.url).path, job)]))
    page.goto(f"{address}/#/{view.replace('JOB', job)}")
    often = "/page/jobs" if view == "" else "/jobs/JOB/flow"

    def asked_thrice() -> bool:
        page.evaluate("() => null")  # answers are only told of while something is asked of the page
        return seen[often] >= 3

    until(asked_thrice)
    with looking(address, job, 1) as (other,):
        until(lambda: other.asked[often] >= 3)
    data = {path for path in seen if path != "/" and not path.rpartition("/")[2].partition(".")[2]}
    assert set(other.asked) == data
    assert (other.asked["/jobs/JOB"], other.asked["/page/rights"]) == (
        seen["/jobs/JOB"],
        seen["/page/rights"],
    )
