"""Random queries, answered here in STREAMING and in BATCH mode, and by DuckDB alone."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from pathlib import Path
from typing import NamedTuple

import duckdb

from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing
from tests.queries.random_relations import (
    APPENDED,
    EVENTS,
    TABLES,
    WINDOWS,
    Relations,
    in_duckdb,
    random_changes,
    timed,
    written,
)
from tests.queries.tables import ONE_SUBTASK, Table, table_of

MODES = ("streaming", "batch")


class Case(NamedTuple):
    """A query with its tables: the statements that create them in each mode, and DuckDB's answer."""

    query: str
    tables: dict[str, list[str]]
    answer: Table


def case(seed: int, path: Path) -> Case:
    """Return the case of a seed; files of its tables are in `path`."""
    chance, tables = random.Random(seed), {mode: list[str]() for mode in MODES}
    with duckdb.connect() as oracle:
        for name in TABLES:
            changes, rows = random_changes(chance, grows=name in APPENDED)
            events = name == EVENTS
            given = timed(chance, rows) if events else rows
            for mode, statement in written(path, name, changes, given):
                tables[mode].append(statement)
            oracle.execute(f"CREATE TABLE {name} (a INT, b INT, c TEXT{', ts TIMESTAMP' if events else ''})")
            if given:
                oracle.executemany(f"INSERT INTO {name} VALUES (?, ?, ?{', ?' if events else ''})", given)
        for statement in in_duckdb():
            oracle.execute(statement)
        for mode, (name, window) in product(MODES, WINDOWS.items()):
            tables[mode].append(f"CREATE VIEW {name} AS SELECT * FROM TABLE({window})")
        query = Relations(seed).query()
        return Case(query, tables, shown(oracle.execute(query).fetchall()))


def answered(given: Case, mode: str, seed: int) -> Table:
    """Return the answer in a mode; the seed says how many subtasks and epochs there are, and how it is planned."""
    batch = mode == "batch"
    with executing(parallelism=seed % 3 + 1, epoch_records=None if batch else (3, 7, 50)[seed // 3 % 3]):
        settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
        env = TableEnvironment.create(settings)
        env.get_config().set("table.optimizer.join-reorder-enabled", str(seed % 2 == 1).lower())
        env.get_config().set(ONE_SUBTASK, str(seed % 4 == 2).lower())
        for statement in given.tables[mode]:
            env.execute_sql(statement)
        return shown(table_of(env, given.query).elements())


def shown(rows: object) -> Table:
    """Return rows as texts, with numbers of all types alike."""
    assert hasattr(rows, "__iter__")
    return Counter(tuple(None if cell is None else str(cell).upper() for cell in row) for row in rows)
