"""What is wrong with a statement, or with its input, is said where it is, and nothing of the epoch is seen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from firesteel.common.errors import (
    ExpressionError,
    FiresteelError,
    SqlError,
    SqlUnsupportedError,
    UnsupportedError,
)
from firesteel.table import EnvironmentSettings, ExplainDetail, TableEnvironment
from firesteel.testing import executing

NUMBERS = """CREATE TABLE numbers (id BIGINT, word STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json'{options})"""


LAST_OF_WINDOWS = """WITH w AS (SELECT * FROM TABLE(TUMBLE(TABLE numbers, DESCRIPTOR(ts), INTERVAL '1' MINUTE))),
ranked AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, id ORDER BY ts DESC) AS n FROM w),
last_ones AS (SELECT id, ts, window_start, window_end FROM ranked WHERE n = 1)
SELECT w.id FROM w JOIN last_ones FOR SYSTEM_TIME AS OF w.ts AS l
ON w.id = l.id AND w.window_start = l.window_start AND w.window_end = l.window_end"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    into = tmp_path / "in"
    into.mkdir()
    return into


def environment(path: Path, options: str = "") -> TableEnvironment:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.execute_sql(NUMBERS.format(path=path, options=options))
    return env


def write(path: Path, *words: str) -> None:
    rows = [
        {"id": place, "word": word, "ts": f"2026-01-01 00:00:{place:02}"} for place, word in enumerate(words)
    ]
    (path / "rows.json").write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("SELECT id,\n  wrod FROM numbers", ["line 2, column 3", "wrod", "word"]),
        ("SELECT id + word FROM numbers", ["line 1", "id + word"]),
        ("SELECT nosuch(id) FROM numbers", ["line 1, column 8", "nosuch"]),
        ("SELECT word, COUNT(*) FROM numbers", ["word", "GROUP BY"]),
        ("SELECT * FROM numbres", ["line 1, column 15", "numbers"]),
        (
            "CREATE TABLE numbers (a INT) WITH ('connector' = 'print')",
            ["line 1, column 14", "no other table"],
        ),
        (
            "CREATE TABLE t (a STRING, WATERMARK FOR a AS a) WITH ('connector' = 'print')",
            ["TIMESTAMP", "STRING"],
        ),
        ("CREATE TABLE t (a STRING, a INT) WITH ('connector' = 'print')", ["line 1", "a"]),
        (
            "SELECT * FROM TABLE(TUMBLE(TABLE numbers, DESCRIPTOR(id), INTERVAL '1' SECOND))",
            ["id", "time attribute"],
        ),
        (
            LAST_OF_WINDOWS,
            ["line 3, column 73", "WindowDeduplicate as the versioned table is not supported yet"],
        ),
    ],
)
def test_a_wrong_statement_is_refused_at_its_place(path: Path, statement: str, said: list[str]) -> None:
    env = environment(path)
    with pytest.raises(FiresteelError) as raised:
        env.execute_sql(statement)
    shown = str(raised.value)
    assert all(part in shown for part in said), shown


def test_updates_are_refused_by_a_sink_that_only_appends(path: Path) -> None:
    env = environment(path)
    env.execute_sql(
        f"CREATE TABLE written (word STRING, n BIGINT) WITH ('connector' = 'filesystem', 'path' = '{path}-out', "
        "'format' = 'json')"
    )
    with pytest.raises(FiresteelError, match="doesn't support consuming update changes"):
        env.execute_sql("INSERT INTO written SELECT word, COUNT(*) FROM numbers GROUP BY word")


@pytest.mark.parametrize("form", ["debezium-json", "canal-json", "maxwell-json"])
@pytest.mark.parametrize(
    "query", ["SELECT word, id FROM numbers", "SELECT word, COUNT(*) FROM numbers GROUP BY word"]
)
def test_a_sink_that_takes_old_rows_has_no_conflicts(path: Path, form: str, query: str) -> None:
    env = environment(path)
    env.execute_sql(
        "CREATE TABLE written (word STRING, n BIGINT, PRIMARY KEY (word) NOT ENFORCED) WITH ("
        f"'connector' = 'filesystem', 'path' = '{path}-out', 'format' = '{form}')"
    )
    with pytest.raises(FiresteelError, match=r"ON CONFLICT .* only allowed for upsert sinks.*retract mode"):
        env.execute_sql(f"INSERT INTO written {query} ON CONFLICT DO DEDUPLICATE")
    assert "upsertMaterialize" not in env.explain_sql(f"INSERT INTO written {query}")


def test_an_order_within_a_query_says_nothing(path: Path) -> None:
    env = environment(path)
    for query in (
        "SELECT id FROM (SELECT id, word FROM numbers ORDER BY word DESC, id + 1)",
        "WITH sorted AS (SELECT id FROM numbers ORDER BY id) SELECT id FROM sorted",
        "(SELECT id FROM numbers ORDER BY id) UNION ALL SELECT id FROM numbers",
    ):
        assert "Sort" not in env.explain_sql(query)
    assert "SortLimit" in env.explain_sql("SELECT id FROM (SELECT id FROM numbers ORDER BY word LIMIT 1)")
    env.execute_sql("CREATE VIEW sorted AS (SELECT id FROM numbers ORDER BY id)")
    with pytest.raises(FiresteelError, match=r"view .*sorted.*Sort on a non-time-attribute field"):
        env.explain_sql("SELECT id FROM sorted")


def test_a_time_to_live_of_rows_and_of_different_values_is_refused(path: Path) -> None:
    env = environment(path)
    env.get_config().set("table.exec.state.ttl", "1 h")
    counted = "SELECT COUNT({}) OVER (PARTITION BY word ORDER BY ts{}) FROM numbers"
    with pytest.raises(UnsupportedError, match=r"table\.exec\.state\.ttl"):
        env.explain_sql(counted.format("DISTINCT id", ""))
    assert "OverAggregate" in env.explain_sql(
        "SELECT LAG(id) OVER (PARTITION BY word ORDER BY ts) FROM numbers"
    )
    with pytest.raises(UnsupportedError, match=r"table\.exec\.state\.ttl"):
        env.explain_sql("SELECT SUM(id) OVER (PARTITION BY word ORDER BY id) FROM numbers")
    for frame in (
        "",
        " ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
        " RANGE BETWEEN INTERVAL '1' MINUTE PRECEDING AND CURRENT ROW",
    ):
        assert "OverAggregate" in env.explain_sql(counted.format("*", frame))


def test_a_damaged_line_is_reported_or_left_out(path: Path) -> None:
    write(path, "a", "b")
    with (path / "rows.json").open("a") as file:
        file.write('{"id": 2, "word": \n')
    with executing(parallelism=1):
        with (
            pytest.raises(FiresteelError) as raised,
            environment(path).execute_sql("SELECT id FROM numbers").collect() as rows,
        ):
            list(rows)
        assert "rows.json" in str(raised.value)
        assert '{"id": 2, "word":' in str(raised.value)
        lenient = environment(path, ", 'json.ignore-parse-errors' = 'true'")
        with lenient.execute_sql("SELECT id FROM numbers").collect() as rows:
            assert sorted(row[0] for row in rows) == [0, 1]


def test_a_cast_that_fails_names_expression_and_row_and_hides_its_epoch(path: Path) -> None:
    write(path, *map(str, range(20)), "seven", "21")
    out = path.with_name("out")
    with executing(parallelism=1):
        env = environment(path)
        env.execute_sql(
            f"CREATE TABLE written (n INT) WITH ('connector' = 'filesystem', 'path' = '{out}', 'format' = 'json')"
        )
        with pytest.raises(ExpressionError) as raised:
            env.execute_sql("INSERT INTO written\nSELECT CAST(word AS INT) FROM numbers").wait()
    shown = str(raised.value)
    assert " cannot compute CAST(word AS INT) of INSERT statement (line 2, column 8): " in shown
    assert shown.split("\n")[1:3] == [
        "    SELECT CAST(word AS INT) FROM numbers",
        "           ^^^^^^^^^^^^^^^^^",
    ]
    assert "CAST(word AS INT" in shown
    assert "seven" in shown
    assert [
        found for found in out.rglob("*") if found.is_file() and not found.name.startswith((".", "_"))
    ] == []


PLACES = """CREATE TABLE places (id BIGINT, word STRING, data BYTES, r ROW<x INT>, plain TIMESTAMP(3),
  ts TIMESTAMP(3), now AS PROCTIME(), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen')"""
APPENDING = """CREATE TABLE appending (word STRING, n BIGINT)
  WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'json')"""
KEYED = """CREATE TABLE keyed (word STRING, n BIGINT, PRIMARY KEY (n) NOT ENFORCED)
  WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:/nowhere', 'table-name' = 'keyed')"""
ADDRESS = "PRINTF('%s', ARRAY[id])"
"""What no translation has: in Java it is a place in memory."""

ODD = f"CREATE TABLE odd (id BIGINT, text AS {ADDRESS}) WITH ('connector' = 'datagen')"
MISTAKEN = "CREATE TABLE mistaken (id BIGINT) WITH ('connector' = 'datagen', 'no-such' = '1')"

DAYS = "TABLE(TUMBLE(TABLE places, DESCRIPTOR(ts), INTERVAL '1' DAY))"
NOW = "TABLE(TUMBLE(TABLE places, DESCRIPTOR(now), INTERVAL '1' DAY))"
LAST = """SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts DESC) AS n FROM places)
WHERE n = 1"""
BOUNDS = "window_start, window_end"
JOINED = "SELECT a.id, a.ts FROM places AS a JOIN places AS b ON a.id = b.id"
NUMBERED = f"SELECT *, ROW_NUMBER() OVER (PARTITION BY {BOUNDS} ORDER BY id) AS n"

REFUSED = [
    # statement, its refused part, what is said about it
    ("SELECT id,\n  word FROM places\nORDER BY id", "ORDER BY id", "Sort on a non-time-attribute field"),
    ("SELECT id FROM places WHERE id > 1 ORDER BY word DESC", "ORDER BY word DESC", "Sort on a non-time-attribute"),
    (
        "SELECT id FROM (\nSELECT id, ROW_NUMBER() OVER (ORDER BY id DESC) AS n FROM places)\nWHERE n > 3",
        "n > 3",
        "Top-N and deduplication of ROW_NUMBER is not supported yet in STREAMING mode",
    ),
    (
        "SELECT id FROM (\nSELECT id, RANK() OVER (ORDER BY ts) AS n FROM places) WHERE id > 1 AND id > n",
        "id > n",
        "Top-N and deduplication of RANK is not supported",
    ),
    (
        f"SELECT id FROM ({NUMBERED}\nFROM {NOW}) WHERE n < 3",
        "n < 3",
        "Window Top-N and deduplication of processing time is not supported in STREAMING mode",
    ),
    (
        f"SELECT x.id FROM {NOW} AS x\n"
        + (
            join := f"JOIN {NOW} AS y "
            "ON x.window_start = y.window_start AND x.window_end = y.window_end"
        ),
        join,
        "Window join of processing time is not supported in STREAMING mode",
    ),
    (
        "SELECT x.ts FROM places AS x\n"
        + (join := "JOIN places AS y ON x.now BETWEEN y.now - INTERVAL '1' DAY AND y.now"),
        join,
        "with proctime attribute requires no event-time attributes",
    ),
    (
        f"SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE ({JOINED}), DESCRIPTOR(ts), INTERVAL '1' DAY))\nGROUP BY {BOUNDS}",
        f"GROUP BY {BOUNDS}",
        "The window function requires the timecol is a time attribute type",
    ),
    (
        f"SELECT id FROM ({JOINED})\nORDER BY ts",
        "ORDER BY ts",
        "Sort on a non-time-attribute field is not supported in STREAMING mode",
    ),
    (
        f"SELECT x.id FROM places AS x JOIN ({LAST}) AS y ON x.ts BETWEEN y.ts - INTERVAL '1' DAY AND y.ts",
        "n = 1",
        "IntervalJoin doesn't support consuming update and delete changes",
    ),
    (
        "SELECT id + SUM(id) OVER (ORDER BY now DESC)\nFROM places",
        "SUM(id) OVER (ORDER BY now DESC)",
        "ASCENDING",
    ),
    ("SELECT id, LEAD(id) OVER (ORDER BY now) FROM places", "LEAD(id) OVER (ORDER BY now)", "not supported in streams"),
    ("SELECT id, SUM(id) OVER (ORDER BY now, id) FROM places", "SUM(id) OVER (ORDER BY now, id)", "single time"),
    (
        "SELECT SUM(n) OVER (ORDER BY p) FROM (SELECT n, PROCTIME() AS p FROM (\n"
        + (grouped := "SELECT COUNT(*) AS n FROM places GROUP BY word")
        + "))",
        "GROUP BY word",
        "OverAggregate doesn't support consuming update changes",
    ),
    (
        "SELECT COUNT(*) FROM\n TABLE(TUMBLE(TABLE places, DESCRIPTOR(plain), INTERVAL '1' DAY))",
        "TUMBLE(TABLE places, DESCRIPTOR(plain), INTERVAL '1' DAY)",
        "requires the timecol is a time attribute",
    ),
    ("SELECT COUNT(*) FROM places GROUP BY word,\n TUMBLE(ts, 5)", "TUMBLE(ts, 5)", "requires processing time"),
    (f"SELECT word FROM places WHERE id > 1 AND {ADDRESS} > 'a'", ADDRESS, "in PRINTF"),
    (f"SELECT x FROM (SELECT word || {ADDRESS} AS x FROM places) AS y", ADDRESS, "in PRINTF"),
    (f"SELECT COUNT(*) FROM places GROUP BY word || {ADDRESS}", ADDRESS, "in PRINTF"),
    ("INSERT INTO appending\nSELECT word, COUNT(*) FROM places GROUP BY word", "GROUP BY word", "update changes"),
    ("INSERT INTO appending\nSELECT word, COUNT(*) AS n FROM places GROUP BY word HAVING COUNT(*) < 5",
     "GROUP BY word", "doesn't support consuming update changes"),
    ("INSERT INTO keyed SELECT word, COUNT(*) FROM places GROUP BY word", "keyed", "differs from the upsert key"),
    ("SELECT COUNT(*)\n OVER (ORDER BY r) FROM places", "COUNT(*)\n OVER (ORDER BY r)", "cannot sort by values"),
    ("SELECT * FROM mistaken", "mistaken", "'no-such'"),
    ("INSERT OVERWRITE appending SELECT word, id FROM places", "appending", "not supported in STREAMING mode"),
    ("INSERT INTO mistaken\nSELECT id FROM places", "mistaken", "is a source"),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "part", "said"), REFUSED)
def test_what_the_planner_refuses_is_pointed_at(statement: str, part: str, said: str) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for table in (PLACES, APPENDING, KEYED, MISTAKEN):
        env.execute_sql(table)
    with pytest.raises(SqlError) as raised:
        env.explain_sql(statement, ExplainDetail.JSON_EXECUTION_PLAN)
    line, caret = raised.value.pointed.split("\n")
    assert line[caret.index("^") :][: caret.count("^")] == part.split("\n")[0]
    assert line == statement.split("\n")[raised.value.line - 1]
    assert raised.value.column == caret.index("^") + 1
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("statement", "part", "said"),
    [
        ("SELECT r, id FROM places ORDER BY id, r", "ORDER BY id, r", "cannot sort by values of this type"),
        (
            "SELECT * FROM TABLE(SESSION(TABLE places, DESCRIPTOR(ts), INTERVAL '1' DAY))",
            "SESSION(TABLE places, DESCRIPTOR(ts), INTERVAL '1' DAY)",
            "not supported in BATCH mode, as in Flink",
        ),
        (
            "INSERT OVERWRITE keyed SELECT word, id FROM places",
            "keyed",
            "requires a table that can be overwritten",
        ),
    ],
)
def test_what_the_planner_refuses_in_batch_mode_is_pointed_at(statement: str, part: str, said: str) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.execute_sql(PLACES)
    env.execute_sql(KEYED)
    with pytest.raises(SqlUnsupportedError, match=said) as raised:
        env.explain_sql(statement)
    line, caret = raised.value.pointed.split("\n")
    assert line[caret.index("^") :][: caret.count("^")] == part


