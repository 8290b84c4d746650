"""Rows that are left out before they are aggregated or sent are not in the result anyway: DuckDB has the same rows."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Final, Literal

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from firesteel.relational.physical import runtime_filters
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing
from tests.queries.against_duckdb import shown
from tests.queries.tables import ONE_SUBTASK, table_of

SIZES: Final = {"few": 8, "bids": 4000, "facts": 6000}
SPARK: Final = (pytest.mark.spark, pytest.mark.xdist_group("spark"))
MET: Final = "(SELECT few.k, bids.v, bids.s FROM few JOIN bids ON few.k = bids.k)"
QUERIES: Final = {
    "subquery": "SELECT k, v FROM few WHERE v < (SELECT AVG(v) FROM facts WHERE facts.k = few.k)",
    "sums": "SELECT g.k, total, few.s FROM few JOIN "
    "(SELECT k, SUM(v) AS total, COUNT(*) AS n FROM facts GROUP BY k) AS g ON g.k = few.k WHERE n > 1",
    "a key of two": "SELECT g.* FROM (SELECT k, s, MAX(v) AS most FROM facts GROUP BY k, s) AS g "
    "WHERE EXISTS (SELECT 1 FROM few WHERE few.k = g.k)",
    "met": f"SELECT h.k, h.v, facts.v FROM {MET} AS h JOIN facts ON facts.k = h.k AND facts.s = h.s",
    "exists": f"SELECT k, v FROM facts WHERE EXISTS (SELECT 1 FROM {MET} AS h WHERE h.k = facts.k AND h.v < facts.v)",
    "groups of the met": f"SELECT h.v, g.n FROM {MET} AS h JOIN "
    "(SELECT k, COUNT(v) AS n FROM facts GROUP BY k) AS g ON g.k = h.k",
}


@pytest.fixture
def tables(tmp_path: Path) -> dict[str, pa.Table]:
    """Return tables of very different sizes, which are files, too; some keys are NULL."""
    chance, made = random.Random(5), {}
    for name, rows in SIZES.items():
        keys = [None if chance.random() < 0.05 else chance.randrange(300) for _ in range(rows)]
        if name == "few":
            keys = [*range(100, 100 + rows)]
        made[name] = pa.table(
            {
                "k": pa.array(keys, pa.int32()),
                "v": pa.array([chance.randrange(100) for _ in range(rows)], pa.int64()),
                "s": [chance.choice("pqr") for _ in range(rows)],
            }
        )
        (tmp_path / name).mkdir()
        for half in range(2):
            part = made[name].slice(half * rows // 2, rows // 2)
            pq.write_table(part, tmp_path / name / f"{half}.parquet", row_group_size=500)
    return made


def environment(path: Path) -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    made.get_config().set(ONE_SUBTASK, "false")
    made.get_config().set("table.optimizer.join.broadcast-threshold", "400")
    for name in SIZES:
        made.execute_sql(
            f"CREATE TABLE {name} (k INT, v BIGINT, s STRING) "
            f"WITH ('connector' = 'filesystem', 'path' = '{path / name}', 'format' = 'parquet')"
        )
    return made


@pytest.mark.parametrize("on", ["process", pytest.param("spark", marks=SPARK)])
@pytest.mark.parametrize("name", QUERIES)
def test_the_rows_are_those_of_duckdb(
    name: str,
    on: Literal["process", "spark"],
    tables: dict[str, pa.Table],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sql, env = QUERIES[name], environment(tmp_path)
    before = env.explain_sql(sql).count("LeftSemiJoin")
    monkeypatch.setattr(runtime_filters, "_ENOUGH", 0)
    assert env.explain_sql(sql).count("LeftSemiJoin") > before
    with duckdb.connect() as oracle:
        for table, rows in tables.items():
            oracle.register(table, rows)
        answer = shown(oracle.execute(sql).fetchall())
    assert answer
    with executing(on, parallelism=2):
        assert shown(table_of(env, sql).elements()) == answer
