"""Queries with lookup joins: in epochs, side by side, in BATCH mode, and killed; hints; and what is refused."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import FiresteelError
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing
from tests.connectors import looked_up
from tests.queries.tables import folded

PEOPLE = "(k INT, s STRING)"
FUNCTION = "'connector' = 'python', 'function' = 'tests.connectors.looked_up.{0}'"
WAYS: dict[str, dict[str, Any]] = {
    "one epoch": {"parallelism": 1},
    "many epochs": {"parallelism": 2, "epoch_records": 7},
    "wider": {"parallelism": 3, "epoch_records": 13},
    "batch": {"parallelism": 2},
}
ROWS = [{"a": key % 4, "b": key} for key in range(40)] + [{"a": None, "b": 40}]


def session(directory: Path, *, batch: bool = False) -> TableEnvironment:
    (directory / "in").mkdir(exist_ok=True)
    (directory / "in" / "rows.json").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (directory / "people").mkdir(exist_ok=True)
    (directory / "people" / "rows.csv").write_text("1,ann\n2,bob\n2,eve\n")
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    env = TableEnvironment.create(settings)
    env.execute_sql(
        "CREATE TABLE t (a INT, b INT, p AS PROCTIME(), ts AS TIMESTAMP '2026-01-01 00:00:00', "
        "WATERMARK FOR ts AS ts) "
        f"WITH ('connector' = 'filesystem', 'path' = '{directory / 'in'}', 'format' = 'json')"
    )
    env.execute_sql(f"CREATE TABLE sync {PEOPLE} WITH ({FUNCTION.format('tuples')})")
    env.execute_sql(f"CREATE TABLE late {PEOPLE} WITH ({FUNCTION.format('appearing')})")
    env.execute_sql(
        f"CREATE TABLE async {PEOPLE} WITH ({FUNCTION.format('later')}, 'lookup.cache' = 'PARTIAL')"
    )
    env.execute_sql(
        "CREATE TABLE keyed (k INT, s STRING, shout AS UPPER(s), PRIMARY KEY (k) NOT ENFORCED) "
        f"WITH ({FUNCTION.format('a_dict')})"
    )
    env.execute_sql(
        f"CREATE TABLE files {PEOPLE} WITH ('connector' = 'filesystem', 'path' = '{directory / 'people'}', "
        "'format' = 'csv')"
    )
    env.execute_sql("CREATE VIEW filtered AS SELECT s || '!' AS s, k FROM files WHERE s <> 'eve'")
    env.execute_sql("CREATE VIEW grouped AS SELECT a, PROCTIME() AS p FROM t GROUP BY a")
    env.execute_sql("CREATE VIEW counted AS SELECT s, COUNT(*) AS n FROM files GROUP BY s")
    return env


def partners(table: dict[int, list[Any]], *, outer: bool = False) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    for row in ROWS:
        for name in table.get(row["a"], [None] if outer else []):  # type: ignore[call-overload]
            found[row["b"], name] += 1
    return found


NAMES = {1: ["ann", "ANN"], 2: ["bob", "BOB"]}
QUERIES = [
    (
        "SELECT b, s FROM t JOIN sync FOR SYSTEM_TIME AS OF t.p AS x ON t.a = x.k",
        partners(NAMES),
    ),
    (
        "SELECT b, s FROM t LEFT JOIN sync FOR SYSTEM_TIME AS OF t.p AS x ON t.a = x.k AND x.s <> 'ann'",
        partners({1: ["ANN"], 2: ["bob", "BOB"]}, outer=True),
    ),
    (
        "SELECT b, s FROM t, async FOR SYSTEM_TIME AS OF t.p AS x WHERE t.a = x.k AND CHAR_LENGTH(s) < t.a",
        partners({2: ["2"], 3: ["3"]}),
    ),
    (
        "SELECT b, shout FROM t LEFT JOIN keyed FOR SYSTEM_TIME AS OF t.p AS x ON t.a = x.k",
        partners({1: ["ANN"], 2: ["BOB"]}, outer=True),
    ),
    (
        "SELECT b, s FROM t JOIN keyed FOR SYSTEM_TIME AS OF t.p ON keyed.k = 1 AND b < 2",
        Counter({(0, "ann"): 1, (1, "ann"): 1}),
    ),
    (
        "SELECT b, s FROM t JOIN files FOR SYSTEM_TIME AS OF t.p AS x ON t.a = x.k",
        partners({1: ["ann"], 2: ["bob", "eve"]}),
    ),
    (
        "SELECT b, s FROM t LEFT JOIN filtered FOR SYSTEM_TIME AS OF t.p AS x ON t.a + 1 - 1 = x.k",
        partners({1: ["ann!"], 2: ["bob!"]}, outer=True),
    ),
    (
        "SELECT CAST(SUM(b) AS INT), s FROM t JOIN keyed FOR SYSTEM_TIME AS OF t.p AS x ON t.a = x.k GROUP BY s",
        Counter({(190, "ann"): 1, (200, "bob"): 1}),
    ),
    (
        "SELECT a, s FROM grouped AS g JOIN keyed FOR SYSTEM_TIME AS OF g.p AS x ON g.a = x.k",
        Counter({(1, "ann"): 1, (2, "bob"): 1}),
    ),
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("query", "expected"), QUERIES)
def test_a_query_meets_the_rows_that_are_looked_up(
    query: str, expected: Counter[tuple[Any, ...]], way: str, tmp_path: Path
) -> None:
    with executing(state_dir=str(tmp_path / "state"), **WAYS[way]):
        env = session(tmp_path, batch=way == "batch")
        with env.sql_query(query).execute().collect() as results:
            assert folded((str(row.get_row_kind()), tuple(row)) for row in results) == expected


def test_the_plan_shows_how_rows_are_looked_up(tmp_path: Path) -> None:
    env = session(tmp_path)
    hint = (
        "/*+ LOOKUP('table' = 'x', 'async' = 'true', 'output-mode' = 'allow_unordered', 'capacity' = '7', "
        "'timeout' = '5 s', 'retry-predicate' = 'lookup_miss', 'retry-strategy' = 'fixed_delay', "
        "'fixed-delay' = '10 s', 'max-attempts' = '3') */"
    )
    plan = env.explain_sql(
        f"SELECT {hint} b, s FROM t JOIN async FOR SYSTEM_TIME AS OF t.p AS x ON t.a = x.k"
    )
    assert (
        "LookupJoin(table=[default_catalog.default_database.async], joinType=[InnerJoin], "
        "async=[UNORDERED, 5000ms, 7], retry=[lookup_miss, FIXED_DELAY, 10000ms, 3], lookup=[k=a], "
        "select=[a, b, p, k, s])"
    ) in plan


@pytest.mark.parametrize("table", ["keyed", "async", "filtered"])
def test_a_plan_can_be_compiled_and_executed(
    table: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    env = session(tmp_path)
    env.execute_sql("CREATE TABLE said (b INT, s STRING) WITH ('connector' = 'print')")
    query = f"SELECT b, s FROM t JOIN {table} FOR SYSTEM_TIME AS OF t.p AS x ON t.a = x.k WHERE b < 3"
    with executing(parallelism=1):
        env.execute_sql(f"INSERT INTO said {query}").wait()
        written = sorted(capfd.readouterr().out.splitlines())
        env.execute_sql(f"COMPILE PLAN '{tmp_path}/plan.json' FOR INSERT INTO said {query}")
        session(tmp_path).execute_sql(f"EXECUTE PLAN '{tmp_path}/plan.json'").wait()
    assert sorted(capfd.readouterr().out.splitlines()) == written != []


def test_a_key_that_comes_later_is_found_by_a_retry(tmp_path: Path) -> None:
    looked_up.ASKED.clear()
    hint = (
        "/*+ LOOKUP('table' = 'late', 'retry-predicate' = 'lookup_miss', 'retry-strategy' = 'fixed_delay', "
        "'fixed-delay' = '1 ms', 'max-attempts' = '5') */"
    )
    with executing(state_dir=str(tmp_path / "state"), parallelism=1):
        env = session(tmp_path)
        query = f"SELECT {hint} s FROM t JOIN late FOR SYSTEM_TIME AS OF t.p ON t.a = late.k WHERE b = 3"
        with env.sql_query(query).execute().collect() as results:
            assert [tuple(row) for row in results] == [("there",)]
    assert looked_up.ASKED == [3, 3, 3]


@pytest.mark.parametrize(
    ("query", "said", "column"),
    [
        (
            "SELECT b FROM t JOIN counted FOR SYSTEM_TIME AS OF t.p AS x ON t.b = x.n",
            "with the result of a query",
            17,
        ),
        (
            "SELECT b FROM t JOIN sync FOR SYSTEM_TIME AS OF t.p AS x ON t.a > x.k",
            "an equality condition",
            17,
        ),
        (
            "SELECT b FROM t JOIN sync FOR SYSTEM_TIME AS OF t.p AS x ON t.a = x.k + 1",
            "an equality condition",
            17,
        ),
        (
            "SELECT b FROM t JOIN keyed FOR SYSTEM_TIME AS OF t.p AS x ON 'a' = x.s",
            "of its primary key (k)",
            17,
        ),
        ("SELECT /*+ LOOKUP('table' = 'y') */ b FROM t", "the name of a table in FROM in LOOKUP; got y", 19),
        ("SELECT /*+ LOOKUP('tabel' = 't') */ b FROM t", "did you mean table?", 19),
        ("SELECT /*+ LOOKUP('async' = 'true') */ b FROM t", "requires the option 'table'", 12),
        ("SELECT /*+ LOOKUP('table' = 't', 'async' = 'yes') */ b FROM t", "requires 'true' or 'false'", 34),
        ("SELECT /*+ LOOKUP('table' = 't', 'capacity' = '0') */ b FROM t", "requires a number above 0", 34),
        ("SELECT /*+ LOOKUP('table' = 't', 'timeout' = 'x') */ b FROM t", "requires a duration", 34),
        ("SELECT /*+ LOOKUP('table' = 't', 'max-attempts' = '3') */ b FROM t", "requires all of", 12),
        ("SELECT /*+ BROADCST(t) */ b FROM t", "did you mean BROADCAST?", 12),
        ("SELECT /*+ SHUFFLE_HASH(y) */ b FROM t", "in SHUFFLE_HASH; got y", 25),
    ],
)
def test_what_a_lookup_join_and_hints_require(query: str, said: str, column: int, tmp_path: Path) -> None:
    with pytest.raises(FiresteelError) as caught:
        session(tmp_path).explain_sql(query)
    assert said in str(caught.value)
    assert f"column {column})" in str(caught.value)


@pytest.mark.parametrize("hint", ["BROADCAST(x)", "SHUFFLE_HASH(t, x)", "SHUFFLE_MERGE(t)", "NEST_LOOP(x)"])
def test_hints_of_joins_change_no_answer(hint: str, tmp_path: Path) -> None:
    with executing(state_dir=str(tmp_path / "state")):
        env = session(tmp_path, batch=True)
        query = f"SELECT /*+ {hint} */ b, s FROM t JOIN files AS x ON t.a = x.k"
        with env.sql_query(query).execute().collect() as results:
            assert Counter(map(tuple, results)) == partners({1: ["ann"], 2: ["bob", "eve"]})
