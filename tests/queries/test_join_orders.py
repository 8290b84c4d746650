"""Joins in BATCH mode give the rows that DuckDB has for them, in whatever order they are done."""

from __future__ import annotations

import random
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing
from tests.queries.against_duckdb import shown
from tests.queries.tables import ONE_SUBTASK, table_of

SEEDS = range(50)
NAMES = "abcdef"
REORDERED = "table.optimizer.join-reorder-enabled"


def tables(chance: random.Random, path: Path) -> dict[str, pa.Table]:
    """Return tables of very different sizes, which are files, too."""
    made = {}
    for name in NAMES:
        rows = chance.choice([0, *[3, 6, 12, 25] * 4])
        made[name] = pa.table(
            {
                "x": pa.array([chance.choice([None, *range(5)]) for _ in range(rows)], pa.int32()),
                "y": pa.array([chance.randrange(5) for _ in range(rows)], pa.int64()),
                "z": [chance.choice("pqrs") for _ in range(rows)],
                "w": pa.array([chance.randrange(5) for _ in range(rows)], pa.int32()),
            }
        )
        (path / name).mkdir()
        pq.write_table(made[name], path / name / "rows.parquet")
    return made


def query(chance: random.Random) -> str:
    """Return a join of some tables, one of which may be joined elsewhere or by something else than an equality.

    There may be a semi join or an anti join, too.
    """
    names = chance.sample(NAMES, chance.randint(3, 6))
    text, kinds = f"FROM {names[0]}", ["JOIN"] * 6 + ["LEFT JOIN"]
    conditions = []
    for place, name in enumerate(names[1:], 1):
        other = chance.choice(names[:place])
        column = chance.choice("xyzw")
        partner = "z" if column == "z" else chance.choice("xyw")
        equal = f"{other}.{column} = {name}.{partner}"
        if place > 1 and chance.random() < 0.3:  # through one column of all
            equal = f"{names[place - 1]}.x = {name}.{chance.choice('xw')}"
            if chance.random() < 0.5:
                equal += f" AND {names[0]}.x = {name}.w"
        more = chance.choice(["", "", f" AND {other}.y <= {name}.y", f" AND {name}.x + 1 = {names[0]}.y"])
        if chance.random() < 0.3:
            text += f" CROSS JOIN {name}"
            conditions.append(f"{equal}{more}")
        else:
            text += f" {chance.choice(kinds)} {name} ON {equal}{more}"
    if chance.random() < 0.5:
        conditions.append(f"{names[-1]}.y < 4")
    if chance.random() < 0.4:
        asked, other = chance.choice(names), chance.choice(NAMES)
        partner = f"SELECT 1 FROM {other} AS e WHERE e.x = {asked}.x AND e.y <= {asked}.y"
        conditions.append(f"{chance.choice(('', 'NOT '))}EXISTS ({partner})")
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    columns = ", ".join(f"{name}.{chance.choice('xyz')}" for name in names)
    inner = f"SELECT {columns} {text}{where}"
    return inner if chance.random() < 0.7 else f"SELECT DISTINCT * FROM ({inner}) AS v"


def environment(path: Path, seed: int, *, reorders: bool) -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    made.get_config().set(REORDERED, str(reorders).lower())
    made.get_config().set("table.optimizer.bushy-join-reorder-threshold", "12" if seed % 3 else "2")
    made.get_config().set(ONE_SUBTASK, str(seed % 4 == 0).lower())
    for name in NAMES:
        made.execute_sql(
            f"CREATE TABLE {name} (x INT, y BIGINT NOT NULL, z STRING, w INT) "
            f"WITH ('connector' = 'filesystem', 'path' = '{path / name}', 'format' = 'parquet')"
        )
    return made


@pytest.mark.parametrize("seed", SEEDS)
def test_joins_have_the_rows_of_duckdb(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    made, sql = tables(chance, tmp_path), query(chance)
    with duckdb.connect() as oracle:
        for name, rows in made.items():
            oracle.register(name, rows)
        answer = shown(oracle.execute(sql).fetchall())
    with executing(parallelism=seed % 3 + 1):
        ordered = environment(tmp_path, seed, reorders=True)
        assert shown(table_of(ordered, sql).elements()) == answer, sql
    written = environment(tmp_path, seed, reorders=False)
    schemas = [str(env.sql_query(sql).get_resolved_schema()) for env in (ordered, written)]
    assert schemas[0] == schemas[1]


def test_many_of_them_are_done_in_another_order(tmp_path: Path) -> None:
    changed = 0
    for seed in range(10):
        chance, path = random.Random(seed), tmp_path / str(seed)
        path.mkdir()
        tables(chance, path)
        sql = query(chance)
        plans = {environment(path, seed, reorders=reorders).explain_sql(sql) for reorders in (False, True)}
        changed += len(plans) - 1
    assert changed >= 4


def test_only_batch_mode_with_the_option_has_another_order(tmp_path: Path) -> None:
    chance = random.Random(1)
    tables(chance, tmp_path)
    sql = "SELECT a.x FROM a JOIN b ON a.x = b.x JOIN c ON b.y = c.y"
    for sizes in ((60, 60, 3), (3, 60, 60)):
        for name, rows in zip("abc", sizes, strict=True):
            numbers = {"x": pa.array(range(rows), pa.int32()), "y": pa.array(range(rows), pa.int64())}
            pq.write_table(
                pa.table({**numbers, "z": [str(number) for number in range(rows)]}),
                tmp_path / name / "rows.parquet",
            )
        ordered, written = (environment(tmp_path, 1, reorders=reorders) for reorders in (True, False))
        same = ordered.explain_sql(sql) == written.explain_sql(sql)
        assert same is (sizes[0] == 3)
        for env in (ordered, written):
            env.get_config().set("execution.runtime-mode", "streaming")
        assert ordered.explain_sql(sql) == written.explain_sql(sql)
