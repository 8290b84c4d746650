"""The SQL sink when a driver dies at any of its steps, or the database does: the tables are as if nothing had been."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from firesteel.common import Row, Types
from firesteel.common.errors import ConnectorError
from firesteel.common.types import RowKind
from firesteel.connectors.sql import SqlSink, prepared, progress, staged
from firesteel.connectors.sql.database import Database
from firesteel.connectors.sql.prepared import PreparedCommitter
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.functions import KeyedProcessFunction
from firesteel.datastream.state import ValueStateDescriptor
from firesteel.state.disk.copy import close_working_stores
from firesteel.testing import ManualClock, executing
from tests.connectors.conftest import Target
from tests.recovery import crashing
from tests.recovery.crashing import Crasher, points

RECORDS = [(f"key {number % 4}", number) for number in range(24)]
TOTALS = Types.ROW_NAMED(["name", "total"], [Types.STRING(), Types.LONG()])
TABLES = (
    "CREATE TABLE totals (name VARCHAR(20) PRIMARY KEY, total BIGINT)",
    "CREATE TABLE seen (name VARCHAR(20), number BIGINT)",
)


class Total(KeyedProcessFunction):
    """Changes of a key's total; one that can be divided by five is taken back."""

    def open(self, runtime_context: Any) -> None:
        self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Any:
        total = (self.total.value() or 0) + value[1]
        self.total.update(total)
        yield Row.of_kind(RowKind.UPDATE_AFTER if total % 5 else RowKind.DELETE, value[0], total)


def expected(last: int = len(RECORDS)) -> dict[str, list[Any]]:
    """What must be in the tables after so many records."""
    totals: dict[str, int] = {}
    for name, number in RECORDS[:last]:
        totals[name] = totals.get(name, 0) + number
    return {
        "totals": sorted((name, total) for name, total in totals.items() if total % 5),
        "seen": sorted(RECORDS[:last]),
    }


def found(target: Target) -> dict[str, list[Any]]:
    return {
        "totals": target.rows("SELECT name, total FROM totals ORDER BY name"),
        "seen": target.rows("SELECT name, number FROM seen ORDER BY name, number"),
    }


def run(
    target: Target,
    way: Any,
    directory: Path,
    parallelism: int,
    crasher: Crasher | None = None,
    restore_from: str | None = None,
    upto: int = len(RECORDS),
) -> None:
    crasher = crasher or Crasher()
    with (
        points(crasher),
        sql_points(crasher),
        executing(
            crasher.executor,
            epoch_records=8,
            parallelism=parallelism,
            state_dir=str(directory / "state"),
            clock=ManualClock(1_000_000),
            restore_from=restore_from,
        ),
    ):
        env = StreamExecutionEnvironment.get_execution_environment()
        records = env.from_collection(RECORDS, Types.TUPLE([Types.STRING(), Types.LONG()]))
        records = records.filter(lambda record: record[1] < upto)
        totals = records.key_by(lambda record: record[0]).process(Total(), TOTALS)
        totals.sink_to(SqlSink(target.url, "totals", key=["name"], way=way))
        records.rebalance().sink_to(SqlSink(target.url, "seen", ["name", "number"], way=way, batch_rows=3))
        try:
            env.execute()
        except Exception:
            if crasher.crashed is None:
                raise
    if crasher.crashed is not None:
        target.hang_up()


@contextmanager
def sql_points(crasher: Crasher) -> Iterator[None]:
    """Have what a sink does in the database pass by: each transaction, and what is done in those that write."""
    run_once = Database._run_once

    def running(self: Database, transaction: Callable[..., Any], tries: int) -> Any:
        what = transaction.__name__

        def passed(connection: Any, tries: int) -> Any:
            result = transaction(connection, tries)
            crasher.reach(f"before COMMIT of {what}")
            return result

        return crasher.around(f"transaction {what}", lambda: run_once(self, passed, tries))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Database, "_run_once", running)
        for module, name in (
            (staged, "load"),
            (staged, "record_epoch"),
            (prepared, "record_epoch"),
            (prepared, "_try"),
            (prepared, "roll_back"),
            (progress, "ensure_tables"),
        ):
            call = getattr(module, name)
            patch.setattr(module, name, _around(crasher, name, call))
        _around_prepare(patch, crasher)
        yield


