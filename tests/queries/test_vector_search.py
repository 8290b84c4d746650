"""VECTOR_SEARCH: what it finds, in epochs, side by side and in BATCH mode; its plans; and what is refused.

Plans are those of Flink's VectorSearchTableFunctionTest.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.common.errors import FiresteelError
from firesteel.functions.columns.vectors import METRICS, Metric
from firesteel.runtime.columns.lookups.nearest import NearestRows
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing
from tests.queries.tables import folded

WAYS: dict[str, dict[str, Any]] = {
    "one epoch": {"parallelism": 1},
    "many epochs": {"parallelism": 2, "epoch_records": 2},
    "wider": {"parallelism": 3, "epoch_records": 3},
    "batch": {"parallelism": 2},
}
SEARCHED = [
    {"e": 1, "f": 10, "g": [0, 4]},
    {"e": 2, "f": 20, "g": [2, 0]},
    {"e": 3, "f": 30, "g": [3, 4]},
    {"e": 4, "f": 40, "g": None},
    {"e": 5, "f": 50, "g": []},
    {"e": 6, "f": 60, "g": [None, 7]},
    {"e": 7, "f": 70, "g": [0, 0]},
]
ASKED = [
    {"a": 1, "d": [0, 2]},
    {"a": 2, "d": [-3, 0]},
    {"a": 3, "d": None},
    {"a": 4, "d": [0, 0]},
    {"a": 5, "d": [None, 1]},
]


def lines(directory: Path, rows: list[dict[str, Any]]) -> Path:
    directory.mkdir(exist_ok=True)
    (directory / "rows.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return directory


def session(directory: Path, *, batch: bool = False, searched: str = "FLOAT") -> TableEnvironment:
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    env = TableEnvironment.create(settings)
    files = "'connector' = 'filesystem', 'format' = 'json', 'path' ="
    env.execute_sql(
        "CREATE TABLE QueryTable (a INT, d ARRAY<FLOAT>, proctime AS PROCTIME()) "
        f"WITH ({files} '{lines(directory / 'asked', ASKED)}')"
    )
    env.execute_sql(
        f"CREATE TABLE VectorTable (e INT, f BIGINT, g ARRAY<{searched}>) "
        f"WITH ({files} '{lines(directory / 'searched', SEARCHED)}')"
    )
    env.execute_sql("CREATE TABLE named (score ARRAY<FLOAT>, a INT) WITH ('connector' = 'datagen')")
    env.execute_sql("CREATE VIEW twice AS SELECT e * 2 AS e2, g FROM VectorTable WHERE e <> 1")
    env.execute_sql("CREATE VIEW timed AS SELECT g, PROCTIME() AS p FROM VectorTable")
    env.execute_sql("CREATE VIEW counted AS SELECT g, COUNT(*) AS n FROM VectorTable GROUP BY g")
    return env


def search(arguments: str, table: str = "TABLE VectorTable") -> str:
    return f"LATERAL TABLE(VECTOR_SEARCH({table}, DESCRIPTOR(g), {arguments}))"


QUERIES: list[tuple[str, Counter[tuple[Any, ...]]]] = [
    (
        f"SELECT a, e, score FROM QueryTable, {search('d, 1')} WHERE a < 2",
        Counter({(1, 1, 1.0): 1}),
    ),
    (
        f"SELECT a, e, score FROM QueryTable AS q, {search('q.d, 4')} WHERE a IN (2, 3, 5)",
        Counter({(2, 1, 0.0): 1, (2, 2, -1.0): 1, (2, 3, -0.6): 1, (2, 7, 0.0): 1}),
    ),
    (
        "SELECT a, e, score FROM QueryTable AS q LEFT JOIN "
        + search("q.d, 1, MAP['metric', 'dot', 'async', 'true']")
        + " ON TRUE WHERE a <> 4",
        Counter({(1, 1, 8.0): 1, (2, 1, 0.0): 1, (3, None, None): 1, (5, None, None): 1}),
    ),
    (
        f"SELECT a, t.* FROM QueryTable AS q, {search('q.d, 1', 'TABLE twice')} AS t (b, h, s) WHERE a = 1",
        Counter({(1, 6, (3.0, 4.0), 0.8): 1}),
    ),
    (
        "SELECT a, n FROM QueryTable, "
        + search("d, 9", "(SELECT e + 1 AS n, g FROM VectorTable WHERE f < 30)")
        + " WHERE a = 4",
        Counter({(4, 2): 1, (4, 3): 1}),
    ),
    (
        """SELECT e, score FROM VECTOR_SEARCH(
            TABLE VectorTable, DESCRIPTOR(g), ARRAY[2, 2], 2, MAP['metric', 'euclidean'])""",
        Counter({(2, 0.2): 1, (3, 1 / 6): 1}),
    ),
    (
        f"SELECT a, COUNT(*), MAX(score) FROM QueryTable, {search('d, 2')} GROUP BY a",
        Counter({(1, 2, 1.0): 1, (2, 2, 0.0): 1, (4, 2, 0.0): 1}),
    ),
    (
        """SELECT a, e FROM QueryTable CROSS JOIN LATERAL TABLE(VECTOR_SEARCH(
            TOP_K => 1, COLUMN_TO_QUERY => ARRAY[CAST(a AS FLOAT), CAST(0 AS FLOAT)],
            COLUMN_TO_SEARCH => DESCRIPTOR(g), SEARCH_TABLE => TABLE VectorTable
        )) WHERE a < 3""",
        Counter({(1, 2): 1, (2, 2): 1}),
    ),
]


def plain(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    return round(value, 6) if isinstance(value, float) else value


def rounded(rows: Counter[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    return Counter({tuple(map(plain, row)): count for row, count in rows.items()})


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["FLOAT", "DOUBLE"])
@pytest.mark.parametrize(("query", "expected"), QUERIES)
def test_a_query_finds_the_nearest_rows(
    query: str, expected: Counter[tuple[Any, ...]], kind: str, way: str, tmp_path: Path
) -> None:
    with executing(state_dir=str(tmp_path / "state"), **WAYS[way]):
        env = session(tmp_path, batch=way == "batch", searched=kind)
        with env.sql_query(query).execute().collect() as results:
            found = [(str(row.get_row_kind()), tuple(map(plain, row))) for row in results]
    assert folded(found) == rounded(expected)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_query_finds_the_nearest_rows_on_spark(tmp_path: Path) -> None:
    query, expected = QUERIES[2]
    with executing("spark", parallelism=2, epoch_records=2):
        env = session(tmp_path)
        with env.sql_query(query).execute().collect() as results:
            assert Counter(tuple(map(plain, row)) for row in results) == rounded(expected)


def test_rows_of_one_search_come_the_nearest_first(tmp_path: Path) -> None:
    with executing(parallelism=1):
        query = f"SELECT e FROM QueryTable, {search('d, 3')} WHERE a = 1"
        with session(tmp_path).sql_query(query).execute().collect() as results:
            assert [row[0] for row in results] == [1, 3, 2]


def test_an_empty_table_has_nothing_to_be_found(tmp_path: Path) -> None:
    with executing(parallelism=1):
        env = session(tmp_path)
        lines(tmp_path / "searched", [])
        query = f"SELECT a, e FROM QueryTable LEFT JOIN {search('d, 3')} ON TRUE"
        with env.sql_query(query).execute().collect() as results:
            assert sorted(tuple(row) for row in results) == [(row["a"], None) for row in ASKED]


PLANS = {
    f"SELECT * FROM {search('ARRAY[1.5, 2.0], 10')}": (
        "Calc(select=[e, f, g, score])\n"
        "+- VectorSearchTableFunction(table=[default_catalog.default_database.VectorTable], joinType=[InnerJoin], "
        "columnToSearch=[g], columnToQuery=[$f0], topK=[10], select=[$f0, e, f, g, score])\n"
        "   +- Calc(select=[ARRAY(1.5, 2.0) AS $f0])\n"
        "      +- Values(tuples=[[{ 0 }]])"
    ),
    f"SELECT a, d, e, f, g, score FROM QueryTable, {search('QueryTable.d, 10')}": (
        "VectorSearchTableFunction(table=[default_catalog.default_database.VectorTable], joinType=[InnerJoin], "
        "columnToSearch=[g], columnToQuery=[d], topK=[10], select=[a, d, e, f, g, score])\n"
    ),
    "SELECT a, d, e, f, g, score FROM QueryTable LEFT JOIN "
    + search("QueryTable.d, 10, MAP['async', 'true', 'timeout', '100s']")
    + " ON TRUE": (
        "VectorSearchTableFunction(table=[default_catalog.default_database.VectorTable], joinType=[LeftOuterJoin], "
        "columnToSearch=[g], columnToQuery=[d], topK=[10], config=[{async=true, timeout=100s}], "
        "select=[a, d, e, f, g, score])\n"
    ),
}


@pytest.mark.parametrize("query", PLANS)
def test_a_plan_is_that_of_flink(query: str, tmp_path: Path) -> None:
    assert PLANS[query] in session(tmp_path).explain_sql(query)


def test_a_plan_can_be_compiled_and_executed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    env = session(tmp_path)
    env.execute_sql("CREATE TABLE said (e INT) WITH ('connector' = 'print')")
    query = f"SELECT e FROM QueryTable, {search('d, 1')} WHERE a = 1"
    env.execute_sql(f"COMPILE PLAN '{tmp_path}/plan.json' FOR INSERT INTO said {query}")
    with executing(parallelism=1):
        session(tmp_path).execute_sql(f"EXECUTE PLAN '{tmp_path}/plan.json'").wait()
    assert "+I[1]" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (search("d, 0"), "requires an INTEGER literal of at least 1 as TOP_K; got 0"),
        (search("d, 1 + 1"), "requires an INTEGER literal of at least 1 as TOP_K"),
        (search("d, 1.5"), "requires an INTEGER literal of at least 1 as TOP_K"),
        (
            search("a, 1"),
            "requires a vector of the same type as the column that is searched, ARRAY<FLOAT>; got INT",
        ),
        (
            search("d, 1").replace("(g)", "(f)"),
            "requires a column of ARRAY<FLOAT> or ARRAY<DOUBLE>; got BIGINT",
        ),
        (search("d, 1").replace("(g)", "(h)"), "requires the name of a column; got h"),
        (search("d, 1").replace("(g)", "(e, g)"), "with the name of one column as COLUMN_TO_SEARCH"),
        (search("d"), "no TOP_K"),
        (search("d, 1, MAP['metric', 'l2']"), "requires one of cosine, dot, euclidean for 'metric'; got l2"),
        (search("d, 1, MAP['metrics', 'dot']"), "requires a key that config has; got metrics"),
        (search("d, 1, MAP['timeout', 'soon']"), "requires a duration for 'timeout'; got soon"),
        (search("d, 1, MAP['async', 'yes']"), "requires true or false for 'async'; got yes"),
        (search("d, 1, MAP['max-concurrent-operations', '0']"), "requires a number of at least 1"),
        (search("d, 1, MAP['output-mode', 'any']"), "requires ORDERED or ALLOW_UNORDERED"),
        (search("d, 1", "TABLE counted"), "is not supported of the result of a query"),
        (search("d, 1", "TABLE timed"), "is not supported with columns that are other ones at each time"),
        (search("d, 1", "TABLE named").replace("(g)", "(score)"), "of which not all rows are kept"),
    ],
)
def test_what_a_search_requires(item: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(FiresteelError) as caught:
        session(tmp_path).explain_sql(f"SELECT * FROM QueryTable, {item}")
    assert said in str(caught.value)


def test_rows_that_change_are_refused(tmp_path: Path) -> None:
    query = f"SELECT e FROM (SELECT d, COUNT(*) AS n FROM QueryTable GROUP BY d), {search('d, 1')}"
    with pytest.raises(
        FiresteelError, match="VectorSearchTableFunction doesn't support consuming update changes"
    ):
        session(tmp_path).explain_sql(query)
    query = f"SELECT a FROM QueryTable LEFT JOIN {search('d, 1')} ON a = e"
    with pytest.raises(FiresteelError, match="LEFT JOIN of VECTOR_SEARCH with a condition other than TRUE"):
        session(tmp_path).explain_sql(query)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"e": 1, "g": [1, 2]}, {"e": 2, "g": [1, 2, 3]}], "in all rows; got one of 2 and one of 3"),
        ([{"e": 1, "g": [1, 2, 3]}], "requires a vector of 3 elements, as the table has; got one of 2"),
    ],
)
def test_vectors_have_the_same_number_of_elements(rows: list[Any], said: str, tmp_path: Path) -> None:
    with executing(parallelism=1):
        env = session(tmp_path)
        lines(tmp_path / "searched", rows)
        with pytest.raises(FiresteelError) as caught:
            env.sql_query(f"SELECT e FROM QueryTable, {search('d, 1')}").execute().wait()
    assert said in str(caught.value)


VECTOR = st.one_of(
    st.none(), st.lists(st.one_of(st.none(), st.integers(-9, 9).map(float)), min_size=3, max_size=3)
)


def naive(metric: Metric, one: list[float], other: list[float]) -> float:
    a, b = np.array(one), np.array(other)
    if metric == "dot":
        return float(a @ b)
    if metric == "euclidean":
        return float(1 / (1 + ((a - b) ** 2).sum()))
    lengths = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / lengths if lengths else 0.0


@given(
    st.lists(VECTOR, max_size=12), st.lists(VECTOR, max_size=6), st.integers(1, 15), st.sampled_from(METRICS)
)
def test_what_is_found_is_what_comparing_all_finds(
    known: list[list[float] | None], asked: list[list[float] | None], most: int, metric: Metric
) -> None:
    kind = pa.list_(pa.float64())
    rows = pa.record_batch({"v": pa.array(known, kind), "n": pa.array(range(len(known)), pa.int32())})
    found = NearestRows(rows, 0, metric, "table t").find(pa.array(asked, kind), most)
    numbers, scores = found.rows.column("n").to_pylist(), found.rows.column("score").to_pylist()
    given = {place: one for place, one in enumerate(known) if one is not None and None not in one}
    for place, one in enumerate(asked):
        mine = np.flatnonzero(found.keys == place)
        if one is None or None in one:
            assert not len(mine)
            continue
        wanted = sorted((naive(metric, one, other) for other in given.values()), reverse=True)[:most]
        assert [scores[at] for at in mine] == pytest.approx(wanted)
        assert [naive(metric, one, given[numbers[at]]) for at in mine] == pytest.approx(wanted)
        assert len({numbers[at] for at in mine}) == len(mine)


def test_many_are_compared_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(rng.random(4_000)), 4).cast(pa.list_(pa.float64()))
    rows = NearestRows(pa.record_batch({"v": vectors}), 0, "cosine", "table t")
    whole = rows.find(vectors, 3)
    monkeypatch.setattr("firesteel.runtime.columns.lookups.nearest._PRODUCTS", 10_000)
    parts = rows.find(vectors, 3)
    assert parts.keys.tolist() == whole.keys.tolist()
    assert parts.rows.column("v").equals(whole.rows.column("v"))
    assert (
        parts.rows.column("v").take(pa.array(np.arange(0, 3_000, 3))).equals(vectors)
    )  # each is nearest to itself
