"""What sources of files need not read: plans show it as Flink's do, and the rows are the same.

The texts of scans are real Flink 2.3's, asked with the same directories of CSV, without `metadata=[]`. Flink shows
filters for every format and every condition; here they are shown where they spare reading.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing

SCAN = re.compile(r"TableSourceScan\(table=\[\[default_catalog, default_database, (.*)\]\], fields=")


def environment(root: Path, *, batch: bool) -> TableEnvironment:
    """Return a session with partitions of CSV, `p`, and the same rows in row groups of Parquet, `t`."""
    for day, first in (("mon", 0), ("tue", 20)):
        for part in (1, 2):
            folder = root / "p" / f"day={day}" / f"part={part}"
            folder.mkdir(parents=True, exist_ok=True)
            numbers = range(first + 10 * (part - 1), first + 10 * part)
            (folder / "a.csv").write_text("".join(f"{number}\n" for number in numbers))
    (root / "t").mkdir(exist_ok=True)
    columns = {"a": pa.array(range(40), pa.int32()), "b": pa.array(range(40), pa.int64())}
    texts = [f"{number:02}" for number in range(40)]
    pq.write_table(pa.table({**columns, "c": texts}), root / "t" / "rows.parquet", row_group_size=10)
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    made = TableEnvironment.create(settings)
    options = f"'connector' = 'filesystem', 'path' = '{root}"
    made.execute_sql(
        "CREATE TABLE p (n INT, `day` STRING, part INT) PARTITIONED BY (`day`, part) "
        f"WITH ({options}/p', 'format' = 'csv')"
    )
    made.execute_sql(
        "CREATE TABLE w (n INT, `day` STRING, part INT, ts AS TIMESTAMP '2026-01-01 00:00:00', WATERMARK FOR ts AS ts) "
        f"PARTITIONED BY (`day`, part) WITH ({options}/p', 'format' = 'csv')"
    )
    made.execute_sql(f"CREATE TABLE t (a INT, b BIGINT, c STRING) WITH ({options}/t', 'format' = 'parquet')")
    return made


def rows_of(env: TableEnvironment, query: str) -> Counter[tuple[Any, ...]]:
    with executing(parallelism=2), env.sql_query(query).execute().collect() as rows:
        return Counter(tuple(row) for row in rows)


MON, TUE = range(20), range(20, 40)
CASES: list[tuple[str, str, list[int]]] = [
    (
        "SELECT n FROM p WHERE `day` = 'mon' AND n > 3",
        "p, partitions=[{day=mon, part=1}, {day=mon, part=2}], project=[n]",
        [*range(4, 20)],
    ),
    (
        "SELECT n FROM p WHERE 2 = part AND `day` = 'mon'",
        "p, partitions=[{day=mon, part=2}], project=[n]",
        [*MON][10:],
    ),
    ("SELECT n FROM p WHERE `day` = 'wed'", "p, partitions=[], project=[n]", []),
    ("SELECT n FROM p WHERE `day` IS NULL AND part > 1", "p, partitions=[], project=[n]", []),
    (
        "SELECT n FROM p WHERE `day` = 'mon' OR part = 2",
        "p, partitions=[{day=mon, part=1}, {day=mon, part=2}, {day=tue, part=2}], project=[n]",
        [*MON, *TUE[10:]],
    ),
    ("SELECT n FROM p WHERE `day` = 'mon' OR n = 33", "p, project=[n, day]", [*MON, 33]),
    (
        "SELECT n FROM p WHERE `day` IN ('mon', 'tue') AND part <> 1",
        "p, partitions=[{day=mon, part=2}, {day=tue, part=2}], project=[n]",
        [*MON[10:], *TUE[10:]],
    ),
    (
        "SELECT n FROM p WHERE UPPER(`day`) = 'MON'",
        "p, partitions=[{day=mon, part=1}, {day=mon, part=2}], project=[n]",
        [*MON],
    ),
    (
        "SELECT n FROM p WHERE part > 1 AND RAND() < 2",
        "p, partitions=[{day=mon, part=2}, {day=tue, part=2}], project=[n]",
        [*MON[10:], *TUE[10:]],
    ),
    (
        "SELECT n FROM (SELECT n, part + 1 AS q FROM p) WHERE q = 2",
        "p, partitions=[{day=mon, part=1}, {day=tue, part=1}], project=[n]",
        [*MON[:10], *TUE[:10]],
    ),
    (
        "SELECT a FROM t WHERE b BETWEEN 1 AND 5",
        "t, filter=[and(>=(b, 1), <=(b, 5))], project=[a, b]",
        [*range(1, 6)],
    ),
    ("SELECT a FROM t WHERE a > 33 AND MOD(a, 2) = 0", "t, filter=[>(a, 33)], project=[a]", [34, 36, 38]),
    ("SELECT a FROM t WHERE a > b", "t, project=[a, b]", []),
    (
        "SELECT a FROM t WHERE c = '07' AND a IS NOT NULL",
        "t, filter=[and(=(c, '07'), IS NOT NULL(a))], project=[a, c]",
        [7],
    ),
    (
        "SELECT a FROM t WHERE NOT (a > 1 AND c < '39')",
        "t, filter=[NOT(AND(>(a, 1), <(c, '39')))], project=[a, c]",
        [0, 1, 39],
    ),
]


@pytest.mark.parametrize("batch", [False, True], ids=["streaming", "batch"])
@pytest.mark.parametrize(("query", "scan", "expected"), CASES)
def test_plans_show_what_is_read_and_rows_are_the_same(
    tmp_path: Path, query: str, scan: str, expected: list[int], batch: bool
) -> None:
    env = environment(tmp_path, batch=batch)
    assert {*SCAN.findall(env.explain_sql(query))} == {scan}
    assert rows_of(env, query) == Counter((number,) for number in expected)


def test_a_watermark_sees_all_partitions(tmp_path: Path) -> None:
    query = "SELECT n FROM w WHERE `day` = 'mon'"
    assert "partitions" not in environment(tmp_path, batch=False).explain_sql(query)
    assert "partitions=[{day=mon, part=1}, {day=mon, part=2}]" in environment(
        tmp_path, batch=True
    ).explain_sql(query)


LIMITS = [
    ("SELECT n FROM p LIMIT 3", "p, project=[n], limit=[3]", 3),
    ("SELECT * FROM p LIMIT 3", "p, limit=[3]", 3),
    ("SELECT n + 1 FROM p LIMIT 3 OFFSET 2", "p, project=[n], limit=[5]", 3),
    (
        "SELECT n FROM p WHERE `day` > 'n' LIMIT 12",
        "p, partitions=[{day=tue, part=1}, {day=tue, part=2}], project=[n], limit=[12]",
        12,
    ),
    ("SELECT n FROM p WHERE n > 2 LIMIT 3", "p, project=[n]", 3),
    ("SELECT n FROM p ORDER BY n LIMIT 3", "p, project=[n]", 3),
    ("SELECT a FROM t LIMIT 25", "t, project=[a], limit=[25]", 25),
]


@pytest.mark.parametrize(("query", "scan", "count"), LIMITS)
def test_a_limit_is_shown_in_batch_mode(tmp_path: Path, query: str, scan: str, count: int) -> None:
    env = environment(tmp_path, batch=True)
    assert {*SCAN.findall(env.explain_sql(query))} == {scan}
    assert rows_of(env, query).total() == count
    streaming = environment(tmp_path, batch=False)
    assert "limit=[" not in streaming.explain_sql(query)


def test_a_limit_of_an_operand_is_its_own(tmp_path: Path) -> None:
    env = environment(tmp_path, batch=True)
    query = "SELECT COUNT(*) FROM (SELECT n FROM p LIMIT 3) UNION ALL SELECT COUNT(*) FROM (SELECT n FROM p)"
    assert {*SCAN.findall(env.explain_sql(query))} == {"p, project=[n], limit=[3]", "p, project=[n]"}
    assert rows_of(env, query) == Counter([(3,), (40,)])


def test_scans_of_other_rows_stay_apart_and_equal_ones_are_shared(tmp_path: Path) -> None:
    env = environment(tmp_path, batch=False)
    apart = "SELECT n FROM p WHERE `day` = 'mon' UNION ALL SELECT n FROM p WHERE `day` = 'tue'"
    assert len(SCAN.findall(env.explain_sql(apart).split("Execution Plan")[1])) == 2
    assert rows_of(env, apart) == Counter((number,) for number in range(40))
    same = "SELECT n FROM p WHERE `day` = 'mon' UNION ALL SELECT n + part FROM p WHERE `day` = 'mon'"
    text = env.explain_sql(same).split("Execution Plan")[1]
    assert SCAN.findall(text) == ["p, partitions=[{day=mon, part=1}, {day=mon, part=2}], project=[n, part]"]
    assert rows_of(env, same) == Counter([(n,) for n in MON] + [(n + 1 + n // 10,) for n in MON])


def test_a_shared_scan_keeps_its_filter(tmp_path: Path) -> None:
    env = environment(tmp_path, batch=False)
    query = "SELECT a FROM t WHERE b = 7 UNION ALL SELECT CHAR_LENGTH(c) FROM t WHERE b = 7"
    text = env.explain_sql(query).split("Execution Plan")[1]
    assert SCAN.findall(text) == ["t, filter=[=(b, 7)]"]
    assert rows_of(env, query) == Counter([(7,), (2,)])


@pytest.mark.parametrize("query", [query for query, _, _ in CASES])
def test_a_compiled_plan_keeps_what_its_source_need_not_read(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], query: str
) -> None:
    expected = next(rows for known, _, rows in CASES if known == query)
    env = environment(tmp_path, batch=False)
    env.execute_sql("CREATE TABLE shown (n INT) WITH ('connector' = 'print')")
    path = tmp_path / "plan.json"
    env.execute_sql(f"COMPILE PLAN '{path}' FOR INSERT INTO shown {query}")
    with executing(parallelism=1):
        job = env.execute_sql(f"EXECUTE PLAN '{path}'").job
        assert job is not None
        job.wait(60)
    assert Counter(capfd.readouterr().out.split()) == Counter(f"+I[{number}]" for number in expected)


def test_a_compiled_plan_reads_no_more_than_its_statement(tmp_path: Path) -> None:
    env = environment(tmp_path, batch=False)
    env.execute_sql("CREATE TABLE shown (n INT) WITH ('connector' = 'print')")
    path = tmp_path / "plan.json"
    query = "SELECT n FROM p WHERE `day` = 'mon' AND part = 2"
    env.execute_sql(f"COMPILE PLAN '{path}' FOR INSERT INTO shown {query}")
    (tmp_path / "p" / "day=tue" / "part=1" / "a.csv").write_text("not a number\n")
    with executing(parallelism=1):
        job = env.execute_sql(f"EXECUTE PLAN '{path}'").job
        assert job is not None
        job.wait(60)
