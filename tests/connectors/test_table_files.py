"""The connector 'filesystem': ranges, partitions, metadata, damaged records, rolling, exactly once."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from firesteel.common.errors import ConfigurationError, ConnectorError, UnsupportedError
from firesteel.common.types import Row
from firesteel.connectors.tables.file_source import METADATA
from firesteel.connectors.tables.registry import connector_of
from firesteel.functions.columns.endpoints import ColumnSink, ColumnSource
from firesteel.functions.epoch import EpochFacts
from firesteel.functions.sink import Leftovers, WriterContext
from firesteel.functions.source import Boundedness, Split
from tests.connectors.column_ends import read, read_range, request, row_type, write

COLUMNS = "n INT, s STRING, x DOUBLE"
ROW = row_type(COLUMNS)
JSON = [b'{"n": 1, "s": "a", "x": 1.5}', b'{"s": "\\u00e9", "n": "2"}', b"", b'{"n": 3, "s": "l\xc3\xb6ng"}']
JSON_ROWS = [(1, "a", 1.5), (2, "é", None), (3, "löng", None)]
CSV = b'1,"a\n""b""",1.5\n2,c,2\n3,"x,y",-0.5\n4,plain,4\n5,"\n\n",5\n'
CSV_ROWS = [(1, 'a\n"b"', 1.5), (2, "c", 2.0), (3, "x,y", -0.5), (4, "plain", 4.0), (5, "\n\n", 5.0)]


def source_of(columns: str, path: Path, form: str, **options: str) -> ColumnSource:
    given = {
        "path": str(path),
        "format": form,
        **{key.replace("__", "."): value for key, value in options.items()},
    }
    given = {key.replace("_", "-"): value for key, value in given.items()}
    return connector_of("filesystem", "table 't'").source(request(columns, given)).source


def sink_of(
    columns: str, path: Path, form: str, partitions: list[str] | None = None, **options: str
) -> ColumnSink:
    given = {
        "path": str(path),
        "format": form,
        **{key.replace("__", "."): value for key, value in options.items()},
    }
    given = {key.replace("_", "-"): value for key, value in given.items()}
    return (
        connector_of("filesystem", "table 't'")
        .sink(request(columns, given, partitions=partitions or []))
        .sink
    )


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_json_lines_are_the_same_wherever_they_are_cut(tmp_path: Path, end: bytes) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(end.join(JSON))
    source = source_of(COLUMNS, path, "json")
    [split] = source.splits(frozenset())
    assert split.end == path.stat().st_size
    for cut in range(split.end + 1):
        both = read_range(source, split, 0, cut, ROW) + read_range(source, split, cut, split.end, ROW)
        assert both == JSON_ROWS, cut


@pytest.mark.parametrize(
    ("lines", "rows"),
    [
        (b'{"n": 1,\r "s": "x"}\n{"n": 2}\n', [(1, "x"), (2, None)]),
        (b'{"n": 1, "s": "x\ry"}\n', [(1, "x\ry")]),
        (b'{"n": 1, "s": "x"}\r{"n": 2}\n{"n": 3}\n', [(1, "x"), (3, None)]),
        (b'\r\n{"n": 3}\r', [(3, None)]),
        (b'{"n": 3}\r\r\n', [(3, None)]),
    ],
)
@pytest.mark.parametrize("columns", ["n INT, s STRING", "n INT, s STRING, r ROW<x INT>"])
def test_a_carriage_return_alone_ends_no_line_of_json_as_in_flink(
    tmp_path: Path, columns: str, lines: bytes, rows: list[tuple[Any, ...]]
) -> None:
    (tmp_path / "a.json").write_bytes(lines)
    found = read(source_of(columns, tmp_path, "json"), row=row_type(columns))
    assert [row[:2] for row in found] == rows


