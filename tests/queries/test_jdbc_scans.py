"""Queries of tables of databases: alone, joined with streams and with each other, and what plans say of them."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing
from tests.queries.tables import table_of

SCAN = re.compile(r"TableSourceScan\(table=\[\[default_catalog, default_database, (.*)\]\], fields=")
WAYS: dict[str, dict[str, Any]] = {
    "one epoch": {"parallelism": 1},
    "many epochs": {"parallelism": 2, "epoch_records": 7},
    "wider": {"parallelism": 3, "epoch_records": 13},
    "batch": {"parallelism": 2},
}
ROWS = 100
PARTITIONS = (
    "'scan.partition.column' = 'k', 'scan.partition.num' = '6', "
    "'scan.partition.lower-bound' = '0', 'scan.partition.upper-bound' = '99'"
)


def session(directory: Path, *, batch: bool = False) -> TableEnvironment:
    """Return a session with a table of a hundred rows, whole (`t`) and in partitions (`p`), and clicks in a file."""
    file = directory / "shop.db"
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE t (k INTEGER, g TEXT, m TEXT)")
        database.executemany(
            "INSERT INTO t VALUES (?, ?, ?)",
            [(key, "abcd"[key % 4], f"2026-01-01 00:{key // 60:02}:{key % 60:02}") for key in range(ROWS)],
        )
        database.execute("CREATE TABLE copied (k INTEGER PRIMARY KEY, n INTEGER)")
    (directory / "in").mkdir()
    clicks = ({"who": who % 30, "at": f"2026-01-01 00:00:{who:02}"} for who in range(50))
    (directory / "in" / "clicks.json").write_text("".join(json.dumps(click) + "\n" for click in clicks))
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    env = TableEnvironment.create(settings)
    options = f"'connector' = 'jdbc', 'url' = 'jdbc:sqlite:{file}', 'table-name' = 't'"
    columns = "k INT, g STRING, m TIMESTAMP(3)"
    env.execute_sql(f"CREATE TABLE t ({columns}) WITH ({options})")
    env.execute_sql(f"CREATE TABLE p ({columns}) WITH ({options}, {PARTITIONS})")
    env.execute_sql(
        f"CREATE TABLE timed ({columns}, WATERMARK FOR m AS m, PRIMARY KEY (k) NOT ENFORCED) "
        f"WITH ({options}, {PARTITIONS})"
    )
    env.execute_sql(
        "CREATE TABLE copied (k INT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) "
        f"WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:{file}', 'table-name' = 'copied')"
    )
    env.execute_sql(
        "CREATE TABLE clicks (who INT, `at` TIMESTAMP(3), WATERMARK FOR `at` AS `at`) "
        f"WITH ('connector' = 'filesystem', 'path' = '{directory / 'in'}', 'format' = 'json')"
    )
    return env


EVERY = range(ROWS)
QUERIES: dict[str, tuple[str, Counter[tuple[Any, ...]]]] = {
    "all": ("SELECT k, g FROM p", Counter((key, "abcd"[key % 4]) for key in EVERY)),
    "some": ("SELECT k FROM t WHERE g = 'b' AND k > 90", Counter([(93,), (97,)])),
    "grouped": (
        "SELECT g, COUNT(*), SUM(k) FROM p GROUP BY g",
        Counter((name, 25, sum(EVERY[place::4])) for place, name in enumerate("abcd")),
    ),
    "counted": ("SELECT COUNT(*) FROM p", Counter([(100,)])),
    "joined with a stream": (
        "SELECT c.who, COUNT(*) FROM clicks AS c JOIN p ON c.who = p.k WHERE p.g = 'a' GROUP BY c.who",
        Counter((who, 2 if who < 20 else 1) for who in range(0, 30, 4)),
    ),
    "joined with itself": (
        "SELECT COUNT(*) FROM t JOIN p ON t.k = p.k + 50",
        Counter([(50,)]),
    ),
    "as versions": (
        (
            "SELECT c.who, v.g FROM clicks AS c JOIN timed FOR SYSTEM_TIME AS OF c.`at` AS v ON c.who = v.k "
            "WHERE c.who < 3"
        ),
        Counter({(0, "a"): 2, (1, "b"): 2, (2, "c"): 2}),
    ),
    "in windows": (
        (
            "SELECT window_start IS NULL, COUNT(*) FROM TABLE(TUMBLE(TABLE timed, DESCRIPTOR(m), "
            "INTERVAL '1' MINUTE)) GROUP BY window_start, window_end"
        ),
        Counter([(False, 60), (False, 40)]),
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", QUERIES)
def test_answers(tmp_path: Path, name: str, way: str) -> None:
    query, expected = QUERIES[name]
    if name == "as versions" and way == "batch":
        pytest.skip("BATCH has no temporal joins in event time")
    env = session(tmp_path, batch=way == "batch")
    with executing(**WAYS[way]):
        assert table_of(env, query) == expected


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_partitions_are_read_on_spark(tmp_path: Path) -> None:
    query, expected = QUERIES["joined with a stream"]
    env = session(tmp_path)
    with executing("spark", parallelism=2, epoch_records=20):
        assert table_of(env, query) == expected


PLANS = [
    (
        "SELECT k FROM t WHERE g LIKE 'a%' AND k > 7",
        "t, filter=[and(LIKE(g, 'a%'), >(k, 7))], project=[k, g]",
    ),
    ("SELECT k FROM t WHERE g NOT LIKE 'a%'", "t, project=[k, g]"),
    ("SELECT k FROM t WHERE g LIKE 'a!%' ESCAPE '!'", "t, project=[k, g]"),
    ("SELECT k FROM t WHERE g IN ('a', 'b')", "t, filter=[IN(g, 'a', 'b')], project=[k, g]"),
    ("SELECT g FROM t", "t, project=[g]"),
    ("SELECT k FROM p WHERE k BETWEEN 3 AND 5", "p, filter=[and(>=(k, 3), <=(k, 5))], project=[k]"),
    (
        "SELECT k FROM t WHERE NOT (k > 3 OR g IS NULL)",
        "t, filter=[NOT(OR(>(k, 3), IS NULL(g)))], project=[k, g]",
    ),
    (
        "SELECT k FROM t WHERE m >= TIMESTAMP '2026-01-01 00:01:00' AND MOD(k, 2) = 0",
        "t, filter=[>=(m, 2026-01-01 00:01:00)], project=[k, m]",
    ),
    ("SELECT k FROM t WHERE MOD(k, 2) = 0", "t, project=[k]"),
]


@pytest.mark.parametrize("batch", [False, True], ids=["streaming", "batch"])
@pytest.mark.parametrize(("query", "scan"), PLANS)
def test_plans_show_what_the_database_is_asked(tmp_path: Path, query: str, scan: str, batch: bool) -> None:
    assert {*SCAN.findall(session(tmp_path, batch=batch).explain_sql(query))} == {scan}


def test_a_limit_is_given_to_the_database_in_batch_mode(tmp_path: Path) -> None:
    env = session(tmp_path, batch=True)
    query = "SELECT k FROM t LIMIT 7"
    assert {*SCAN.findall(env.explain_sql(query))} == {"t, project=[k], limit=[7]"}
    with executing(parallelism=2):
        assert sum(table_of(env, query).values()) == 7


def test_conditions_stay_above_a_watermark(tmp_path: Path) -> None:
    query = "SELECT k FROM timed WHERE k > 3"
    assert {*SCAN.findall(session(tmp_path).explain_sql(query))} == {"timed, project=[k, m]"}


def test_a_table_is_written_into_another_one_of_its_database(tmp_path: Path) -> None:
    env = session(tmp_path)
    with executing(parallelism=2, state_dir=str(tmp_path / "state")):
        env.execute_sql("INSERT INTO copied SELECT k, COUNT(*) FROM p GROUP BY k").wait()
        env.execute_sql("INSERT INTO copied SELECT k + 100, SUM(n + 1) FROM copied GROUP BY k + 100").wait()
    with sqlite3.connect(tmp_path / "shop.db") as database:
        found = database.execute("SELECT COUNT(*), SUM(k), SUM(n) FROM copied").fetchone()
    assert found == (200, sum(range(200)), 300)


def test_databases_know_how_many_rows_a_join_has(tmp_path: Path) -> None:
    env = session(tmp_path, batch=True)
    env.get_config().set("table.optimizer.join-reorder-enabled", "true")
    with sqlite3.connect(tmp_path / "shop.db") as database:
        database.execute("CREATE TABLE few (k INTEGER)")
        database.executemany("INSERT INTO few VALUES (?)", [(5,), (7,)])
    env.execute_sql(
        "CREATE TABLE few (k INT) "
        f"WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:{tmp_path / 'shop.db'}', 'table-name' = 'few')"
    )
    query = "SELECT t.k FROM t JOIN p ON t.k = p.k JOIN few ON p.k = few.k"
    plan = env.explain_sql(query).split("== Optimized Physical Plan ==")[1]
    assert plan.index("few") < plan.rindex("default_database, p,") or "single" in plan
    with executing(parallelism=2):
        assert table_of(env, query) == Counter([(5,), (7,)])
