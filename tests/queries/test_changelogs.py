"""Tables of changes in queries: files of Debezium, upserts of streams, changes that come twice."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import FiresteelError, ProgramError, UnsupportedError
from firesteel.common.typeinfo import Types
from firesteel.common.types import Row, RowKind
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.table import (
    ChangelogMode,
    EnvironmentSettings,
    ExplainDetail,
    Schema,
    StreamTableEnvironment,
    TableEnvironment,
)
from tests.queries.flink.changelog_tables import HERE, NODE, definitions
from tests.queries.tables import table_of

KEY = ", PRIMARY KEY (id) NOT ENFORCED"


def messages(chance: random.Random, count: int, *, twice: bool = False) -> tuple[list[str], dict[int, Any]]:
    """Messages about a table, and the table after them; with `twice`, some come again at once."""
    table: dict[int, Any] = {}
    lines = []
    for _ in range(count):
        key = chance.randrange(8)
        row = {"id": key, "name": chance.choice("abc"), "weight": chance.randrange(10)}
        old = table.get(key)
        if old is None:
            change: dict[str, Any] = {"before": None, "after": row, "op": chance.choice("cr")}
        elif chance.random() < 0.3:
            change = {"before": old, "after": None, "op": "d"}
        else:
            change = {"before": old, "after": row, "op": "u"}
        table.pop(key, None)
        if change["after"]:
            table[key] = row
        lines += [json.dumps(change)] * (chance.choice([1, 2]) if twice else 1)
    return lines, table


def session(path: Path, *, key: str = KEY, batch: bool = False, **options: str) -> TableEnvironment:
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    env = TableEnvironment.create(settings)
    for name, value in {"parallelism.default": "2", **options}.items():
        env.get_config().set(name.replace("__", "."), value)
    env.execute_sql(
        f"CREATE TABLE p (id INT, name STRING, weight INT{key}) "
        f"WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'debezium-json')"
    )
    return env


@pytest.mark.parametrize("twice", [False, True])
def test_a_table_of_changes_is_that_of_the_database(tmp_path: Path, twice: bool) -> None:
    lines, table = messages(random.Random(5), 300, twice=twice)
    (tmp_path / "changes.json").write_text("\n".join(lines))
    env = session(tmp_path, **{"table.exec.source.cdc-events-duplicate": str(twice).lower()})
    rows = [tuple(row.values()) for row in table.values()]
    assert table_of(env, "SELECT * FROM p") == Counter(rows)
    assert table_of(env, "SELECT id FROM p WHERE weight > 4 AND id <> 3") == Counter(
        (key,) for key, _, weight in rows if weight > 4 and key != 3
    )
    sums: Counter[str] = Counter()
    for _, name, weight in rows:
        sums[name] += weight
    found = table_of(env, "SELECT name, SUM(weight) FROM p GROUP BY name")
    assert found == Counter({(name, sums[name]): 1 for _, name, _ in rows})


def test_changes_that_come_twice_need_a_key(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    env = session(tmp_path, key="", **{"table.exec.source.cdc-events-duplicate": "true"})
    with pytest.raises(ProgramError, match="requires a primary key, because"):
        env.explain_sql("SELECT id FROM p")


def test_changes_are_not_read_in_batch_mode(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    with pytest.raises(ProgramError) as caught:
        session(tmp_path, batch=True).explain_sql("SELECT id\nFROM p")
    assert "is read in BATCH mode, in which sources give inserts only" in str(caught.value)
    assert "line 2, column 6" in str(caught.value)


def test_what_a_query_writes_as_changes_is_read_as_its_table(tmp_path: Path) -> None:
    lines, table = messages(random.Random(9), 200)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "changes.json").write_text("\n".join(lines))
    env = session(tmp_path / "in")
    for form in ("debezium-json", "canal-json", "maxwell-json"):
        env.execute_sql(
            f"CREATE TABLE `{form}` (name STRING, n BIGINT) "
            f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path / form}', 'format' = '{form}')"
        )
        env.execute_sql(f"INSERT INTO `{form}` SELECT name, COUNT(*) FROM p GROUP BY name").wait()
        counts = Counter(row["name"] for row in table.values())
        assert table_of(env, f"SELECT * FROM `{form}`") == Counter(dict.fromkeys(counts.items(), 1))


def test_upserts_of_a_stream_are_a_table_by_its_key() -> None:
    from firesteel.common.types import Row, RowKind

    streams = StreamExecutionEnvironment.get_execution_environment()
    streams.set_parallelism(1)
    env = StreamTableEnvironment.create(streams)

    def change(kind: RowKind, key: int, value: str | None) -> Row:
        row = Row(key, value)
        row.set_row_kind(kind)
        return row

    changes = [
        change(RowKind.INSERT, 1, "a"),
        change(RowKind.UPDATE_AFTER, 1, "b"),
        change(RowKind.UPDATE_AFTER, 2, "c"),
        change(RowKind.DELETE, 2, None),
        change(RowKind.UPDATE_AFTER, 3, "b"),
    ]
    given = streams.from_collection(changes, Types.ROW([Types.LONG(), Types.STRING()]))
    schema = (
        Schema.new_builder().column("f0", "BIGINT NOT NULL").column("f1", "STRING").primary_key("f0").build()
    )
    env.create_temporary_view("u", env.from_changelog_stream(given, schema, ChangelogMode.upsert()))
    assert table_of(env, "SELECT f1, COUNT(*) FROM u GROUP BY f1") == Counter({("b", 2): 1})


FLINK = [json.loads(line) for line in (HERE / "changelogs.jsonl").read_text(encoding="utf-8").splitlines()]
PASSED_OVER = {"Calc"}
"""Nodes that are not compared: where columns are computed is a matter of taste. Joins always ask for old rows here."""


def asked(twice: bool, parallelism: int = 1) -> TableEnvironment:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("parallelism.default", str(parallelism))
    env.get_config().set("table.exec.source.cdc-events-duplicate", str(twice).lower())
    env.get_config().set("table.optimizer.agg-phase-strategy", "ONE_PHASE")
    for statement in definitions(HERE / "changes"):
        env.execute_sql(statement)
    return env


@pytest.mark.parametrize("answer", FLINK, ids=[f"{one['query']} {one['twice']}" for one in FLINK])
def test_queries_over_changes_are_answered_as_by_flink(answer: dict[str, Any]) -> None:
    env, query = asked(answer["twice"]), answer["query"]
    if "refused" in answer and not answer["fails"]:
        with pytest.raises(FiresteelError) as refused:
            env.explain_sql(query)
        assert not isinstance(refused.value, UnsupportedError)
        return
    found = NODE.findall(env.explain_sql(query, ExplainDetail.CHANGELOG_MODE))
    ours = [node for node in found if node[0] not in PASSED_OVER]
    if " JOIN " not in query:
        assert ours == [tuple(node) for node in answer["nodes"] if node[0] not in PASSED_OVER]
    if "refused" in answer:
        with pytest.raises(FiresteelError, match="requires one of the codes"):
            table_of(env, query)
        return
    table = env.sql_query(query)
    assert table.get_resolved_schema().get_column_names() == answer["names"]
    if " twice" in query and not answer["twice"] and "TO_CHANGELOG" not in query:
        return  # what is said twice and taken as it is makes no table
    assert Counter({tuple(map(str, row)): count for row, count in table_of(env, query).items()}) == Counter(
        map(tuple, answer["rows"])
    )


@pytest.mark.parametrize("columns", ["id, name", "name"])
def test_watermarks_are_made_of_what_the_source_gives(tmp_path: Path, columns: str) -> None:
    """A time that is computed, a key that the query does not ask for: both are below the normalisation."""
    rows = [{"id": key % 2, "name": "ab"[key % 2], "at": f"2020-01-01 00:00:0{key}"} for key in range(4)]
    changes = [{"after": rows[0], "op": "c"}, {"after": rows[1], "op": "c"}, {"after": rows[1], "op": "c"}]
    changes += [{"before": rows[0], "after": rows[2], "op": "u"}] * 2
    (tmp_path / "changes.json").write_text("\n".join(map(json.dumps, changes)))
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("parallelism.default", "1")
    env.get_config().set("table.exec.source.cdc-events-duplicate", "true")
    env.execute_sql(
        "CREATE TABLE p (id INT, name STRING, `at` TIMESTAMP(3), ts AS `at` + INTERVAL '1' SECOND, "
        "WATERMARK FOR ts AS ts, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'filesystem', "
        f"'path' = '{tmp_path}', 'format' = 'debezium-json')"
    )
    query = f"SELECT {columns}, CAST(ts AS STRING) AS at_text FROM p"
    nodes = [node for node, _ in NODE.findall(env.explain_sql(query, ExplainDetail.CHANGELOG_MODE))]
    assert nodes.index("ChangelogNormalize") < nodes.index("WatermarkAssigner")
    expected = {(1, "b", "2020-01-01 00:00:02.000"): 1, (0, "a", "2020-01-01 00:00:03.000"): 1}
    width = len(columns.split(", "))
    assert table_of(env, query) == Counter({key[2 - width :]: count for key, count in expected.items()})