def test_csv_records_with_line_ends_are_the_same_wherever_they_are_cut(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(CSV)
    source = source_of(COLUMNS, path, "csv")
    [split] = source.splits(frozenset())
    assert split.end is None
    for cut in range(len(CSV) + 1):
        first = read_range(source, split, 0, cut, ROW)
        assert first + read_range(source, split, cut, 1 << 60, ROW) == CSV_ROWS, cut


@pytest.mark.parametrize(
    "text",
    [b'1,5" pipe,1\n2,"a",2\n', b'1,a"b"c,1\r\n2,"\r\n",2\r\n', b'1, "a",1\n2,"b" ,2\n'],
)
def test_quotes_within_a_field_do_not_hide_the_end_of_a_record(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(text)
    source = source_of(COLUMNS, path, "csv")
    [split] = source.splits(frozenset())
    whole = read_range(source, split, 0, 1 << 60, ROW)
    assert [n for n, *_ in whole] == [1, 2]
    for cut in range(len(text) + 1):
        assert read_range(source, split, 0, cut, ROW) + read_range(source, split, cut, 1 << 60, ROW) == whole


def test_csv_without_quotes_is_read_from_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'1,"a,1\n2,b,2\n')
    source = source_of(COLUMNS, path, "csv", csv__disable_quote_character="true")
    [split] = source.splits(frozenset())
    assert split.end == 13
    for cut in range(14):
        both = read_range(source, split, 0, cut, ROW) + read_range(source, split, cut, 13, ROW)
        assert both == [(1, '"a', 1.0), (2, "b", 2.0)]


def test_compressed_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(b"\n".join(JSON)))
    assert read(source_of(COLUMNS, tmp_path, "json"), row=ROW) == JSON_ROWS
    (tmp_path / "csv").mkdir()
    (tmp_path / "csv" / "a.csv.gz").write_bytes(gzip.compress(CSV))
    assert read(source_of(COLUMNS, tmp_path / "csv", "csv"), row=ROW) == CSV_ROWS


