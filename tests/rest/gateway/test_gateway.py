"""Sessions, operations, pages and errors over REST; queries run in this process, jobs of INSERTs are records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import ConfigurationError
from firesteel.rest.gateway.limits import Limits
from harness.waiting import until
from tests.rest.gateway.asking import STREAMING, Gateway, Session

ENDLESS = "CREATE TABLE endless (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000')"
WORDS = "(VALUES ('a', 1), ('b', 2), ('a', 3)) AS words (word, n)"


def test_a_definition_answers_ok_and_begins_no_job(session: Session) -> None:
    page, end = session.pages(ENDLESS)
    columns = [{"name": "result", "logicalType": STRING, "comment": None}]
    assert page == {
        "resultType": "PAYLOAD",
        "isQueryResult": False,
        "resultKind": "SUCCESS",
        "results": {
            "columns": columns,
            "rowFormat": "JSON",
            "data": [{"kind": "INSERT", "fields": ["OK"]}],
        },
        "nextResultUri": page["nextResultUri"],
    }
    assert page["nextResultUri"].endswith("/result/1?rowFormat=JSON")
    assert (end["resultType"], end["results"]["data"]) == ("EOS", [])
    assert session.rows("SHOW TABLES;") == [("INSERT", ["endless"])]


STRING = {"type": "VARCHAR", "nullable": True, "length": 2147483647}


@pytest.mark.parametrize(
    ("form", "fields"),
    [
        (
            "JSON",
            [1, "x", None, [1, 2], {"a": 1}, True, "CgA=", "2020-01-02T03:04:05.678", "2020-01-02", 1.50],
        ),
        (
            "plain_text",
            [
                "1",
                "x",
                None,
                "[1, 2]",
                "{a=1}",
                "TRUE",
                "x'0a00'",
                "2020-01-02 03:04:05.678",
                "2020-01-02",
                "1.50",
            ],
        ),
    ],
)
def test_values_are_written_as_flink_writes_them(session: Session, form: str, fields: list[Any]) -> None:
    query = (
        "SELECT 1, 'x', CAST(NULL AS BIGINT), ARRAY[1, 2], MAP['a', 1], TRUE, X'0a00',"
        " TIMESTAMP '2020-01-02 03:04:05.678', DATE '2020-01-02', 1.50"
    )
    page = next(session.pages(query, form))
    assert page["results"]["rowFormat"] == form.upper()
    rows = session.rows(query, form)
    assert rows == [("INSERT", fields)]


def test_a_query_of_a_stream_sends_its_changes_and_names_its_job(gateway: Gateway) -> None:
    session = gateway.open(**{"firesteel.epoch.max-records": "1"})
    query = f"SELECT word, SUM(n) AS total FROM {WORDS} GROUP BY word"
    pages = list(session.pages(query, "PLAIN_TEXT"))
    assert all(page["isQueryResult"] and len(page["jobID"]) == 32 for page in pages)
    left: dict[str, str] = {}
    for page in pages:
        for row in page["results"]["data"]:
            word, total = row["fields"]
            if row["kind"] in ("INSERT", "UPDATE_AFTER"):
                left[word] = total
            else:
                assert left.pop(word) == total
    assert left == {"a": "4", "b": "2"}


def test_the_page_before_can_be_fetched_once_more_and_no_other(session: Session) -> None:
    operation = session.begin("SELECT 1")
    page = session.first(operation)
    again = session.ask("GET", f"{operation}/result/0")
    assert again["results"] == page["results"]
    wrong = session.ask("GET", f"{operation}/result/5", status=500)
    assert "requires the token 1 or 0; got 5" in wrong["errors"][1]


def test_options_of_a_statement_hold_for_it_alone(session: Session) -> None:
    batch = {"execution.runtime-mode": "batch"}
    query = f"SELECT word, COUNT(*) FROM {WORDS} GROUP BY word"
    assert sorted(session.rows(query, executionConfig=batch)) == [("INSERT", ["a", 2]), ("INSERT", ["b", 1])]
    assert session.ask("GET", "")["properties"] == STREAMING
    session.rows("SET 'parallelism.default' = '2'")
    assert session.ask("GET", "")["properties"] == {**STREAMING, "parallelism.default": "2"}
    session.rows("RESET")
    assert session.ask("GET", "")["properties"] == STREAMING


def test_an_endless_query_ends_when_it_is_cancelled_or_closed(session: Session) -> None:
    session.rows(ENDLESS)
    for end, method, status in (("cancel", "POST", "CANCELED"), ("close", "DELETE", "CLOSED")):
        operation = session.begin("SELECT * FROM endless")
        assert session.first(operation)["isQueryResult"]
        assert session.ask("GET", f"{operation}/status") == {"status": "FINISHED"}
        running = session.gateway.sessions.get(session.path.rpartition("/")[2]).operation(
            operation.rpartition("/")[2]
        )
        assert session.ask(method, f"{operation}/{end}") == {"status": status}
        until(lambda running=running: running.ended)  # type: ignore[misc]
    session.ask("GET", f"{operation}/status", status=404)


def test_an_endless_query_waits_for_its_reader(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firesteel.rest.gateway.results.MOST_ROWS", 50)
    monkeypatch.setattr("firesteel.rest.gateway.results.PAGE_ROWS", 10)
    numbers = (
        "CREATE TABLE numbers (n INT) WITH ('connector' = 'datagen', 'rows-per-second' = '100000',"
        " 'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '500')"
    )
    session.rows(numbers)
    pages = list(session.pages("SELECT n FROM numbers"))
    assert max(len(page["results"]["data"]) for page in pages) <= 20
    assert sorted(row["fields"][0] for page in pages for row in page["results"]["data"]) == [*range(1, 501)]


def test_errors_are_ours_without_a_stack(session: Session) -> None:
    assert session.error("SELECT nope FROM (VALUES (1)) AS t (n)") == (
        "query (line 1, column 8) requires the name of a column; got nope\n"
        "    SELECT nope FROM (VALUES (1)) AS t (n)\n           ^^^^\n  hint: known are: n"
    )
    assert "requires a statement" in session.error("-- nothing")
    assert "takes one statement at a time" in session.error("SELECT 1; SELECT 2;")
    assert "is one of a shell" in session.error("QUIT;")
    assert session.rows("SELECT 1") == [("INSERT", [1])]


def test_an_error_of_a_running_query_comes_after_its_rows(session: Session) -> None:
    session.rows("SET 'execution.runtime-mode' = 'batch'")
    operation = session.begin("SELECT 1 / n FROM (VALUES (0)) AS t (n)")
    token = 0
    while True:
        answer = session.gateway.web.get(f"{session.path}{operation}/result/{token}")
        if answer.status_code == 500:
            break
        token += answer.json()["resultType"] == "PAYLOAD"
    assert "zero" in answer.json()["errors"][1]


def test_what_is_unknown_is_not_found(gateway: Gateway, session: Session) -> None:
    assert "does not exist" in gateway.ask("GET", "/v4/sessions/none", status=404)["errors"][0]
    gateway.ask("POST", "/v4/sessions/none/statements", {"statement": "SELECT 1"}, 404)
    session.ask("GET", "/operations/none/result/0", status=404)
    session.ask("GET", "/operations/none/result/x", status=400)
    assert "statement" in session.ask("POST", "/statements", {}, 400)["errors"][0]


def test_a_session_ends_when_it_is_closed_or_idle(gateway: Gateway) -> None:
    first, second = gateway.open(), gateway.open()
    gateway.now = 50.0
    assert first.ask("POST", "/heartbeat") == {}
    gateway.now = 100.0
    gateway.sessions.close_idle()
    assert first.ask("GET", "")["properties"] == STREAMING
    assert "may have been idle" in second.ask("GET", "", status=404)["errors"][0]
    assert first.ask("DELETE", "") == {"status": "CLOSED"}
    first.ask("GET", "", status=404)


@pytest.mark.parametrize("option", ["idle-timeout", "check-interval"])
def test_without_a_limit_sessions_stay(tmp_path: Path, option: str) -> None:
    gateway = Gateway(tmp_path, limits=Limits.of({f"sql-gateway.session.{option}": "0"}))
    session = gateway.open()
    gateway.now = 1e9
    gateway.sessions.close_idle()
    assert session.ask("GET", "")["properties"] == STREAMING
    gateway.sessions.close_all()


def test_limits_are_flinks_options() -> None:
    given = {"idle-timeout": "1 h", "check-interval": "500 ms", "max-num": "-1"}
    limits = Limits.of({f"sql-gateway.session.{name}": value for name, value in given.items()})
    assert limits == Limits(idle_ms=3_600_000, check_ms=500, most_sessions=-1)
    assert limits.allows(10_000_000)
    assert Limits.of({}) == Limits(600_000, 60_000, 100)
    for wrong, message in (
        ({"sql-gateway.session.idle": "1 h"}, "did you mean sql-gateway.session.idle-timeout"),
        ({"sql-gateway.session.idle-timeout": "soon"}, "requires a duration; got 'soon'"),
        ({"sql-gateway.session.max-num": "many"}, "requires a whole number; got 'many'"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            Limits.of(wrong)


def test_sessions_and_operations_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gateway = Gateway(tmp_path, limits=Limits(most_sessions=2))
    monkeypatch.setattr("firesteel.rest.gateway.sessions.MOST_OPERATIONS", 2)
    session, _ = gateway.open(), gateway.open()
    refused = gateway.ask("POST", "/v4/sessions", {}, 500)
    assert "has 2 sessions already" in refused["errors"][1]
    session.rows(ENDLESS)
    for _ in range(3):
        session.rows("SHOW TABLES")  # operations that have ended make room
    for _ in range(2):
        session.first(session.begin("SELECT * FROM endless"))
    refused = session.ask("POST", "/statements", {"statement": "SELECT 1"}, 500)
    assert "has 2 operations that have not ended" in refused["errors"][1]
    gateway.sessions.close_all()


def test_statement_sets_come_whole_or_statement_by_statement(gateway: Gateway, session: Session) -> None:
    session.rows(ENDLESS)
    session.rows("CREATE TABLE gone (n BIGINT) WITH ('connector' = 'blackhole')")
    insert = "INSERT INTO gone SELECT n FROM endless;"
    assert 'Encountered "<EOF>"' in session.error(f"EXECUTE STATEMENT SET BEGIN {insert}")
    session.rows(f"EXECUTE STATEMENT SET BEGIN {insert} {insert} END;")
    session.rows("BEGIN STATEMENT SET;")
    session.rows(insert)
    assert "takes INSERTs only" in session.error("SHOW TABLES")
    assert "nowhere" in session.error("INSERT INTO nowhere SELECT 1")
    session.rows("END;")
    assert len(gateway.dispatcher.jobs()) == 2
    assert "requires BEGIN STATEMENT SET" in session.error("END")


def test_a_session_is_configured_by_statements_that_start_no_job(session: Session) -> None:
    assert session.ask("POST", "/configure-session", {"statement": f"{ENDLESS};"}) == {}
    assert session.rows("SHOW TABLES") == [("INSERT", ["endless"])]
    refused = session.ask("POST", "/configure-session", {"statement": "SELECT 1"}, 500)
    assert "takes statements that start no job" in refused["errors"][1]


def test_words_are_completed(session: Session) -> None:
    session.rows(ENDLESS)
    body = {"statement": "SELECT n FROM end", "position": 17}
    found = {"candidates": ["endless", "end_frame", "end_partition"]}
    assert session.ask("GET", "/complete-statement", body) == found
    assert session.ask("POST", "/complete-statement", body) == found


def test_what_flinks_gateway_has_and_this_has_not(session: Session) -> None:
    periodic = {"isPeriodic": True, "scheduleTime": "2026-01-01 00:00:00"}
    for path, body in (
        (f"{session.path}/materialized-tables/t/refresh", periodic),
        ("/v3/workflow/embedded-scheduler/create", {}),
    ):
        refused = session.gateway.ask("POST", path, body, 500)
        assert "is not taken from a scheduler" in refused["errors"][1]
    limited = session.ask("POST", "/statements", {"statement": "SELECT 1", "executionTimeout": 5}, 500)
    assert "nor is it by Flink's gateway" in limited["errors"][1]


def test_versions_have_the_paths_that_flink_gives_them(gateway: Gateway) -> None:
    handle = gateway.ask("POST", "/v1/sessions", {})["sessionHandle"]
    path = f"/v1/sessions/{handle}"
    operation = gateway.ask("POST", f"{path}/statements", {"statement": "SHOW VIEWS"})["operationHandle"]
    place = f"{path}/operations/{operation}/result"
    page = gateway.ask("GET", f"{place}/0")
    while page["resultType"] == "NOT_READY":
        page = gateway.ask("GET", page["nextResultUri"])
    assert page["results"]["rowFormat"] == "JSON"
    gateway.ask("POST", f"{path}/configure-session", {"statement": "SHOW VIEWS"}, 404)
    gateway.ask("POST", f"/v3/sessions/{handle}/scripts", {"script": ""}, 404)