def _around(crasher: Crasher, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *arguments: crasher.around(name, lambda: call(*arguments))


def _around_prepare(patch: pytest.MonkeyPatch, crasher: Crasher) -> None:
    prepare = prepared.PreparedWriter.prepare_commit
    patch.setattr(
        prepared.PreparedWriter,
        "prepare_commit",
        lambda self: crasher.around("PREPARE TRANSACTION", lambda: prepare(self)),
    )


@pytest.fixture(autouse=True)
def _machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "machine"))
    monkeypatch.setattr(prepared, "_GRACE_S", 0)  # the other drivers are known to be gone
    monkeypatch.setattr(prepared, "_LOCK_WAIT_MS", 50)
    yield
    close_working_stores(tmp_path)


def test_a_driver_that_crashes_at_every_step_in_turn(way_and_target, tmp_path):
    way, target = way_and_target
    target.run(*TABLES)
    struck: set[str] = set()

    def dies(count: int, point: crashing.Point) -> bool:
        return point[1] not in struck

    while True:
        crasher = Crasher(dies)
        run(target, way, tmp_path, 2, crasher)
        if crasher.crashed is None:
            break
        struck.add(crasher.crashed[1])
    assert found(target) == expected()
    wanted = {
        "staged": {"load", "record_epoch", "transaction apply", "transaction stage", "the manifest"},
        "prepared": {"PREPARE TRANSACTION", "_try", "record_epoch", "transaction record", "roll_back"},
    }[way]
    assert {f"{when} {what}" for when in ("before", "after") for what in wanted} <= struck
    assert target.staged() == 0
    if target.server is not None:
        assert target.rows("SELECT gid FROM pg_prepared_xacts WHERE database = current_database()") == []


POINTS = {
    "staged": ("before COMMIT of apply", "after transaction apply", "after load", "before the manifest"),
    "prepared": (
        "after PREPARE TRANSACTION",
        "after roll_back",
        "before COMMIT of record",
        "before record_epoch",
    ),
}


@pytest.mark.parametrize("number", range(4))
def test_a_driver_that_crashes_at_one_step_of_each_epoch(way_and_target, tmp_path, number):
    way, target = way_and_target
    target.run(*TABLES)
    struck: set[crashing.Point] = set()
    while True:
        crasher = Crasher(lambda count, point: point[1] == POINTS[way][number] and point not in struck)
        run(target, way, tmp_path, 2, crasher)
        if crasher.crashed is None:
            break
        struck.add(crasher.crashed)
    assert len(struck) >= 3
    assert found(target) == expected()


@pytest.mark.xdist_group("postgres")
@pytest.mark.parametrize("way", ["staged", "prepared"])
@pytest.mark.parametrize("how", ["kill", "restart"])
def test_a_server_that_goes_away_in_the_middle_of_a_commit(
    postgres_target, tmp_path, monkeypatch, caplog, way, how
):
    postgres_target.run(*TABLES)
    module = {"staged": staged, "prepared": prepared}[way]
    record, strikes = module.record_epoch, []

    def struck(*arguments: Any) -> None:
        record(*arguments)
        strikes.append(how)
        if len(strikes) in (1, 4):
            server = postgres_target.server
            server.kill() if how == "kill" else server.stop()
            server.start()

    monkeypatch.setattr(module, "record_epoch", struck)
    run(postgres_target, way, tmp_path, 2)
    assert len(strikes) >= 5
    assert found(postgres_target) == expected()
    assert not [record for record in caplog.records if record.name.startswith("sqlalchemy")]