def test_many_lines_are_read_in_blocks(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    lines = [f'{{"n": {number}, "s": "{"x" * 90}"}}' for number in range(60_000)]
    lines[31_000] = '{"n": "31000"}'
    path.write_text("\n".join(lines))
    source = source_of("n INT", path, "json")
    [split] = source.splits(frozenset())
    batches = [rows for rows, _ in source.read_columns(split, 0, split.end or 0)]
    assert [n for rows in batches for n in rows["n"].to_pylist()] == list(range(60_000))
    assert len(batches) > 2
    assert max(rows.num_rows for rows in batches) > 15_000


DAMAGED = [
    ("json", b'{"n": 1}\n{"n": \n{"n": 3}\n', "record 2 after byte 0", "'{\"n\": '"),
    ("json", b'{"n": 1}\n{"n": "x"}\n', "record 2 after byte 0", "field 'n': 'x' is no whole number"),
    ("csv", b"1,a,1\n2,b\n", "record 2 after byte 0", "2 fields where the table has 3"),
    ("csv", b"1,a,1\nx,b,2\n", "record 2 after byte 0", "field 'n': 'x' is no whole number"),
]


@pytest.mark.parametrize(("form", "text", "place", "why"), DAMAGED)
def test_a_damaged_record_is_an_error_that_names_it(
    tmp_path: Path, form: str, text: bytes, place: str, why: str
) -> None:
    path = tmp_path / "a"
    path.write_bytes(text)
    with pytest.raises(ConnectorError) as caught:
        read(source_of(COLUMNS, path, form), row=ROW)
    message = str(caught.value)
    for part in (f"file {path}", place, why, f"'{form}.ignore-parse-errors' = 'true'"):
        assert part in message


@pytest.mark.parametrize(
    ("form", "text", "rows"),
    [
        ("json", b'{"n": 1}\n{"n": \nnull\n{"n": "x", "s": "y"}\n', [(1, None, None), (None, "y", None)]),
        ("csv", b"1,a,1\n2,b\nx,c,3,4\n", [(1, "a", 1.0), (2, "b", None)]),
    ],
)
def test_damaged_records_are_skipped_if_the_table_says_so(
    tmp_path: Path, form: str, text: bytes, rows: list[Any]
) -> None:
    path = tmp_path / "a"
    path.write_bytes(text)
    given = {"path": str(path), "format": form, f"{form}.ignore-parse-errors": "true"}
    source = connector_of("filesystem", "t").source(request(COLUMNS, given)).source
    assert read(source, row=ROW) == rows


@pytest.mark.parametrize("form", ["json", "csv", "parquet"])
def test_what_is_written_is_read_again(tmp_path: Path, form: str) -> None:
    columns = (
        "a INT, b STRING, c DOUBLE, d TIMESTAMP(6), e DECIMAL(10, 2), f ARRAY<INT>, g ROW<x INT, y STRING>"
    )
    row = row_type(columns)
    values = [(1, 'a,"b"\n', 1e10, None, None, [1, 2], (1, "q")), (None, "é", -0.5, None, None, [], (2, "z"))]
    options = {"csv__null_literal": "n/a"} if form == "csv" else {}
    write(sink_of(columns, tmp_path, form, **options), row, values[:1], values[1:])
    found = read(source_of(columns, tmp_path, form, **options), row=row)
    assert [
        tuple(tuple(part) if isinstance(part, Row) else part for part in given) for given in found
    ] == values


def test_metadata_and_partitions_become_columns(tmp_path: Path) -> None:
    columns = "n INT, d DATE, k STRING"
    sink = sink_of(columns, tmp_path, "parquet", ["d", "k"])
    rows = read_values = [(1, "2020-01-02", "a/b"), (2, "2020-01-03", None), (3, "2020-01-02", "a/b")]
    days = pa.array([value[1] for value in rows]).cast(pa.date32()).to_pylist()
    write(sink, row_type(columns), [(n, day, k) for (n, _, k), day in zip(read_values, days, strict=True)])
    names = sorted(str(path.parent.relative_to(tmp_path)) for path in tmp_path.rglob("part-*"))
    assert names == ["d=2020-01-02/k=a%2Fb", "d=2020-01-03/k=__DEFAULT_PARTITION__"]
    part = next((tmp_path / names[0]).iterdir())
    assert pq.read_schema(part).names == ["n"]
    whole = row_type(f"{columns}, `file.name` STRING, `file.size` BIGINT")
    given = {"path": str(tmp_path), "format": "parquet"}
    metadata = {name: METADATA[name] for name in ("file.name", "file.size")}
    asked = request(
        f"{columns}, `file.name` STRING, `file.size` BIGINT", given, metadata, partitions=["d", "k"]
    )
    source = connector_of("filesystem", "t").source(asked).source
    found = sorted(read(source, row=whole))
    assert [values[:3] for values in found] == [
        (1, days[0], "a/b"),
        (2, days[1], None),
        (3, days[0], "a/b"),
    ]
    assert found[0][3:] == (part.name, part.stat().st_size)
    some = source.projected((2, 0))
    assert some is not None
    assert sorted(read(some, row=row_type("k STRING, n INT")), key=str) == [("a/b", 1), ("a/b", 3), (None, 2)]


def test_part_files_of_json_are_open_over_epochs_and_roll_by_size(tmp_path: Path) -> None:
    sink = sink_of("n INT", tmp_path, "json", sink__rolling_policy__file_size="40 b")
    row = row_type("n INT")
    state = write(sink, row, [(1,), (2,)], final=False)
    assert list(tmp_path.glob("part-*")) == []
    assert sink.holds_output_back
    state = write(sink, row, [(3,), (4,), (5,), (6,), (7,)], epoch=2, state=state, final=False)
    [part] = tmp_path.glob("part-*")
    assert part.read_text() == "".join(f'{{"n":{n}}}\n' for n in range(1, 7))
    write(sink, row, epoch=3, state=state)
    assert sorted(path.read_text() for path in tmp_path.glob("part-*"))[1] == '{"n":7}\n'


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_part_files_of_csv_and_parquet_end_with_their_epoch(tmp_path: Path, form: str) -> None:
    sink = sink_of("n INT", tmp_path, form)
    for epoch in (1, 2):
        write(sink, row_type("n INT"), [(epoch,)], epoch=epoch, final=False)
    assert len(list(tmp_path.glob("part-*"))) == 2
    assert not sink.holds_output_back
    assert sorted(read(source_of("n INT", tmp_path, form), row=row_type("n INT"))) == [(1,), (2,)]


def test_rows_keep_their_order_in_the_directories_of_their_partitions(tmp_path: Path) -> None:
    columns = "n INT, a STRING, b INT"
    sink = sink_of(columns, tmp_path, "csv", ["a", "b"])
    keys = [("x", 1), (None, 1), ("", 1), ("x", 2), ("y", 1), ("x", 1), (None, None), ("y", 1), ("", 1)]
    write(sink, row_type(columns), [(place, *key) for place, key in enumerate(keys)])
    none = "__DEFAULT_PARTITION__"
    found = {
        str(path.parent.relative_to(tmp_path)): path.read_text().split() for path in tmp_path.rglob("part-*")
    }
    assert found == {
        "a=x/b=1": ["0", "5"],
        f"a={none}/b=1": ["1", "2", "8"],
        "a=x/b=2": ["3"],
        "a=y/b=1": ["4", "7"],
        f"a={none}/b={none}": ["6"],
    }


def test_an_epoch_that_is_given_up_leaves_nothing(tmp_path: Path) -> None:
    sink = sink_of("n INT", tmp_path, "parquet")
    writer = sink.create_writer(WriterContext("job", "sink", 0, 1, EpochFacts(1, "a", 0)))
    writer.write_columns(pa.RecordBatch.from_pydict({"n": pa.array([1], pa.int32())}), None)
    writer.abort()
    lost = sink.create_writer(WriterContext("job", "sink", 0, 1, EpochFacts(1, "b", 0)))
    lost.write_columns(pa.RecordBatch.from_pydict({"n": pa.array([1], pa.int32())}), None)
    lost.prepare_commit()
    assert read(source_of("n INT", tmp_path, "parquet"), row=row_type("n INT")) == []
    sink.create_committer().discard(Leftovers("job", "sink", 1))
    assert list(tmp_path.iterdir()) == []


def test_a_directory_can_be_watched(tmp_path: Path) -> None:
    source = source_of("n INT", tmp_path, "json", source__monitor_interval="2 s")
    assert source.boundedness is Boundedness.CONTINUOUS_UNBOUNDED
    assert source.discovery_interval == 2000
    (tmp_path / "a").write_text('{"n": 1}')
    [split] = source.splits(frozenset())
    assert isinstance(split, Split)
    assert list(source.splits(frozenset({split.id}))) == []


def test_updates_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="cannot take updates"):
        write(sink_of("n INT", tmp_path, "json"), row_type("n INT"), [(1,)], kinds=[[3]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "json"}, "the option 'path' of connector 'filesystem'"),
        ({"path": "/tmp"}, "the option 'format' of connector 'filesystem'"),
        ({"path": "/tmp", "format": "jsn"}, "'jsn'\n  hint: did you mean 'json'?"),
        ({"path": "/tmp", "format": "json", "json.ignore-parse-error": "true"}, "'json.ignore-parse-errors'"),
        ({"path": "/tmp", "format": "csv", "csv.field-delimiter": "||"}, "one character"),
        ({"path": "/tmp", "format": "csv", "json.ignore-parse-errors": "true"}, "'csv.ignore-parse-errors'"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        connector_of("filesystem", "table 't'").source(request(COLUMNS, options))
    assert message in str(caught.value)


def test_options_that_flink_alone_has_are_refused_by_name(tmp_path: Path) -> None:
    given = {"path": str(tmp_path), "format": "json", "source.path.regex-pattern": ".*"}
    with pytest.raises(UnsupportedError, match=r"source\.path\.regex-pattern"):
        connector_of("filesystem", "table 't'").source(request(COLUMNS, given))


def test_a_type_that_a_format_lacks_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="MAP"):
        source_of("m MAP<STRING, INT>", tmp_path, "csv")
    with pytest.raises(UnsupportedError, match="MAP"):
        sink_of("m MAP<STRING, INT>", tmp_path, "csv")
    with pytest.raises(UnsupportedError, match="keys must be text"):
        source_of("m MAP<INT, INT>", tmp_path, "json")
