"""Which partitions the times of a schedule are, and which options say so."""

from __future__ import annotations

from datetime import datetime

import pytest

from firesteel.common.errors import ProgramError
from firesteel.table.due_partitions import DuePartitions, check_places
from tests.table.transfers import error, rows, session

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
PATTERNS = {"day": "yyyy-MM-dd", "hour": "HH", "minute": "mm"}


def at(text: str) -> int:
    return int(datetime.fromisoformat(f"{text}+00:00").timestamp() * 1000)


@pytest.mark.parametrize(
    ("due", "every_ms", "values"),
    [
        ("2024-01-01 00:00:00", DAY, ("2023-12-31", "00", "00")),
        ("2024-01-02 01:00:00", HOUR, ("2024-01-02", "00", "00")),
        ("2024-01-01 00:00:00", 12 * HOUR, ("2023-12-31", "12", "00")),
        ("2024-01-01 00:00:00", 2 * MINUTE, ("2023-12-31", "23", "58")),
        ("2024-01-01 00:30:00", 30 * MINUTE, ("2024-01-01", "00", "00")),
    ],
)
def test_values_are_those_of_the_time_before_as_in_flink(due: str, every_ms: int, values: tuple[str, ...]):
    """Source: Flink's DefaultMaterializedTableLifecycleTest, `testGetPeriodRefreshPartition`."""
    found = DuePartitions({}, PATTERNS).values(at(due), every_ms)
    assert found == dict(zip(PATTERNS, values, strict=True))


def test_times_with_the_same_values_are_one():
    days = DuePartitions({}, {"day": "yyyy-MM-dd"})
    first, now = at("2024-01-01 05:00:00"), at("2024-01-03 07:30:00")
    assert days.last_alike(first, HOUR, now) == at("2024-01-02 00:00:00")
    assert days.last_alike(first, HOUR, first) == first
    hours = DuePartitions({}, PATTERNS)
    assert hours.last_alike(first, HOUR, now) == first


def test_a_plan_without_the_places_is_refused():
    due = DuePartitions({"ds": "?1"}, {"ds": "yyyy"})
    assert due.filled('{"value": "?1"}', {"ds": 'a "b"'}) == '{"value": "a \\"b\\""}'
    check_places("ds = '?1'", due, "table")
    with pytest.raises(ProgramError, match="a query in which ds is the same in all rows"):
        check_places("FALSE", due, "table")


FILES = "'connector' = 'filesystem', 'format' = 'csv', 'path' = '{path}/dated', "


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (
            FILES + "'partition.fields.v.date-formatter' = 'yyyy'",
            "requires a column of PARTITIONED BY; got v",
        ),
        (FILES + "'partition.fields.n.date-formatter' = 'yyyy'", "CHAR, VARCHAR or STRING; got n INT"),
        (FILES + "'partition.fields.ds.date-formatter' = 'yyyy-bb'", "requires a pattern of times such as"),
        ("'partition.fields.ds.date-formatter' = 'yyyy'", "requires a table with a connector"),
    ],
)
def test_what_can_have_no_partition_of_a_time_is_refused(tmp_path, options: str, part: str):
    env = session(tmp_path, batch=True)
    create = (
        f"CREATE MATERIALIZED TABLE dated PARTITIONED BY (ds, n) WITH ({options.format(path=tmp_path)}) "
        "REFRESH_MODE = FULL AS SELECT v, CAST(v AS STRING) AS ds, CAST(v AS INT) AS n FROM given"
    )
    assert part in error(env, create)


def test_a_table_with_a_date_formatter_is_refreshed_and_read(tmp_path):
    env = session(tmp_path, batch=True)
    options = FILES.format(path=tmp_path) + "'partition.fields.ds.date-formatter' = 'yyyy'"
    env.execute_sql(
        f"CREATE MATERIALIZED TABLE dated PARTITIONED BY (ds) WITH ({options}) "
        "REFRESH_MODE = FULL AS SELECT v, CAST(2000 + v AS STRING) AS ds FROM given WHERE v < 3"
    )
    env.execute_sql("ALTER MATERIALIZED TABLE dated REFRESH")
    assert "partition.fields.ds.date-formatter" in rows(env, "SHOW CREATE MATERIALIZED TABLE dated")[0][0]
    assert len(rows(env, "SELECT * FROM dated")) > 0
