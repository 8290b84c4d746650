"""The patterns of a job on its page: states, conditions, and how many partial matches wait where."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from firesteel.cep import CEP, Pattern
from firesteel.common.typeinfo import Types
from firesteel.control.commands import now_ms, read_status, write_status
from firesteel.control.views.plans import read_plan, write_plan
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.rest.calls import Call, Cluster
from firesteel.rest.dispatcher import Dispatcher, new_job_id
from firesteel.rest.records import DriverProcess, JobRecord, Submission
from firesteel.rest.routes.patterns import patterns
from firesteel.rest.standing import standing
from firesteel.table import StreamTableEnvironment
from firesteel.testing import executing
from tests.rest.page.conftest import picture, serving

if TYPE_CHECKING:
    from playwright.sync_api import Page

BAD = '<img src=x onerror="alert(1)">'
EVENTS = [("tea", 5), ("cup", 3), ("tea", 95), ("tea", 7), ("jar", 50)]


@dataclass
class Jobs:
    """A cluster's directory with jobs that ran in this process, and still run for all that their drivers say."""

    directory: Path

    def __post_init__(self) -> None:
        self.cluster = Cluster(Dispatcher(self.directory, 4), self.directory, "", 0)

    def run(self, program: Callable[[StreamExecutionEnvironment], Any]) -> JobRecord:
        folder = self.directory / "program"
        folder.mkdir(exist_ok=True)
        record = self.cluster.dispatcher.submit(
            Submission(new_job_id(), "main.py", now_ms(), slots=1), folder
        )
        record.write("driver", DriverProcess(os.getpid(), 0, 1))
        with executing(epoch_records=3, parallelism=2, state_dir=record.state, job_id=record.id):
            env = StreamExecutionEnvironment.get_execution_environment()
            program(env)
            env.execute("patterns")
        storage = standing(record).storage()
        said = read_status(storage)
        assert said is not None
        changed = msgspec.structs.replace(said, status="RUNNING", heartbeat_at=now_ms() + 3_600_000)
        write_status(storage, changed)
        return record

    def patterns(self, record: JobRecord, **query: str) -> dict[str, Any]:
        answer = patterns(Call(self.cluster, {"jobid": record.id}, query))
        return json.loads(msgspec.json.encode(answer))  # type: ignore[no-any-return]


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[Jobs]:
    made = Jobs(tmp_path)
    yield made
    made.cluster.readers.close()


def rise() -> Pattern:
    return (
        Pattern.begin("low")
        .where(lambda event: event[1] < 10)
        .followed_by("high")
        .where(lambda event: event[1] > 90)
        .followed_by(BAD)
        .where(lambda event: event[1] == 0)
    )


def keyed(env: StreamExecutionEnvironment) -> Any:
    kind = Types.TUPLE([Types.STRING(), Types.INT()])
    return env.from_collection(EVENTS, kind).key_by(lambda event: event[0])


def one(env: StreamExecutionEnvironment) -> None:
    found = (
        CEP.pattern(keyed(env), rise()).in_processing_time().select(lambda match, *_: str(match)).uid("rises")
    )
    found.name("rises").print()


def many(env: StreamExecutionEnvironment) -> None:
    other = Pattern.begin("any").next("never").where(lambda event: event[1] > 1_000)
    found = CEP.patterns(keyed(env), {"rise": rise(), "other": other}).in_processing_time()
    found.select(lambda match, *_: str(match)).print()


def of_rows(env: StreamExecutionEnvironment, directory: Path) -> None:
    """A pattern of MATCH_RECOGNIZE, in the same prices."""
    lines = (
        json.dumps({"shop": shop, "price": price, "ts": f"2020-01-01 00:00:{second:02d}"})
        for second, (shop, price) in enumerate(EVENTS)
    )
    (directory / "prices.json").write_text("\n".join(lines))
    tables = StreamTableEnvironment.create(env)
    tables.execute_sql(
        "CREATE TABLE prices (shop STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) "
        f"WITH ('connector' = 'filesystem', 'path' = '{directory}', 'format' = 'json')"
    )
    found = tables.sql_query(
        "SELECT * FROM prices MATCH_RECOGNIZE (PARTITION BY shop ORDER BY ts MEASURES low.price AS p "
        "AFTER MATCH SKIP PAST LAST ROW PATTERN (low high+? again) "
        "DEFINE low AS price < 10, high AS price > 90 AND high.price > 2 * low.price "
        "OR high.price IS NULL, again AS NOT again.price = 1)"
    )
    tables.to_data_stream(found).print()


def waiting(pattern: dict[str, Any]) -> dict[str, int]:
    return {state["name"]: state["waiting"] for state in pattern["states"] if state["waiting"]}


def test_partial_matches_are_counted_where_they_wait(jobs: Jobs) -> None:
    record = jobs.run(one)
    found = jobs.patterns(record)
    (pattern,) = found["patterns"]
    assert (pattern["name"], pattern["id"], pattern["held_back"], found["complete"]) == (
        "rises",
        None,
        0,
        True,
    )
    # Both prices of tea below 10, and the cup's; the first of tea has been high since.
    assert waiting(pattern) == {"high": 2, BAD: 1}
    low, *_, end = pattern["states"]
    assert (low["name"], low["remark"], end["name"], end["kind"]) == ("low", "begins", "match", "final")
    (way,) = low["ways"]
    assert (way["action"], way["condition"]) == ("take", "event[1] < 10")
    assert pattern["states"][way["target"]]["name"] == "high"
    assert jobs.patterns(record, after=str(found["epoch"]))["patterns"] is None


