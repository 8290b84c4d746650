"""What is wrong with a statement, or with its input, is said where it is, and nothing of the epoch is seen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from firesteel.common.errors import FiresteelError, UnsupportedError
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing

NUMBERS = """CREATE TABLE numbers (id BIGINT, word STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json'{options})"""


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


def test_a_time_to_live_of_what_keeps_rows_is_refused(path: Path) -> None:
    env = environment(path)
    env.get_config().set("table.exec.state.ttl", "1 h")
    counted = "SELECT COUNT(*) OVER (PARTITION BY word ORDER BY ts{}) FROM numbers"
    with pytest.raises(UnsupportedError, match=r"table\.exec\.state\.ttl"):
        env.explain_sql(counted.format(" ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"))
    with pytest.raises(UnsupportedError, match="LAG"):
        env.explain_sql("SELECT LAG(id) OVER (PARTITION BY word ORDER BY ts) FROM numbers")
    for frame in ("", " RANGE BETWEEN INTERVAL '1' MINUTE PRECEDING AND CURRENT ROW"):
        assert "OverAggregate" in env.explain_sql(counted.format(frame))


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
        with pytest.raises(FiresteelError) as raised:
            env.execute_sql("INSERT INTO written SELECT CAST(word AS INT) FROM numbers").wait()
    shown = str(raised.value)
    assert "CAST(word AS INT" in shown
    assert "seven" in shown
    assert [
        found for found in out.rglob("*") if found.is_file() and not found.name.startswith((".", "_"))
    ] == []
