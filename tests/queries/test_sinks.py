"""INSERT into tables whose primary key, NOT NULL columns or parallelism are not those of the query."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from firesteel.common.errors import ConstraintError, FiresteelError, ProgramError
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing

ROWS = [
    {"k": number * 7 % 5, "v": number % 3, "at": f"2024-01-01 00:00:{number % 60:02}"} for number in range(90)
]
COUNTS = {key: sum(row["k"] == key for row in ROWS) for key in range(5)}
WAYS = [{"parallelism": 1}, {"parallelism": 2, "epoch_records": 11}, {"parallelism": 3, "epoch_records": 40}]


class Shop:
    """A session with a file of rows and a database."""

    def __init__(self, path: Path, **options: str) -> None:
        self.environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        for key, value in options.items():
            self.environment.get_config().set(f"table.exec.sink.{key.replace('_', '-')}", value)
        (path / "rows.json").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
        self.database = path / "shop.db"
        self.environment.execute_sql(
            "CREATE TABLE s (k INT, v INT, `at` TIMESTAMP(3), WATERMARK FOR `at` AS `at` - INTERVAL '1' SECOND) WITH "
            f"('connector' = 'filesystem', 'path' = '{path / 'rows.json'}', 'format' = 'json')"
        )

    def table(self, columns: str, key: str | None, more: str = "") -> None:
        with sqlite3.connect(self.database) as database:
            database.execute(f"CREATE TABLE t ({columns}{f', PRIMARY KEY ({key})' if key else ''})")
        declared = f", PRIMARY KEY ({key}) NOT ENFORCED" if key else ""
        self.environment.execute_sql(
            f"CREATE TABLE t ({columns}{declared}) WITH ('connector' = 'jdbc', 'table-name' = 't', "
            f"'url' = 'jdbc:sqlite:{self.database}'{more})"
        )

    def insert(self, query: str) -> list[tuple[object, ...]]:
        self.environment.execute_sql(f"INSERT INTO t {query}").wait()
        with sqlite3.connect(self.database) as database:
            return sorted(database.execute("SELECT * FROM t"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_of_rows_with_one_key_the_last_is_there_and_others_come_back(path: Path, way: dict[str, int]) -> None:
    with executing(state_dir=str(path / "state"), **way):  # type: ignore[arg-type]
        shop = Shop(path)
        shop.table("n BIGINT, k INT", "n")
        found = shop.insert(
            "SELECT n, k FROM (SELECT k, COUNT(*) AS n FROM s GROUP BY k) ON CONFLICT DO DEDUPLICATE"
        )
    assert {n for n, _ in found} == set(COUNTS.values())
    assert all(COUNTS[k] == n for n, k in found)  # type: ignore[index]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_one_row_of_each_key_stays_with_nothing(path: Path, way: dict[str, int]) -> None:
    with executing(state_dir=str(path / "state"), **way):  # type: ignore[arg-type]
        shop = Shop(path)
        shop.table("v INT, k INT", "v")
        found = shop.insert("SELECT v, k FROM s ON CONFLICT DO NOTHING")
    assert [v for v, _ in found] == [0, 1, 2]


def test_several_rows_of_a_key_are_an_error(path: Path) -> None:
    with executing(state_dir=str(path / "state"), parallelism=2):
        shop = Shop(path)
        shop.table("v INT, k INT", "v")
        with pytest.raises(ConstraintError, match="several rows with the key"):
            shop.insert("SELECT v, k FROM s ON CONFLICT DO ERROR")
        assert shop.insert("SELECT v, k FROM s WHERE FALSE ON CONFLICT DO ERROR") == []


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT v, k FROM s", r"has the primary key \[v\], which differs from the upsert key of the query"),
        (
            "SELECT CAST(n AS INT), k FROM (SELECT k, COUNT(*) AS n FROM s GROUP BY k)",
            "ON CONFLICT DO DEDUPLICATE",
        ),
    ],
)
def test_without_on_conflict_the_statement_is_refused_as_in_flink(
    path: Path, query: str, message: str
) -> None:
    shop = Shop(path)
    shop.table("v INT, k INT", "v")
    with pytest.raises(ProgramError, match=message):
        shop.insert(query)


def test_the_session_can_do_without_on_conflict(path: Path) -> None:
    with executing(state_dir=str(path / "state"), parallelism=2):
        shop = Shop(path, require_on_conflict="false")
        shop.table("v INT, k INT", "v")
        assert [v for v, _ in shop.insert("SELECT v, k FROM s")] == [0, 1, 2]


def test_null_is_an_error_or_left_out(path: Path) -> None:
    with executing(state_dir=str(path / "state"), parallelism=1):
        shop = Shop(path)
        shop.table("k INT NOT NULL, v INT", None)
        with pytest.raises(ConstraintError, match="'k', which is NOT NULL"):
            shop.insert("SELECT NULLIF(k, 3), v FROM s")
        shop.environment.get_config().set("table.exec.sink.not-null-enforcer", "DROP")
        assert len(shop.insert("SELECT NULLIF(k, 3), v FROM s")) == len(ROWS) - COUNTS[3]


def test_a_sink_has_its_own_parallelism(path: Path) -> None:
    with executing(state_dir=str(path / "state"), parallelism=1):
        shop = Shop(path)
        shop.table(
            "k INT, n BIGINT", "k", ", 'sink.parallelism' = '3', 'sink.buffer-flush.interval' = '1 ms'"
        )
        assert shop.insert("SELECT k, COUNT(*) FROM s GROUP BY k") == sorted(COUNTS.items())


def test_updates_without_a_key_keep_the_parallelism_of_the_query(path: Path) -> None:
    environment = Shop(path).environment
    environment.execute_sql(
        "CREATE TABLE p (k INT, n BIGINT) WITH ('connector' = 'print', 'sink.parallelism' = '3')"
    )
    with pytest.raises(ProgramError, match="requires a primary key for its parallelism of 3"):
        environment.execute_sql("INSERT INTO p SELECT k, COUNT(*) FROM s GROUP BY k")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("not-null-enforcer", "NO"),
        ("type-length-enforcer", "TRIM"),
        ("upsert-materialize", "x"),
        ("nested-constraint-enforcer", "ROWS"),
        ("require-on-conflict", "perhaps"),
    ],
)
def test_options_that_mean_nothing_are_refused_by_name(path: Path, option: str, value: str) -> None:
    shop = Shop(path, **{option: value})
    with pytest.raises(FiresteelError, match=option):
        shop.environment.execute_sql("SELECT k FROM s")
