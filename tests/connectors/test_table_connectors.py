"""The small connectors of tables, their options, and how they are found."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pytest

from firesteel.common.errors import ConfigurationError, UnsupportedError
from firesteel.connectors.collect import CollectBuffer, register_receiver, unregister_receiver
from firesteel.connectors.tables import registry
from firesteel.connectors.tables.collect import CollectTableSink
from firesteel.connectors.tables.registry import connector_names, connector_of, register
from firesteel.connectors.tables.values import values_source
from firesteel.functions.columns.connectors import ChangelogMode, TableConnector, TableRequest, TableSource
from firesteel.functions.columns.endpoints import ColumnSource
from firesteel.functions.source import Boundedness, DiscoveryContext, Split
from tests.connectors.column_ends import read, read_range, request, row_type, write


def datagen(columns: str, **options: str) -> ColumnSource:
    given = {key.replace("__", ".").replace("_", "-"): value for key, value in options.items()}
    return connector_of("datagen", "table 't'").source(request(columns, given)).source


def test_an_unknown_connector_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        ConfigurationError, match=r"table 't' requires a connector that exists; got 'kinesis'"
    ):
        connector_of("kinesis", "table 't'")
    assert {"blackhole", "datagen", "print"} <= set(connector_names())


def test_a_program_can_register_a_connector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registered", {})

    class Ones(TableConnector):
        name = "ones"

        def source(self, table: TableRequest) -> TableSource:
            return TableSource(values_source(table.row, [(1,)]))

    register(Ones())
    row = row_type("n INT")
    found = connector_of("ones", "t").source(request("n INT", {})).source
    assert read(found, row=row) == [(1,)]
    with pytest.raises(UnsupportedError, match="connector 'ones' is a source"):
        connector_of("ones", "t").sink(request("n INT", {}))


def test_an_installed_package_can_have_a_connector(monkeypatch: pytest.MonkeyPatch) -> None:
    class Point:
        name = "installed"

        def load(self) -> type[TableConnector]:
            return type("Installed", (TableConnector,), {"name": "installed"})

    def points(group: str) -> Iterable[Point]:
        assert group == "firesteel.table.connectors"
        return [Point()]

    monkeypatch.setattr(registry, "entry_points", points)
    assert connector_of("installed", "t").name == "installed"
    assert "installed" in connector_names()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"rows-per-second": "many"},
            "a whole number of at least 1 as the option 'rows-per-second'; got 'many'",
        ),
        ({"rows-per-secnd": "5"}, "'rows-per-secnd'\n  hint: did you mean 'rows-per-second'"),
        ({"fields.n.kind": "sequence"}, "the option 'fields.n.start' of connector 'datagen'"),
        ({"fields.n.kind": "sequenc"}, "one of random, sequence as the option 'fields.n.kind'"),
        ({"fields.n.min": "5", "fields.n.max": "4"}, "a number of at least 5 as the option 'fields.n.max'"),
        ({"fields.n.null-rate": "2"}, "a number from 0 to 1"),
        ({"fields.s.length": "4"}, "a length of at most 3"),
        ({"fields.m.min": "4"}, "did you mean 'fields."),
    ],
)
def test_options_that_are_wrong_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        connector_of("datagen", "table 't'").source(request("n INT, s VARCHAR(3)", options))
    assert str(caught.value).startswith("table 't' requires")
    assert message in str(caught.value)


ALL = (
    "a TINYINT, b SMALLINT, c INT, d BIGINT, e FLOAT, f DOUBLE, g DECIMAL(5, 2), h DECIMAL(38, 18), i STRING, "
    "j VARCHAR(7), k CHAR(3), l BOOLEAN, m BYTES, n DATE, o TIME, p TIMESTAMP(3), q TIMESTAMP_LTZ(9), "
    "r ARRAY<INT>, s ROW<x INT, y ARRAY<STRING>>, t INTERVAL MONTH"
)


def test_generated_rows_repeat_whatever_the_range() -> None:
    row = row_type(ALL)
    source = datagen(ALL, number_of_rows="100", fields__c__null_rate="0.3", fields__j__var_len="true")
    [split] = source.splits(frozenset())
    whole = read(source, row=row)
    assert len(whole) == 100
    for cut in (1, 50, 99):
        first = read_range(source, split, 0, cut, row)
        assert first + read_range(source, split, cut, 100, row) == whole
    assert 10 < sum(values[2] is None for values in whole) < 60
    lengths = {len(values[9]) for values in whole}
    assert lengths <= set(range(1, 8))
    assert len(lengths) > 3
    assert {len(values[8]) for values in whole} == {100}
    assert len({values[3] for values in whole}) == 100


def test_generated_values_are_within_their_bounds() -> None:
    source = datagen(
        "n BIGINT, t TINYINT, d DOUBLE, x DECIMAL(6, 2)",
        number_of_rows="10000",
        fields__n__min="-2",
        fields__n__max="2",
        fields__d__min="0.5",
        fields__d__max="0.75",
        fields__x__min="1",
        fields__x__max="3",
    )
    n, t, d, x = zip(
        *read(source, row=row_type("n BIGINT, t TINYINT, d DOUBLE, x DECIMAL(6, 2)")), strict=True
    )
    assert set(n) == {-2, -1, 0, 1, 2}
    assert min(t) == -128
    assert max(t) == 127
    assert 0.5 <= min(d) < 0.51
    assert 0.74 < max(d) <= 0.75
    assert min(x) >= 1
    assert max(x) <= 3


def test_sequences_are_shared_out_among_subtasks_and_end_the_source() -> None:
    source = datagen("n INT", fields__n__kind="sequence", fields__n__start="5", fields__n__end="11")
    assert source.boundedness is Boundedness.BOUNDED
    splits = list(source.discover(DiscoveryContext(frozenset(), 3, 0)))
    found = [read(source, split, row=row_type("n INT")) for split in splits]
    assert [[n for (n,) in part] for part in found] == [[5, 8, 11], [6, 9], [7, 10]]
    assert datagen("n INT").boundedness is Boundedness.CONTINUOUS_UNBOUNDED


def test_generated_times_pass_with_the_rows() -> None:
    source = datagen("t TIMESTAMP_LTZ(3)", rows_per_second="1000")
    [split] = source.discover(DiscoveryContext(frozenset(), 1, 1_000_000))
    [(rows, _)] = source.read_columns(split, 0, 3)
    assert rows.column(0).cast(pa.int64()).to_pylist() == [1_000_000_000, 1_000_001_000, 1_000_002_000]
    assert source.available(split, 0, 0) == 1
    assert source.available(split, 0, 1_000) == 1_001


def test_a_source_of_some_columns_gives_the_same_values() -> None:
    source = datagen("a INT, b STRING, c DOUBLE", number_of_rows="10")
    part = source.projected((2, 0))
    assert part is not None
    whole = read(source, row=row_type("a INT, b STRING, c DOUBLE"))
    assert read(part, row=row_type("c DOUBLE, a INT")) == [(c, a) for a, _, c in whole]


def test_print_writes_flinks_notation(capsys: pytest.CaptureFixture[str]) -> None:
    row = row_type("n INT, s STRING, a ARRAY<DOUBLE>")
    sink = connector_of("print", "t").sink(request("n INT, s STRING, a ARRAY<DOUBLE>", {})).sink
    write(sink, row, [(1, "x", [1.0])], [(2, None, None), (3, "y", [])], kinds=[[0], [3, 2]])
    assert capsys.readouterr().out == "+I[1, x, [1.0]]\n-D[2, null, null]\n+U[3, y, []]\n"
    options = {"print-identifier": "here", "standard-error": "true"}
    sink = connector_of("print", "t").sink(request("n INT", options)).sink
    write(sink, row_type("n INT"), [(1,)], parallelism=2)
    assert capsys.readouterr().err == "here:1> +I[1]\n"


def test_blackhole_takes_all_kinds() -> None:
    table = connector_of("blackhole", "t").sink(request("n INT", {}))
    assert table.mode == ChangelogMode.upserts()
    assert table.mode_for(ChangelogMode.all()) == ChangelogMode.upserts()
    assert table.mode_for(ChangelogMode.inserts()).append_only
    assert table.mode.delete
    write(table.sink, row_type("n INT"), [(1,)], kinds=[[1]])


def test_collected_changes_arrive_once_with_their_kinds() -> None:
    buffer = CollectBuffer(capacity=2, size_of=lambda changes: changes[0].num_rows)
    register_receiver("columns", buffer.receive)
    try:
        write(CollectTableSink("columns"), row_type("n INT"), [(1,), (2,)], [(3,)], kinds=[[0, 3], [2]])
    finally:
        unregister_receiver("columns")
    buffer.finish()
    assert buffer.full is False
    found = [(rows["n"].to_pylist(), [] if kinds is None else kinds.tolist()) for rows, kinds in buffer]
    assert found == [([1, 2], [0, 3]), ([3], [2])]


def test_a_source_of_values_keeps_kinds() -> None:
    source = values_source(row_type("n INT"), [(1,), (2,), (3,)], [0, 1, 2])
    [(rows, kinds)] = source.read_columns(Split("values", 0, 3), 1, 3)
    assert rows["n"].to_pylist() == [2, 3]
    assert kinds is not None
    assert kinds.tolist() == [1, 2]
    assert kinds.dtype == np.int8
