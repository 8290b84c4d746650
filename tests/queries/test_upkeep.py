"""A query kept up to date, epoch by epoch, ends with the table that the same query gives over all rows at once."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing
from tests.queries.tables import Table, table_of

SOURCE = """CREATE TABLE rows_ (
    k STRING, g INT, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '60' SECOND
) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json')"""

INNER = "(SELECT k, g, COUNT(*) AS n, SUM(v) AS s, MAX(v) AS m FROM rows_ GROUP BY k, g)"
QUERIES = [
    "SELECT k, COUNT(*), SUM(v), MIN(v), MAX(v), COUNT(DISTINCT g) FROM rows_ GROUP BY k",
    f"SELECT g, COUNT(*), SUM(n), MIN(s), MAX(m), COUNT(DISTINCT k) FROM {INNER} GROUP BY g",
    f"SELECT n, COUNT(*), SUM(s) FROM {INNER} WHERE m > 0 GROUP BY n HAVING COUNT(*) < 3",
    f"SELECT COUNT(*), MAX(n), SUM(DISTINCT n) FROM {INNER}",
    f"SELECT DISTINCT n FROM {INNER}",
    "SELECT k, g, COUNT(*) FROM rows_ GROUP BY CUBE (k, g)",
    """SELECT g, window_end, COUNT(*), SUM(v), COUNT(DISTINCT k)
    FROM TABLE(HOP(TABLE rows_, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '15' SECOND))
    GROUP BY g, window_start, window_end""",
    """SELECT k, SESSION_START(ts, INTERVAL '4' SECOND), SESSION_END(ts, INTERVAL '4' SECOND), MAX(v)
    FROM rows_ GROUP BY k, SESSION(ts, INTERVAL '4' SECOND)""",
    "SELECT k, v FROM rows_ WHERE v > 0 UNION ALL SELECT k, n FROM " + INNER,
    f"SELECT x.k, x.v, y.s FROM rows_ AS x LEFT JOIN {INNER} AS y ON x.k = y.k AND x.g < y.g",
    f"SELECT x.k, x.n, y.k, y.n FROM {INNER} AS x FULL JOIN {INNER} AS y ON x.s = y.m",
    f"SELECT y.g, COUNT(*), SUM(x.s) FROM {INNER} AS x RIGHT JOIN {INNER} AS y ON x.n < y.n GROUP BY y.g",
    "SELECT k, v, n FROM (SELECT k, v, RANK() OVER (PARTITION BY g ORDER BY v DESC) AS n FROM rows_) WHERE n <= 2",
    f"""SELECT g, k, place FROM (
      SELECT *, ROW_NUMBER() OVER (PARTITION BY g ORDER BY s DESC, n, k) AS place FROM {INNER}
    ) WHERE place <= 2""",
    f"SELECT k, s FROM {INNER} WHERE s NOT IN (SELECT v FROM rows_ WHERE v IS NOT NULL)",
    f"SELECT k, v FROM rows_ AS x WHERE EXISTS (SELECT 1 FROM {INNER} AS y WHERE y.k = x.k AND y.n > x.v)",
    f"SELECT n FROM {INNER} EXCEPT ALL SELECT g FROM rows_",
    f"SELECT n FROM {INNER} INTERSECT SELECT g FROM rows_",
]

row = st.tuples(
    st.sampled_from(["a", "b", "c", None]),
    st.none() | st.integers(0, 3),
    st.none() | st.integers(-4, 4),
    st.integers(0, 59),
)


def answered(query: str, path: str, *, batch: bool, **ways: Any) -> Table:
    mode = EnvironmentSettings.in_batch_mode if batch else EnvironmentSettings.in_streaming_mode
    with executing(**ways):
        env = TableEnvironment.create(mode())
        env.execute_sql(SOURCE.format(path=path))
        return table_of(env, query)


@pytest.mark.parametrize("query", QUERIES)
@settings(max_examples=3)
@given(
    rows=st.lists(row, min_size=1, max_size=40),
    parallelism=st.integers(1, 3),
    epoch_records=st.integers(1, 15),
)
def test_a_query_that_is_kept_up_to_date_equals_the_query_over_all_rows(
    query: str, rows: list[tuple[Any, ...]], parallelism: int, epoch_records: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        lines = [
            json.dumps({"k": k, "g": g, "v": v, "ts": f"2026-01-01 00:00:{second:02}"})
            for k, g, v, second in rows
        ]
        for part in range(2):
            (Path(folder) / f"part-{part}.json").write_text("".join(f"{line}\n" for line in lines[part::2]))
        kept = answered(query, folder, batch=False, parallelism=parallelism, epoch_records=epoch_records)
        assert kept == answered(query, folder, batch=True, parallelism=2)
