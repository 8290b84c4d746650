"""Process table functions: sets of rows with state and timers, in SQL and in the Table API."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import FiresteelError, ProgramError, UnsupportedError
from firesteel.common.typeinfo import Types
from firesteel.common.types import Row
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.table import EnvironmentSettings, Schema, StreamTableEnvironment, TableEnvironment
from firesteel.table.expressions import col, descriptor, lit
from firesteel.table.process_tables import ArgumentTrait, ProcessTableFunction, udptf
from firesteel.testing import executing
from tests.queries.interrupted import Start, killed, rescaled
from tests.queries.tables import table_of
from tests.queries.together import started, tables

SET, ROW = ArgumentTrait.TABLE_AS_SET, ArgumentTrait.TABLE_AS_ROW
ON_TIME, PASS = ArgumentTrait.REQUIRE_ON_TIME, ArgumentTrait.PASS_COLUMNS_THROUGH
COUNT = {"seen": "ROW<times BIGINT>"}


class Greeting(ProcessTableFunction):
    """Greets each person, and counts."""

    def eval(self, ctx: Any, seen: Any, person: Any, word: str) -> Any:
        seen["times"] = (seen["times"] or 0) + 1
        yield f"{word} {person['name']} {seen['times']}"


class Later(ProcessTableFunction):
    """Answers five seconds after the last row of a set, and at each full ten seconds."""

    def eval(self, ctx: Any, last: Any, row: Any) -> Any:
        time = ctx.time_context()
        last["v"] = row["v"]
        time.register_on_time(time.time() + 5_000, "quiet")
        time.register_on_time(time.time() // 10_000 * 10_000 + 10_000)
        if row["v"] < 0:
            ctx.clear_all()

    def on_timer(self, ctx: Any, last: Any) -> Any:
        yield ctx.current_timer() or "ten", last["v"]


class Kept(ProcessTableFunction):
    """Keeps values in a list and counts them in a map."""

    def eval(self, ctx: Any, values: Any, counts: Any, row: Any) -> Any:
        values.add(row["v"])
        counts.put(row["v"], (counts.get(row["v"]) or 0) + 1)
        yield sum(values), max(count for _, count in counts.items())


class Both(ProcessTableFunction):
    """Brings the rows of two tables together by their key."""

    def eval(self, ctx: Any, last: Any, left: Any, right: Any) -> Any:
        side, row = ("left", left) if right is None else ("right", right)
        last[side] = row[1]
        if last["left"] is not None and last["right"] is not None:
            yield last["left"], last["right"]


class Tenfold(ProcessTableFunction):
    """Keeps nothing."""

    def eval(self, ctx: Any, row: Any) -> Any:
        return [row["v"] * 10] if row["v"] != 2 else None


greeting = udptf(Greeting(), {"person": SET, "word": "STRING"}, "STRING", COUNT, "greeting")
later = udptf(
    Later(), {"input": [SET, ON_TIME]}, "ROW<timer STRING, v BIGINT>", {"last": "ROW<v BIGINT>"}, "later"
)
kept = udptf(
    Kept(),
    {"input": [SET, ArgumentTrait.OPTIONAL_PARTITION_BY]},
    "ROW<total BIGINT, most BIGINT>",
    {"list": "ARRAY<BIGINT>", "map": "MAP<BIGINT, BIGINT>"},
    "kept",
)
tenfold = udptf(Tenfold(), {"input": [ROW, PASS]}, "BIGINT", name="tenfold")
paired = udptf(
    Both(),
    {"a": SET, "b": SET},
    "ROW<x BIGINT, y STRING>",
    {"last": "ROW<`left` BIGINT, `right` STRING>"},
    "paired",
)


def environment(directory: Path | None = None) -> TableEnvironment:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set_local_timezone("UTC")
    env.create_temporary_view("people", env.from_elements([("Bob",), ("Ann",), ("Bob",)], ["name"]))
    env.create_temporary_view(
        "pairs", env.from_elements([("a", 1), ("b", 2), ("a", 1), ("a", 3)], ["k", "v"])
    )
    env.create_temporary_view("words", env.from_elements([("a", "x"), ("c", "y")], ["k", "word"]))
    for function in (greeting, later, kept, tenfold, paired):
        env.create_temporary_function(function.signature.name, function)
    if directory is not None:
        lines = [
            (0, "a", 1),
            (3, "a", 2),
            (4, "a", 3),
            (12, "b", 4),
            (14, "b", 5),
            (27, "c", 6),
            (28, "c", -7),
        ]
        text = "".join(f"2020-01-01 00:00:{second:02},{key},{value}\n" for second, key, value in lines)
        (directory / "events.csv").write_text(text)
        env.execute_sql(
            "CREATE TABLE events (ts TIMESTAMP(3), k STRING, v BIGINT, WATERMARK FOR ts AS ts) "
            f"WITH ('connector' = 'filesystem', 'path' = '{directory}/events.csv', 'format' = 'csv')"
        )
    return env


def rows(env: TableEnvironment, query: str, parallelism: int = 2) -> list[tuple[Any, ...]]:
    with executing(parallelism=parallelism, epoch_records=2):
        return sorted(table_of(env, query).elements(), key=str)


@pytest.mark.parametrize("parallelism", [1, 3])
def test_a_set_has_its_own_state(parallelism: int) -> None:
    query = "SELECT * FROM greeting(person => TABLE people PARTITION BY name, word => 'hi')"
    wanted = [("Ann", "hi Ann 1"), ("Bob", "hi Bob 1"), ("Bob", "hi Bob 2")]
    assert rows(environment(), query, parallelism) == wanted


def test_a_call_of_the_table_api_is_that_of_sql() -> None:
    env = environment()
    query = env.sql_query("SELECT * FROM greeting(TABLE people PARTITION BY name, 'hi', DEFAULT, 'mine')")
    people = env.from_path("people").partition_by(col("name"))
    by_place = people.process(greeting, lit("hi"), lit("mine").as_argument("uid"))
    by_name = people.process("greeting", lit("hi").as_argument("word"), lit("mine").as_argument("uid"))
    plans = {
        found.explain().partition("== Optimized Physical Plan ==")[2] for found in (query, by_place, by_name)
    }
    assert len(plans) == 1


def test_a_table_without_keys_is_one_set_with_a_list_and_a_map() -> None:
    found = rows(environment(), "SELECT total, most FROM kept(TABLE pairs)")
    assert found[-1] == (7, 2)
    assert len(found) == 4
    by_key = rows(
        environment(), "SELECT k, MAX(total), MAX(most) FROM kept(TABLE pairs PARTITION BY k) GROUP BY k"
    )
    assert by_key == [("a", 5, 2), ("b", 2, 1)]


@pytest.mark.parametrize("parallelism", [2, 3])
def test_rows_come_in_their_order(parallelism: int) -> None:
    env = environment()
    values = [number * 31 % 100 for number in range(60)]
    env.create_temporary_view(
        "many", env.from_elements([(n % 3, v) for n, v in enumerate(values)], ["k", "v"])
    )
    wanted = [(k, sum(values[k : last + 1 : 3])) for k in range(3) for last in range(k, 60, 3)]
    found = rows(env, "SELECT k, total FROM kept(TABLE many PARTITION BY k)", parallelism)
    assert sorted(found) == sorted(wanted)


def test_rows_by_themselves_pass_their_columns_through() -> None:
    assert rows(environment(), "SELECT * FROM tenfold(TABLE pairs)") == [
        ("a", 1, 10),
        ("a", 1, 10),
        ("a", 3, 30),
    ]


def test_several_tables_have_one_state() -> None:
    found = rows(
        environment(),
        "SELECT * FROM paired(a => TABLE pairs PARTITION BY k, b => TABLE words PARTITION BY k)",
        3,
    )
    assert found[-1] in [("a", "a", 1, "x"), ("a", "a", 3, "x")]
    assert {row[0] for row in found} == {"a"}


TIMERS = [("a", "quiet", 3, "09"), ("a", "ten", 3, "10"), ("b", "quiet", 5, "19"), ("b", "ten", 5, "20")]
ON_TIMERS = (
    "SELECT k, timer, v, DATE_FORMAT(rowtime, 'ss') AS s FROM "
    "later(input => TABLE events PARTITION BY k, on_time => DESCRIPTOR(ts))"
)


@pytest.mark.parametrize("parallelism", [1, 3])
def test_timers_fire_with_and_without_names(tmp_path: Path, parallelism: int) -> None:
    assert rows(environment(tmp_path), ON_TIMERS, parallelism) == TIMERS


def test_the_time_of_the_result_is_an_event_time(tmp_path: Path) -> None:
    query = (
        "SELECT k, window_start, COUNT(*) FROM TUMBLE(TABLE timed, DESCRIPTOR(rowtime), INTERVAL '1' MINUTE) "
        "GROUP BY k, window_start, window_end"
    )
    env = environment(tmp_path)
    called = (
        env.from_path("events").partition_by(col("k")).process(later, descriptor("ts").as_argument("on_time"))
    )
    env.create_temporary_view("timed", called)
    assert [row[0] for row in rows(env, query)] == ["a", "b"]


COUNTED = [
    {"query": "SELECT k, MAX(total) AS total FROM kept(TABLE many PARTITION BY k) GROUP BY k"},
    {
        "query": "SELECT k, COUNT(*) AS n FROM later(input => TABLE many PARTITION BY k, on_time => DESCRIPTOR(ts)) "
        "WHERE timer = 'ten' GROUP BY k"
    },
]
"""Of many rows, a second after the other, the sum of each key, and in how many spans of ten seconds it is."""


def many() -> TableEnvironment:
    streams = StreamExecutionEnvironment.get_execution_environment()
    env = StreamTableEnvironment.create(streams)
    pair = Types.ROW_NAMED(["v", "k"], [Types.LONG(), Types.LONG()])
    given = streams.from_collection([Row(number, number % 7) for number in range(200)], pair)
    schema = Schema.new_builder().column("v", "BIGINT").column("k", "BIGINT")
    schema.column_by_expression("ts", "TO_TIMESTAMP_LTZ(v, 0)").watermark("ts", "ts")
    env.create_temporary_view("many", env.from_data_stream(given, schema.build()))
    for function in (kept, later):
        env.create_temporary_function(function.signature.name, function)
    return env


@pytest.mark.parametrize("interrupted", [killed, rescaled])
def test_state_and_timers_survive(
    tmp_path: Path, interrupted: Callable[[Path, Start], None], capfd: pytest.CaptureFixture[str]
) -> None:
    interrupted(tmp_path, lambda: started(many(), COUNTED))
    sums, spans = tables(many(), COUNTED, capfd.readouterr().out)
    keys = {k: range(k, 200, 7) for k in range(7)}
    assert sorted(map(tuple, sums)) == [(str(k), str(sum(values))) for k, values in keys.items()]
    wanted = [(str(k), str(len({value // 10 for value in values}))) for k, values in keys.items()]
    assert sorted(map(tuple, spans)) == wanted


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ("SELECT * FROM greeting(TABLE people, 'hi')", "requires PARTITION BY behind the table person"),
        ("SELECT * FROM greeting(TABLE people PARTITION BY name)", "WORD"),
        (
            "SELECT * FROM greeting(TABLE people PARTITION BY name, 1)",
            "requires a constant of STRING as word",
        ),
        ("SELECT * FROM later(TABLE pairs PARTITION BY k)", "requires on_time for the table input"),
        (
            "SELECT * FROM later(TABLE pairs PARTITION BY k, DESCRIPTOR(v))",
            "requires an event time as on_time",
        ),
        (
            "SELECT * FROM tenfold(TABLE pairs PARTITION BY k)",
            "has PARTITION BY or ORDER BY, which input cannot have",
        ),
        (
            "SELECT * FROM kept(TABLE pairs PARTITION BY k ORDER BY v)",
            "requires an event time as the first column of ORDER BY",
        ),
        ("SELECT kept(v) FROM pairs", "the process table function kept"),
    ],
)
def test_a_wrong_call_is_refused(query: str, part: str) -> None:
    with pytest.raises(ProgramError) as raised:
        environment().sql_query(query)
    assert part in str(raised.value)


def test_changes_and_batch_mode_are_refused() -> None:
    env = environment()
    query = "SELECT * FROM kept((SELECT k, SUM(v) AS v FROM pairs GROUP BY k))"
    with pytest.raises(FiresteelError, match="doesn't support consuming"):
        env.explain_sql(query)
    batch = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    table = batch.from_elements([("a", 1)], ["k", "v"])
    with pytest.raises(UnsupportedError, match="kept is not supported in BATCH mode, as in Flink"):
        table.process(kept).explain()


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda: udptf(len, {"t": SET}, "INT"), "extends ProcessTableFunction"),  # type: ignore[arg-type]
        (lambda: udptf(Kept(), {"n": "INT"}, "INT", COUNT), "requires SET_SEMANTIC_TABLE for state"),
        (lambda: udptf(Kept(), {"t": [SET, ROW]}, "INT"), "either ROW_SEMANTIC_TABLE or SET_SEMANTIC_TABLE"),
        (lambda: udptf(Kept(), {"t": ROW}, "INT", COUNT), "requires SET_SEMANTIC_TABLE for state"),
        (lambda: udptf(Kept(), {"t": SET}, "INT", {"n": "INT"}), "requires a ROW, an ARRAY or a MAP"),
        (lambda: udptf(Kept(), {"uid": SET}, "INT"), "another name for an argument"),
    ],
)
def test_what_is_no_process_table_function_is_refused(make: Any, part: str) -> None:
    with pytest.raises(ProgramError, match=part):
        make()