def test_patterns_of_rows_have_the_conditions_of_their_query(jobs: Jobs, tmp_path: Path) -> None:
    rows = tmp_path / "rows"
    rows.mkdir()
    record = jobs.run(lambda env: of_rows(env, rows))
    (pattern,) = jobs.patterns(record)["patterns"]
    assert pattern["title"] == "PATTERN (low high+? again); after a match: skip past last event"
    # The tea at 95 was high, and so the match of the first tea is complete with the second one.
    assert waiting(pattern) == {"high": 1}
    states = {state["name"]: state for state in pattern["states"]}
    assert [(way["action"], way["condition"]) for way in states["low"]["ways"]] == [("take", "price < 10")]
    conditions = {way["condition"] for state in pattern["states"] for way in state["ways"]}
    assert "price > 90 AND high.price > 2 * low.price OR high.price IS NULL" in conditions
    assert "NOT again.price = 1" in conditions


def test_many_patterns_of_one_operator_are_told_apart(jobs: Jobs) -> None:
    found = jobs.patterns(jobs.run(many))["patterns"]
    assert {pattern["id"]: waiting(pattern) for pattern in found} == {
        "rise": {"high": 2, BAD: 1},
        "other": {"never": 3},
    }


@pytest.mark.parametrize("kind", ["of events", "of rows"])
def test_without_a_plan_the_saved_shape_is_drawn(jobs: Jobs, tmp_path: Path, kind: str) -> None:
    rows = tmp_path / "rows"
    rows.mkdir()
    record = jobs.run(one if kind == "of events" else lambda env: of_rows(env, rows))
    (known,) = jobs.patterns(record)["patterns"]
    storage = standing(record).storage()
    plan = read_plan(storage)
    assert plan is not None
    write_plan(storage, msgspec.structs.replace(plan, patterns={}))
    jobs.cluster = Cluster(jobs.cluster.dispatcher, jobs.directory, "", 0, readers=jobs.cluster.readers)
    (saved,) = jobs.patterns(record)["patterns"]
    for pattern in (known, saved):
        for way in (way for state in pattern["states"] for way in state["ways"]):
            del way["condition"]
    assert saved["states"] == known["states"]


def test_a_job_without_patterns_has_none(jobs: Jobs) -> None:
    assert jobs.patterns(jobs.run(lambda env: keyed(env).print()))["patterns"] == []


@pytest.mark.long
@pytest.mark.xdist_group("page")
def test_the_automaton_is_drawn(page: Page, jobs: Jobs) -> None:
    from axe_playwright_python.sync_playwright import Axe

    record = jobs.run(one)
    with serving(jobs.cluster) as address:
        page.goto(f"{address}/#/jobs/{record.id}/patterns")
        page.get_by_role("heading", name="rises").wait_for()
        page.get_by_text("3 partial matches.").wait_for()
        page.get_by_role("img", name="The states of the pattern rises").wait_for()
        page.get_by_role("row", name="high 2 ").wait_for()
        page.get_by_role("rowheader", name=BAD).wait_for()
        assert page.locator("main img").count() == 0
        boxes = page.locator("svg.boxes g:has(> rect)")
        assert boxes.count() == 4
        assert boxes.nth(1).locator("text").last.text_content() == "2 partial matches"
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            found = Axe().run(page).response["violations"]
            assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []
        page.goto("about:blank")


@pytest.mark.long
@pytest.mark.xdist_group("page")
def test_a_pattern_of_rows_is_drawn(page: Page, jobs: Jobs, tmp_path: Path) -> None:
    rows = tmp_path / "rows"
    rows.mkdir()
    record = jobs.run(lambda env: of_rows(env, rows))
    with serving(jobs.cluster) as address:
        page.goto(f"{address}/#/jobs/{record.id}/patterns")
        page.get_by_text("1 partial match.").wait_for()
        page.get_by_text("PATTERN (low high+? again)").wait_for()
        page.get_by_role("row", name="high 1 takes if price > 90 AND high.price > 2 * low.price").wait_for()
        page.goto("about:blank")


ORDERS = [
    (user, price) for user in range(40) for price in ((5, 3, 700, 80) if user % 3 else (4, 900, -900, 2))
]


def tour(env: StreamExecutionEnvironment) -> None:
    kind = Types.TUPLE([Types.INT(), Types.INT()])
    pattern = (
        Pattern.begin("small")
        .where(lambda order: order[1] < 10)
        .followed_by("large")
        .where(lambda order: order[1] > 500)
        .followed_by("refunded")
        .where(lambda order: order[1] < 0)
    )
    orders = env.from_collection(ORDERS, kind).key_by(lambda order: order[0])
    found = CEP.pattern(orders, pattern).in_processing_time().select(lambda match, *_: str(match))
    found.uid("tried cards").name("tried cards").print()


@pytest.mark.long
@pytest.mark.xdist_group("page")
def test_partial_matches_of_many_keys_are_shown_in_the_tour(page: Page, jobs: Jobs) -> None:
    record = jobs.run(tour)
    (pattern,) = jobs.patterns(record)["patterns"]
    with record.driving(), serving(jobs.cluster) as address:
        page.goto(f"{address}/#/jobs/{record.id}/patterns")
        page.get_by_text("RUNNING", exact=True).wait_for()
        page.get_by_role("heading", name="tried cards").wait_for()
        for name, count in waiting(pattern).items():
            page.get_by_role("row", name=f"{name} {count} ").wait_for()
        picture(page, "patterns", width=1560)
        page.goto("about:blank")