@pytest.mark.xdist_group("postgres")
@pytest.mark.parametrize(("way", "step"), [("staged", "load"), ("prepared", "_try")])
def test_a_server_that_goes_away_while_rows_are_written(
    postgres_target, tmp_path, monkeypatch, caplog, way, step
):
    postgres_target.run(*TABLES)
    module = {"staged": staged, "prepared": prepared}[way]
    write, writes = getattr(module, step), []

    def struck(*arguments: Any) -> Any:
        result = write(*arguments)
        writes.append(step)
        if len(writes) in (2, 7):
            postgres_target.server.kill()
            postgres_target.server.start()
        return result

    monkeypatch.setattr(module, step, struck)
    run(postgres_target, way, tmp_path, 2)
    assert len(writes) >= 8
    assert found(postgres_target) == expected()
    assert not [record for record in caplog.records if record.name.startswith("sqlalchemy")]


@pytest.mark.xdist_group("postgres")
def test_a_server_that_stays_away(postgres_target, tmp_path, monkeypatch):
    postgres_target.run(*TABLES)
    sink = SqlSink(postgres_target.url, "seen", ["name", "number"], retry_ms=300)
    postgres_target.server.kill()
    try:
        with executing(parallelism=1, state_dir=str(tmp_path / "state")):
            env = StreamExecutionEnvironment.get_execution_environment()
            env.from_collection(RECORDS).sink_to(sink)
            with pytest.raises(
                ConnectorError, match=r"table 'seen', .*got .*connection.*\n.*tried \d+ times"
            ):
                env.execute()
    finally:
        postgres_target.server.start()
    assert postgres_target.rows("SELECT * FROM seen") == []


@pytest.mark.xdist_group("postgres")
def test_a_prepared_transaction_that_somebody_rolled_back_is_an_error(postgres_target):
    from tests.connectors.test_sql_sink import commit, write

    postgres_target.run(*TABLES)
    sink = SqlSink(postgres_target.url, "seen", ["name", "number"], way="prepared")
    committables = write(sink, [("a", 1)])
    with postgres_target.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql(f"ROLLBACK PREPARED '{committables[0].name}'")
    with pytest.raises(
        ConnectorError, match="got a database that does not know it, and has not committed it"
    ):
        commit(sink, committables)


@pytest.mark.xdist_group("postgres")
@pytest.mark.parametrize("upto", [24, 8], ids=["the same again", "nothing more"])
def test_going_back_rolls_back_what_the_dropped_epochs_had_prepared(
    postgres_target, tmp_path, monkeypatch, upto
):
    commit = PreparedCommitter.commit

    def fails_for_the_last_epoch(self, committables):
        if any(committable.epoch == 3 for committable in committables):
            raise ConnectorError("is out of reach", who="the database")
        commit(self, committables)

    postgres_target.run(*TABLES)
    prepared_now = "SELECT count(*) FROM pg_prepared_xacts WHERE database = current_database()"
    monkeypatch.setattr(PreparedCommitter, "commit", fails_for_the_last_epoch)
    with pytest.raises(ConnectorError, match="out of reach"):
        run(postgres_target, "prepared", tmp_path, 1)
    assert postgres_target.rows(prepared_now) == [(2,)]
    monkeypatch.setattr(PreparedCommitter, "commit", commit)
    assert found(postgres_target) == expected(16)
    run(postgres_target, "prepared", tmp_path, 1, restore_from="1", upto=upto)
    assert postgres_target.rows(prepared_now) == [(0,)]
    if upto == 8:
        assert found(postgres_target) == expected(16)
    else:  # the second epoch was visible before
        seen = sorted([*RECORDS, *RECORDS[8:16]])
        assert found(postgres_target) == {"totals": expected()["totals"], "seen": seen}


@pytest.mark.xdist_group("postgres")
def test_two_subtasks_that_write_one_key_are_told_so(postgres_target):
    from tests.connectors.test_sql_sink import write

    postgres_target.run(*TABLES)
    sink = SqlSink(
        postgres_target.url, "totals", ["name", "total"], key=["name"], way="prepared", retry_ms=100
    )
    write(sink, [("a", 1)], subtask=0)
    with pytest.raises(ConnectorError, match="requires rows that are not locked by another transaction"):
        write(sink, [("a", 2)], subtask=1)
