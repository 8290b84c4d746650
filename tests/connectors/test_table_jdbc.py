"""The connector 'jdbc': changes of a table reach a database exactly once, the last one of each key."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest

from firesteel.common.errors import ConfigurationError, ConnectorError, UnsupportedError
from firesteel.connectors.tables.registry import connector_of
from firesteel.functions.columns.connectors import TableSink
from firesteel.functions.epoch import EpochFacts
from firesteel.functions.sink import Leftovers, WriterContext
from tests.connectors.column_ends import request, row_type, write
from tests.connectors.conftest import Target
from tests.connectors.jdbc_tables import jdbc_url

COLUMNS = "k INT NOT NULL, s STRING"
ROW = row_type(COLUMNS)
INSERT, BEFORE, AFTER, DELETE = range(4)


def sink_of(target: Target, way: str, columns: str = COLUMNS, key: list[str] | None = None) -> TableSink:
    options = {"url": jdbc_url(target), "table-name": "t", "sink.way": way}
    return connector_of("jdbc", "table 't'").sink(request(columns, options, key=key))


def test_the_last_change_of_each_key_counts(way_and_target: tuple[str, Target]) -> None:
    way, target = way_and_target
    target.run("CREATE TABLE t (k INTEGER PRIMARY KEY, s TEXT)")
    table = sink_of(target, way, key=["k"])
    assert table.mode.update_after
    assert not table.mode.update_before
    rows = [[(1, "a"), (2, "b"), (3, "c")], [(1, "a"), (1, "z"), (3, "c")]]
    write(table.sink, ROW, *rows, kinds=[[INSERT] * 3, [BEFORE, AFTER, DELETE]], final=False)
    assert sorted(target.rows("SELECT k, s FROM t")) == [(1, "z"), (2, "b")]
    write(table.sink, ROW, [(2, "b"), (4, "d"), (4, "d")], kinds=[[DELETE, INSERT, DELETE]], epoch=2)
    assert target.rows("SELECT k, s FROM t") == [(1, "z")]


def test_without_a_key_every_row_is_inserted(way_and_target: tuple[str, Target]) -> None:
    way, target = way_and_target
    target.run("CREATE TABLE t (k INTEGER, s TEXT)")
    table = sink_of(target, way)
    assert table.mode.append_only
    write(table.sink, ROW, [(1, "a"), (1, "a")], [(2, None)])
    assert sorted(target.rows("SELECT k, s FROM t"), key=str) == [(1, "a"), (1, "a"), (2, None)]


def test_what_an_abandoned_epoch_wrote_stays_invisible(way_and_target: tuple[str, Target]) -> None:
    way, target = way_and_target
    target.run("CREATE TABLE t (k INTEGER PRIMARY KEY, s TEXT)")
    sink = sink_of(target, way, key=["k"]).sink
    lost = sink.create_writer(WriterContext("job", "sink", 0, 1, EpochFacts(1, "lost", 0)))
    lost.write_columns(pa.RecordBatch.from_pydict({"k": pa.array([1], pa.int32()), "s": ["lost"]}), None)
    lost.prepare_commit()
    assert target.rows("SELECT * FROM t") == []
    write(sink, ROW, [(1, "kept")])
    assert target.rows("SELECT k, s FROM t") == [(1, "kept")]
    sink.create_committer().discard(Leftovers("job", "sink", 1))
    assert target.rows("SELECT k, s FROM t") == [(1, "kept")]


def test_values_of_all_types_arrive(target: Target) -> None:
    columns = "k INT NOT NULL, b BOOLEAN, f DOUBLE, d DECIMAL(10, 2), x BYTES, y DATE, z TIME, t TIMESTAMP(6)"
    target.run(
        "CREATE TABLE t (k INTEGER PRIMARY KEY, b BOOLEAN, f DOUBLE PRECISION, d NUMERIC(10, 2), "
        f"x {'BYTEA' if target.server else 'BLOB'}, y DATE, z TIME, t TIMESTAMP)"
    )
    moment = dt.datetime(2020, 1, 2, 3, 4, 5, 6)
    values = (1, True, 1.5, Decimal("1.50"), b"\0a", moment.date(), dt.time(3, 4, 5), moment)
    write(sink_of(target, "staged", columns, ["k"]).sink, row_type(columns), [values])
    [found] = target.rows("SELECT * FROM t")
    if target.server:
        assert found == values
    else:
        assert found == (1, 1, 1.5, 1.5, b"\0a", "2020-01-02", "03:04:05", "2020-01-02 03:04:05.000006")


def test_a_key_that_the_database_does_not_know_is_an_error(target: Target) -> None:
    target.run("CREATE TABLE t (k INTEGER, s TEXT)")
    with pytest.raises(ConnectorError, match="a primary key or a unique constraint"):
        write(sink_of(target, "staged", key=["k"]).sink, ROW, [(1, "a")])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"table-name": "t"}, "the option 'url' of connector 'jdbc'"),
        ({"url": "jdbc:oracle:thin:@db", "table-name": "t"}, "a JDBC URL of one of postgresql"),
        ({"url": "jdbc:sqlite:/x.db", "table-name": "t", "tabel": "t"}, "'tabel'"),
        (
            {"url": "jdbc:postgresql://db/x", "table-name": "t", "password": "secret"},
            "a URL without a password",
        ),
    ],
)
def test_wrong_options_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        connector_of("jdbc", "table 't'").sink(request(COLUMNS, options))
    assert message in str(caught.value)
    assert "secret" not in str(caught.value)


def test_types_that_databases_lack_are_refused_by_name() -> None:
    options = {"url": "jdbc:sqlite:/x.db", "table-name": "t"}
    with pytest.raises(UnsupportedError, match="column 'a' of type ARRAY<INT>"):
        connector_of("jdbc", "table 't'").sink(request("a ARRAY<INT>", options))
