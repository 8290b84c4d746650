"""The more pages look, the less often each of them asks."""

from __future__ import annotations

from dataclasses import replace

from starlette.testclient import TestClient

from firesteel.rest.page.pace import EVERY_MS, LONGEST_MS, MOST_PER_SECOND, Pace
from firesteel.rest.routes import GROUPS
from firesteel.rest.security import Security
from firesteel.rest.server import PAGE_HEADER, application
from tests.rest.in_process import Server


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_all_pages_together_ask_so_many_times_a_second() -> None:
    pace = Pace(Clock())
    for _ in range(2):
        told = [pace.next_ms(str(number)) for number in range(60)]
    assert told[-1] == 1000 * 60 / MOST_PER_SECOND


def test_a_page_that_is_gone_counts_no_more() -> None:
    clock = Clock()
    pace = Pace(clock)
    for number in range(60):
        pace.next_ms(str(number))
    clock.now += LONGEST_MS / 1000 + 1
    assert pace.next_ms("0") > EVERY_MS  # each may have waited so long
    clock.now += 2
    assert pace.next_ms("0") == EVERY_MS


def test_none_waits_for_ever_and_others_than_pages_do_not_count() -> None:
    pace = Pace(Clock())
    assert [pace.next_ms("") for _ in range(1_000)] == [EVERY_MS] * 1_000
    assert pace.next_ms("0") == EVERY_MS
    assert [pace.next_ms(str(number)) for number in range(1_000)][-1] == LONGEST_MS


def test_answers_say_when_to_ask_again(server: Server) -> None:
    cluster = replace(server.cluster, pace=Pace())
    client = TestClient(application(cluster, GROUPS, Security(hosts=frozenset({"testserver"}))))

    def again(path: str, page: str) -> int:
        return int(client.get(path, headers={PAGE_HEADER: page}).json()["again"])

    flow = f"/jobs/{server.record.id}/flow"
    assert again(flow, "") == again("/page/jobs", "") == EVERY_MS
    for number in range(4 * MOST_PER_SECOND):
        again("/page/jobs", f"page {number}")
    assert again(flow, "page 0") == 4_000
    assert again("/page/jobs", "page 0") == 4_000