def test_a_refused_part_of_a_view_or_a_computed_column_is_pointed_at_in_their_own_text() -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.execute_sql(PLACES)
    env.execute_sql(f"CREATE VIEW odd_view AS\n  SELECT {ADDRESS} AS text FROM places")
    env.execute_sql(ODD)
    with pytest.raises(SqlUnsupportedError, match=r"^view .*odd_view` \(line 2, column 10\)"):
        env.explain_sql("SELECT * FROM odd_view", ExplainDetail.JSON_EXECUTION_PLAN)
    with pytest.raises(SqlUnsupportedError, match=r"^CREATE TABLE statement \(line 1, column 38\)"):
        env.explain_sql("SELECT text FROM odd", ExplainDetail.JSON_EXECUTION_PLAN)


def test_plans_are_equal_wherever_they_are_written() -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.execute_sql(PLACES)
    env.execute_sql("CREATE TABLE single (word STRING, n BIGINT) WITH ('connector' = 'print')")
    both = env.create_statement_set()
    both.add_insert_sql("INSERT INTO single SELECT word, COUNT(*) FROM places GROUP BY word")
    both.add_insert_sql("INSERT INTO single\n SELECT word,\n COUNT(*)\n FROM places GROUP BY word")
    assert both.explain().split("== Optimized Execution Plan ==")[1].count("TableSourceScan") == 1


@pytest.mark.parametrize("order", ["ts", "now"])
def test_first_rows_by_time_can_be_appended_and_last_ones_cannot(order: str) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.execute_sql(PLACES)
    env.execute_sql(APPENDING)
    ranked = f"SELECT word, id, ROW_NUMBER() OVER (PARTITION BY word ORDER BY {order} {{}}) AS n FROM places"
    insert = f"INSERT INTO appending SELECT word, id FROM ({ranked}) WHERE n {{}}"
    assert "Deduplicate(keep=[FirstRow]" in env.explain_sql(insert.format("", "= 1"))
    for direction, bound in (("DESC", "= 1"), ("", "<= 2")):
        with pytest.raises(SqlError, match="doesn't support consuming update and delete changes"):
            env.explain_sql(insert.format(direction, bound))
