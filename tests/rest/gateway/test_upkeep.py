"""Materialised tables of the gateway's sessions: jobs of the cluster keep them fresh, and its schedules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from firesteel.common.errors import StateError
from firesteel.common.logical_types import BigIntType, Field, RowType
from firesteel.control import EpochStats, JobHandle
from firesteel.control.running import running_jobs, wait_for_jobs
from firesteel.rest.gateway import planned
from firesteel.rest.records import JobRecord, Outcome, read
from firesteel.rest.schedules import Schedules
from firesteel.saved.kept_rows import KeptRowsSource
from firesteel.table.maintaining import publish
from firesteel.table.table_directory import TableDirectory
from firesteel.table.upkeep import Upkeep
from firesteel.testing import executing
from tests.recovery.jobs import Watch
from tests.rest.gateway.asking import Gateway, Session

SECOND, HOUR = 1_000, 3_600_000
SUMS = "SELECT v % 3 AS part, SUM(v) AS total FROM given GROUP BY v % 3"
FOLLOWED = f"CREATE MATERIALIZED TABLE sums FRESHNESS = INTERVAL '1' SECOND AS {SUMS}"
HOURLY = "CREATE MATERIALIZED TABLE total FRESHNESS = INTERVAL '1' HOUR AS SELECT SUM(v) AS s FROM files"
GIVEN = [(0, 15_150), (1, 14_950), (2, 15_050)]
"""What there is of the numbers 1 to 300."""


@pytest.fixture
def earth(gateway: Gateway, tmp_path: Path) -> Session:
    session = gateway.open()
    session.rows(f"CREATE CATALOG kept WITH ('type' = 'filesystem', 'path' = '{tmp_path}/catalog')")
    session.rows("USE CATALOG kept")
    session.rows(
        "CREATE TABLE given (v BIGINT NOT NULL) WITH ('connector' = 'datagen', 'number-of-rows' = '300', "
        "'fields.v.kind' = 'sequence', 'fields.v.start' = '1', 'fields.v.end' = '300')"
    )
    session.rows(
        f"CREATE TABLE files (v BIGINT) WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{tmp_path}/v')"
    )
    (tmp_path / "v").mkdir()
    return session


def table(session: Session, name: str) -> list[tuple[int, ...]]:
    """Return the rows that the table has now."""
    session.rows("SET 'execution.runtime-mode' = 'batch'")
    found = session.rows(f"SELECT * FROM {name}")
    session.rows("SET 'execution.runtime-mode' = 'streaming'")
    return sorted(tuple(fields) for _, fields in found)


def driven(record: JobRecord, watch: Watch | None = None) -> None:
    """Do what the driver of a job does, until it ends."""
    with executing(parallelism=2, epoch_records=50, listener=watch):
        planned.maintained(str(record.program / "main.py"))
        if watch is not None:
            watch.follow(*running_jobs())
        wait_for_jobs()
    record.write("outcome", Outcome("FINISHED", 0))


def waiting(gateway: Gateway) -> list[JobRecord]:
    return [record for record in gateway.dispatcher.jobs() if record.outcome() is None]


def test_a_job_of_the_cluster_keeps_a_table_fresh(gateway: Gateway, earth: Session, tmp_path: Path) -> None:
    assert earth.rows(FOLLOWED) == [("INSERT", ["OK"])]
    (record,) = gateway.dispatcher.jobs()
    assert record.state == f"{tmp_path}/catalog/default/materialized/sums/1"
    assert "got one whose job runs" in earth.error("ALTER MATERIALIZED TABLE sums RESUME")
    assert table(earth, "sums") == []
    driven(record)
    assert table(earth, "sums") == GIVEN
    earth.rows("DROP MATERIALIZED TABLE sums")
    assert not Path(record.state).exists() or not any(Path(record.state).rglob("*.arrow"))


def test_a_table_is_suspended_and_resumed(gateway: Gateway, earth: Session) -> None:
    earth.rows(FOLLOWED)
    (first,) = waiting(gateway)
    earth.rows("ALTER MATERIALIZED TABLE sums SUSPEND")  # it had not begun
    assert first.outcome() is not None
    assert first.wish() is not None
    earth.rows("ALTER MATERIALIZED TABLE sums RESUME")
    (second,) = waiting(gateway)
    assert second.state == first.state
    driven(second, Watch(stopped))
    part = table(earth, "sums")
    assert part != GIVEN
    assert len(part) == 3
    earth.rows("ALTER MATERIALIZED TABLE sums RESUME")
    (third,) = waiting(gateway)
    driven(third)
    assert table(earth, "sums") == GIVEN
    earth.rows(
        "ALTER MATERIALIZED TABLE sums AS SELECT v % 3 AS part, MAX(v) AS total FROM given GROUP BY v % 3"
    )
    (fourth,) = waiting(gateway)
    assert fourth.state.endswith("/sums/2")
    assert table(earth, "sums") == []
    driven(fourth)
    assert table(earth, "sums") == [(0, 300), (1, 298), (2, 299)]


def test_a_schedule_refreshes_a_table_at_full_hours(gateway: Gateway, earth: Session, tmp_path: Path) -> None:
    dispatcher, schedules = gateway.dispatcher, Schedules(tmp_path)
    (tmp_path / "v" / "one.csv").write_text("3\n")
    earth.rows(HOURLY)
    (name,) = schedules.ids()
    created = json.loads((tmp_path / "schedules" / name / "schedule.json").read_text())["last"]
    assert created % HOUR == 0
    schedules.turn(dispatcher, created + HOUR - 1)
    assert dispatcher.jobs() == []
    schedules.turn(dispatcher, created + HOUR)
    schedules.turn(dispatcher, created + HOUR + SECOND)
    (record,) = waiting(gateway)
    assert table(earth, "total") == []
    driven(record)
    assert table(earth, "total") == [(3,)]
    (tmp_path / "v" / "two.csv").write_text("4\n")
    schedules.turn(dispatcher, created + 2 * HOUR - 1)
    assert waiting(gateway) == []
    Schedules(tmp_path).turn(dispatcher, created + 5 * HOUR + 1)  # after three hours without a server
    (record,) = waiting(gateway)
    schedules.turn(dispatcher, created + 6 * HOUR)  # while it runs
    assert [one.id for one in waiting(gateway)] == [record.id]
    driven(record)
    assert table(earth, "total") == [(7,)]
    schedules.turn(dispatcher, created + 6 * HOUR + SECOND)  # what was due is made up for
    (record,) = waiting(gateway)
    driven(record)
    schedules.turn(dispatcher, created + 7 * HOUR - 1)
    assert waiting(gateway) == []


def test_a_server_that_ends_between_job_and_note_starts_no_job_twice(
    gateway: Gateway, earth: Session, tmp_path: Path
) -> None:
    schedules = Schedules(tmp_path)
    earth.rows(HOURLY)
    (name,) = schedules.ids()
    file = tmp_path / "schedules" / name / "schedule.json"
    before = file.read_text()
    due = json.loads(before)["last"] + HOUR
    schedules.turn(gateway.dispatcher, due)
    (record,) = waiting(gateway)
    driven(record)
    file.write_text(before)
    schedules.turn(gateway.dispatcher, due)
    assert waiting(gateway) == []
    assert json.loads(file.read_text())["last"] == due


def test_a_schedule_is_suspended_resumed_and_follows_changes(
    gateway: Gateway, earth: Session, tmp_path: Path
) -> None:
    schedules = Schedules(tmp_path)
    (tmp_path / "v" / "one.csv").write_text("3\n")
    earth.rows(HOURLY)
    (first,) = schedules.ids()
    earth.rows("ALTER MATERIALIZED TABLE total SUSPEND")
    assert schedules.ids() == []
    assert "suspended already" in earth.error("ALTER MATERIALIZED TABLE total SUSPEND")
    earth.rows("ALTER MATERIALIZED TABLE total AS SELECT SUM(v) AS s, NULLIF(COUNT(v), 0) AS n FROM files")
    assert schedules.ids() == []
    earth.rows("ALTER MATERIALIZED TABLE total RESUME")
    (second,) = schedules.ids()
    assert second != first
    schedules.turn(gateway.dispatcher, 2**42)
    (record,) = waiting(gateway)
    driven(record)
    assert table(earth, "total") == [(3, 1)]
    earth.rows(
        "ALTER MATERIALIZED TABLE total AS SELECT SUM(v) AS s, NULLIF(COUNT(v), 0) AS n, MAX(v) AS m FROM files"
    )
    (third,) = schedules.ids()
    assert third != second
    assert table(earth, "total") == []


def test_refresh_is_a_job_that_nothing_else_runs_beside(
    gateway: Gateway, earth: Session, tmp_path: Path
) -> None:
    (tmp_path / "v" / "one.csv").write_text("3\n")
    earth.rows(HOURLY)
    page = next(earth.pages("ALTER MATERIALIZED TABLE total REFRESH"))
    (record,) = waiting(gateway)
    assert page["jobID"] == record.id
    assert page["results"]["data"] == [{"kind": "INSERT", "fields": [record.id]}]
    assert "is being refreshed" in earth.error("ALTER MATERIALIZED TABLE total REFRESH")
    Schedules(tmp_path).turn(gateway.dispatcher, 2**42)
    assert [one.id for one in waiting(gateway)] == [record.id]
    driven(record)
    assert table(earth, "total") == [(3,)]


def test_a_job_that_was_ended_publishes_nothing(gateway: Gateway, earth: Session, tmp_path: Path) -> None:
    earth.rows(FOLLOWED)
    (record,) = waiting(gateway)
    driven(record, Watch(stopped))
    directory = TableDirectory(str(tmp_path / "catalog/default/materialized/sums"))
    directory.publish("before")
    upkeep = read(record.program / "upkeep.json", Upkeep)
    assert upkeep is not None
    with pytest.raises(StateError, match="was ended before all of its input had been read"):
        publish(upkeep)
    assert directory.name == "before"


def test_rows_that_a_query_reads_stay_however_often_the_table_is_refreshed(
    gateway: Gateway, earth: Session, tmp_path: Path
) -> None:
    earth.rows(FOLLOWED)
    (record,) = waiting(gateway)
    driven(record)
    row = RowType((Field("part", BigIntType()), Field("total", BigIntType())), nullable=False)
    directory = TableDirectory(str(tmp_path / "catalog/default/materialized/sums"))
    source = KeptRowsSource(directory.url, row, "table 'sums'", HOUR)
    splits = list(source.splits(frozenset()))
    for name in ("a", "b", "c"):
        TableDirectory(directory.location(name)).publish("rows")
        directory.publish(name)
    found = [batch for split in splits for batch, _ in source.read_columns(split, 0, 1)]
    assert sorted(tuple(one.values()) for batch in found for one in batch.to_pylist()) == GIVEN
    assert {path.name for path in Path(record.state).parent.iterdir()} >= {"1", "b", "c"}
    assert not list(Path(record.state).with_name("a").rglob("current"))


def stopped(handle: JobHandle, stats: EpochStats) -> None:
    if stats.epoch == 2:
        handle.stop()


def test_a_schedule_ends_with_its_table(gateway: Gateway, earth: Session, tmp_path: Path) -> None:
    earth.rows(HOURLY)
    schedules = Schedules(tmp_path)
    (name,) = schedules.ids()
    earth.rows("DROP MATERIALIZED TABLE total")
    schedules.turn(gateway.dispatcher, 2**42)
    for record in waiting(gateway):
        driven(record)
    assert schedules.ids() == []
    assert not (tmp_path / "schedules" / name).exists()
    assert table(earth, "given WHERE v = 1") == [(1,)]


def test_files_that_a_connector_writes_are_replaced(gateway: Gateway, earth: Session, tmp_path: Path) -> None:
    files = f"'connector' = 'filesystem', 'format' = 'json', 'path' = '{tmp_path}/parts'"
    earth.rows(
        f"CREATE MATERIALIZED TABLE parts PARTITIONED BY (part) WITH ({files}) FRESHNESS = INTERVAL '1' HOUR "
        "AS SELECT v, CAST(v % 2 AS STRING) AS part FROM given"
    )
    counted = "(SELECT CAST(part AS INT) AS part, COUNT(*) AS n FROM parts GROUP BY part)"
    for _ in range(2):
        earth.rows("ALTER MATERIALIZED TABLE parts REFRESH")
        (record,) = waiting(gateway)
        driven(record)
        assert table(earth, counted) == [(0, 150), (1, 150)]
    for file in (tmp_path / "parts").rglob("*"):
        if file.is_file():
            file.unlink()
    over_rest = {"staticPartitions": {"part": "1"}}
    begun = earth.ask("POST", "/materialized-tables/`kept`.`default`.`parts`/refresh", over_rest)
    page = earth.first(f"/operations/{begun['operationHandle']}")
    (record,) = waiting(gateway)
    assert page["jobID"] == record.id
    driven(record)
    assert table(earth, counted) == [(1, 150)]


def dated(session: Session, tmp_path: Path) -> None:
    """Make a table that is refreshed hour by hour, of the days and hours that `visits` has."""
    session.rows(
        "CREATE TABLE IF NOT EXISTS visits (v BIGINT, ds STRING, hr STRING) WITH ("
        f"'connector' = 'filesystem', 'format' = 'csv', 'path' = '{tmp_path}/visits')"
    )
    (tmp_path / "visits").mkdir(exist_ok=True)
    session.rows(
        "CREATE MATERIALIZED TABLE dated PARTITIONED BY (ds, hr) WITH ('connector' = 'filesystem', "
        f"'format' = 'json', 'path' = '{tmp_path}/dated', 'partition.fields.ds.date-formatter' = 'yyyy-MM-dd', "
        "'partition.fields.hr.date-formatter' = 'HH') FRESHNESS = INTERVAL '1' HOUR AS SELECT v, ds, hr FROM visits"
    )


def test_a_schedule_refreshes_the_partition_of_the_time_before(
    gateway: Gateway, earth: Session, tmp_path: Path
) -> None:
    dated(earth, tmp_path)
    (name,) = Schedules(tmp_path).ids()
    file = tmp_path / "schedules" / name / "schedule.json"
    midnight = 1_704_153_600_000  # of the 2nd of January 2024
    file.write_text(json.dumps({**json.loads(file.read_text()), "last": midnight - HOUR}))
    lines = ["1,2024-01-01,22", "2,2024-01-01,23", "3,2024-01-02,00", "4,2024-01-02,23"]
    (tmp_path / "visits" / "one.csv").write_text("\n".join(lines) + "\n")
    found = []
    for now in (midnight, midnight + 2 * HOUR):
        for _ in range(3):
            Schedules(tmp_path).turn(gateway.dispatcher, now)
            for record in waiting(gateway):
                driven(record)
        found.append(table(earth, "(SELECT v FROM dated)"))
    assert found == [[(2,)], [(2,), (3,)]]
    earth.rows("ALTER MATERIALIZED TABLE dated REFRESH")
    for record in waiting(gateway):
        driven(record)
    assert table(earth, "(SELECT v FROM dated)") == [(1,), (2,), (3,), (4,)]
