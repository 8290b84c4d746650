from __future__ import annotations

import datetime as dt
import gzip
import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.common import Row, Types
from firesteel.common.errors import ConfigurationError, ConnectorError, TypeMismatchError, UnsupportedError
from firesteel.connectors.files import parquet_reading
from firesteel.connectors.files.csv_files import CsvParts, csv_format
from firesteel.connectors.files.format import WAITING, FileFormat
from firesteel.connectors.files.json_lines import JsonLinesFormat
from firesteel.connectors.files.parquet_files import ParquetColumns, ParquetFormat, ParquetParts
from firesteel.connectors.files.sink import BasePathBuckets, FileSink, RollingPolicy
from firesteel.connectors.files.source import FileSource
from firesteel.formats.csv import CsvDialect
from firesteel.functions.epoch import EpochFacts
from firesteel.functions.sink import WriterContext
from firesteel.functions.source import END_OF_SPLIT, UNLIMITED

SN = Types.ROW_NAMED(["s", "n"], [Types.STRING(), Types.LONG()])


def read(path: Path, format: FileFormat[Any], step: int = UNLIMITED, **options: Any) -> list[Any]:
    """All records, read in ranges of `step`."""
    source = pickle.loads(pickle.dumps(FileSource([path], format, **options)))
    found = []
    for split in source.splits(frozenset()):
        position, end = split.start, UNLIMITED if split.end is None else split.end
        while position < end:
            batches = source.read(split, position, min(position + step, end))
            position = min(position + step, end)
            while True:
                try:
                    found.extend(next(batches))
                except StopIteration as stop:
                    if stop.value is END_OF_SPLIT:
                        position = end
                    break
    return found


def written(path: Path, format: Any, *epochs: list[Any], rolling: RollingPolicy | None = None) -> list[Path]:
    sink = FileSink(path, format, BasePathBuckets(), rolling or RollingPolicy.on_epoch())
    sink, state = pickle.loads(pickle.dumps(sink)), None
    for number, values in enumerate(epochs, 1):
        final = number == len(epochs)
        writer = sink.create_writer(
            WriterContext("j", "o", 0, 1, EpochFacts(number, f"a{number}", 0, final), state)
        )
        try:
            writer.write(values, None)
            sink.create_committer().commit(writer.prepare_commit())
        except TypeMismatchError:
            writer.abort()
            raise
        state = writer.snapshot_state()
    return sorted(path.iterdir(), key=lambda file: int(file.name.rsplit("-", 1)[1]))


@pytest.fixture(autouse=True)
def _no_waiting_readers():
    yield
    WAITING.clear()


def csv_of(tmp_path: Path, text: str, row_type: Any = SN, step: int = UNLIMITED, **dialect: Any) -> list[Row]:
    path = tmp_path / "in.csv"
    path.write_bytes(text.encode())
    return read(path, csv_format(row_type, CsvDialect(**dialect)), step)


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("a,1\nb, 2 \n", {}, [("a", 1), ("b", 2)]),
        (",1\n", {}, [("", 1)]),
        ('"a, ""x""\nz",1\n', {}, [('a, "x"\nz', 1)]),
        ('a"b,1', {}, [('a"b', 1)]),
        (" a ,1\n", {}, [(" a ", 1)]),
        ("a,1\rb,2\r\nc,3", {}, [("a", 1), ("b", 2), ("c", 3)]),
        ("NULL,NULL\n", {"null_literal": "NULL"}, [(None, None)]),
        ("s,n\na,1\n", {"header": True, "strict_header": True}, [("a", 1)]),
        ("x,y\na,1\n", {"header": True}, [("a", 1)]),
        ("x,y\na,1\n", {"skip_first_row": True}, [("a", 1)]),
        ("s,n\nx,0\na,1\n", {"header": True, "skip_first_row": True}, [("a", 1)]),
        ("#x\na,1\n", {"comments": True}, [("a", 1)]),
        ("a\\,b,1\n", {"escape": "\\"}, [("a,b", 1)]),
        ('"a|1\nb"|2\n', {"delimiter": "|", "quote": None}, [('"a', 1), ('b"', 2)]),
        ("", {}, []),
        ("s,n\n", {"header": True}, []),
    ],
)
@pytest.mark.parametrize("step", [1, 3, UNLIMITED])
def test_csv_is_read_as_flink_does(tmp_path: Path, text: str, options: Any, expected: Any, step: int) -> None:
    assert csv_of(tmp_path, text, step=step, **options) == [Row(s=s, n=n) for s, n in expected]


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("a,1\nb,\n", r"record 2 fits the schema; got '' \("),
        ("a\n", "record 1 fits .* got 1 fields instead of 2"),
        ("a,1\n\nb,2\n", "record 2 fits .* got 0 fields instead of 2"),
        ("a,1,zz\n", "record 1 fits .* got 3 fields instead of 2"),
        ("a,1.7\n", "got '1.7'"),
        ("a,1_000\n", "got '1_000'"),
        (f"a,{2**63}\n", "has more than 64 bits"),
    ],
)
@pytest.mark.parametrize("quote", ['"', None])
def test_csv_that_does_not_fit(tmp_path: Path, text: str, got: str, quote: str | None) -> None:
    if quote is None:
        got = got.replace("record 2 fits", "record 2 after byte 0 fits").replace(
            "1 fits", "1 after byte 0 fits"
        )
    with pytest.raises(ConnectorError, match=rf"in\.csv requires that .*{got}"):
        csv_of(tmp_path, text, quote=quote)


def test_csv_header_that_does_not_fit(tmp_path: Path) -> None:
    with pytest.raises(
        ConnectorError, match="requires a header with the columns s, n in this order; got n, s"
    ):
        csv_of(tmp_path, "n,s\n1,a\n", header=True, strict_header=True)


def test_csv_types(tmp_path: Path) -> None:
    types = {
        "b": Types.BOOLEAN(),
        "d": Types.DOUBLE(),
        "dec": Types.BIG_DEC(),
        "day": Types.SQL_DATE(),
        "at": Types.SQL_TIMESTAMP(),
        "l": Types.LIST(Types.INT()),
        "t": Types.BASIC_ARRAY(Types.STRING()),
    }
    row_type = Types.ROW_NAMED(list(types), list(types.values()))
    text = "TRUE,1e3,1.50,2020-01-31,2020-01-31 23:59:59.5,1#2,a;;b\nx,-0.5,2,2020-02-01,2020-02-01T00:00,,\n"
    at = dt.datetime(2020, 1, 31, 23, 59, 59, 500_000)
    first = (True, 1000.0, Decimal("1.50"), at.date(), at, [1, 2], ["a", "", "b"])
    second = (False, -0.5, Decimal(2), dt.date(2020, 2, 1), dt.datetime(2020, 2, 1), [], [])
    assert csv_of(tmp_path, text, row_type, array_delimiters=(*(";",) * 5, "#", ";")) == [
        Row(**dict(zip(types, values, strict=True))) for values in (first, second)
    ]
    with pytest.raises(UnsupportedError, match="the type MAP is not supported in CSV"):
        csv_of(tmp_path, "x", Types.ROW([Types.MAP(Types.STRING(), Types.STRING())]))


def test_csv_without_line_ends_in_fields_is_read_in_parallel(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("".join(f'"x, {number}",{number}\n' for number in range(1000)))
    lines = csv_format(SN, newlines_in_fields=False)
    assert len(list(FileSource([path], lines, split_size=1000).splits(frozenset()))) > 10
    assert [row.n for row in read(path, lines, 77, split_size=1000)] == list(range(1000))
    assert len(list(FileSource([path], csv_format(SN), split_size=1000).splits(frozenset()))) == 1


def test_csv_compressed(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b'"a\nb",1\nc,2\n'))
    assert read(path, csv_format(SN), 1) == [Row(s="a\nb", n=1), Row(s="c", n=2)]


@pytest.mark.parametrize(
    ("values", "dialect", "expected"),
    [
        (
            [
                ("a", 1),
                ("a,b", 2),
                ('q"x', 3),
                (None, None),
                ("", 5),
                (" sp ", 6),
                ("l\nm", 7),
                ("é", 8),
                ("x'#", 9),
            ],
            {},
            'a,1\n"a,b",2\n"q""x",3\n,\n,5\n" sp ",6\n"l\nm",7\né,8\n"x\'#",9\n',
        ),
        ([("a", 1)], {"header": True}, "s,n\na,1\n"),
        ([(None, None)], {"null_literal": "NULL", "line_end": "\r\n", "delimiter": "|"}, "NULL|NULL\r\n"),
        ([("a,b", 1)], {"quote": None}, "a,b,1\n"),
        ([("a\\b", 5), ('a,"b', 6)], {"escape": "\\"}, '"a\\\\b",5\n"a,""b",6\n'),
        ([("A" * 24, 1), ("A" * 25, 2), ("-./", 3)], {}, f'{"A" * 24},1\n"{"A" * 25}",2\n-./,3\n'),
        ([("abc", 1), ("~", 4)], {"delimiter": "|"}, '"abc"|1\n~|4\n'),
    ],
)
def test_csv_is_written_as_flink_does(tmp_path: Path, values: Any, dialect: Any, expected: str) -> None:
    [file] = written(tmp_path, CsvParts(SN, CsvDialect(**dialect)), [Row(s=s, n=n) for s, n in values])
    assert file.read_bytes().decode() == expected


def test_csv_arrays_and_doubles_are_written_as_flink_does(tmp_path: Path) -> None:
    row_type = Types.ROW([Types.BASIC_ARRAY(Types.STRING()), Types.DOUBLE()])
    [file] = written(tmp_path, CsvParts(row_type), [Row(["a", "b,c"], 1.5), Row([], 1e10)])
    assert file.read_text() == '"a;b,c",1.5\n,1.0E10\n'


def test_csv_part_of_several_epochs_has_one_header(tmp_path: Path) -> None:
    parts = CsvParts(SN, CsvDialect(header=True))
    [file] = written(tmp_path, parts, [Row("a", 1)], [Row("b", 2)], [], rolling=RollingPolicy.default())
    assert file.read_text() == "s,n\na,1\nb,2\n"


rows = st.lists(
    st.tuples(st.text(st.sampled_from('ab,"\n\r\\é '), max_size=30), st.integers(-(2**63), 2**63 - 1))
)


@given(
    rows=rows, escape=st.sampled_from([None, "\\"]), delimiter=st.sampled_from(",|\t"), step=st.integers(1, 9)
)
@settings(max_examples=80, deadline=None)
def test_csv_round_trip(tmp_path_factory: Any, rows: Any, escape: Any, delimiter: str, step: int) -> None:
    path = tmp_path_factory.mktemp("csv")
    dialect = CsvDialect(escape=escape, delimiter=delimiter)
    given = [Row(s=s, n=n) for s, n in rows]
    files = written(path, CsvParts(SN, dialect), given)
    assert [row for file in files for row in read(file, csv_format(SN, dialect), step)] == given


def test_csv_options() -> None:
    with pytest.raises(ConfigurationError, match="CSV requires a delimiter of one character; got ';;'"):
        CsvDialect(delimiter=";;")


def test_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a": [1, 2.5, null]}\r\n\n"é"\n12345678901234567890\ntrue')
    for step in (1, 7, UNLIMITED):
        assert read(path, JsonLinesFormat(), step, split_size=9) == [
            {"a": [1, 2.5, None]},
            "é",
            12345678901234567890,
            True,
        ]


def test_json_lines_of_a_type(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"n": "7", "s": 1.50, "x": 1}\n{"n": 1.9}\n')
    assert read(path, JsonLinesFormat(SN)) == [Row(s="1.50", n=7), Row(s=None, n=1)]


def test_json_line_that_does_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"n": 1}\n{"n": oops}\n')
    with pytest.raises(
        ConnectorError, match=r"requires JSON that fits on the line at byte 9; got '{\"n\": oops}'"
    ):
        read(path, JsonLinesFormat())
    path.write_text('{"n": 1}\n{"n": "x"}\n')
    with pytest.raises(ConnectorError, match=r"at byte 9; got .* a whole number of 64 bits; got x"):
        read(path, JsonLinesFormat(SN))
    path.write_text('{"n": 1}\nnull\n')
    with pytest.raises(ConnectorError, match=r"at byte 9; got 'null' .* requires an object"):
        read(path, JsonLinesFormat(SN))


NESTED = Types.ROW_NAMED(
    ["i", "s", "d", "l", "m", "r", "b", "t", "dec"],
    [
        Types.INT(),
        Types.STRING(),
        Types.DOUBLE(),
        Types.LIST(Types.LONG()),
        Types.MAP(Types.STRING(), Types.INT()),
        Types.ROW_NAMED(["x"], [Types.SQL_DATE()]),
        Types.PRIMITIVE_ARRAY(Types.BYTE()),
        Types.SQL_TIMESTAMP(),
        Types.BIG_DEC(),
    ],
)


def nested(number: int) -> Row:
    return Row(
        i=number,
        s=None if number % 3 else f"é{number}",
        d=number / 4,
        l=[number, 2],
        m={"k": number},
        r=Row(x=dt.date(2020, 1, 1 + number % 28)),
        b=b"\x00\xff",
        t=dt.datetime(2020, 1, 1, 1, 2, 3, 4000),
        dec=Decimal(number),
    )


@pytest.mark.parametrize("step", [7, 1000, UNLIMITED])
def test_parquet_round_trip(tmp_path: Path, step: int) -> None:
    given = [nested(number) for number in range(100)]
    [first, second] = written(tmp_path, ParquetParts(NESTED), given[:60], given[60:])
    assert [*read(first, ParquetFormat(NESTED), step), *read(second, ParquetFormat(NESTED), step)] == given


def test_parquet_parts_of_several_epochs_are_joined(tmp_path: Path) -> None:
    given = [Row(s=str(number), n=number) for number in range(10)]
    [file] = written(tmp_path, ParquetParts(SN), given[:4], given[4:], [], rolling=RollingPolicy.default())
    assert read(file, ParquetFormat()) == given


def test_parquet_is_split_by_row_groups(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"n": range(1000), "s": [str(n) for n in range(1000)]}), path, row_group_size=100)
    source = FileSource([path], ParquetFormat(batch_size=64), split_size=2500)
    splits = list(source.splits(frozenset()))
    assert len(splits) > 2
    assert sum(split.end for split in splits) == 1000
    for step in (1, 33, UNLIMITED):
        found = read(path, ParquetFormat(batch_size=64), step, split_size=2500)
        assert found == [Row(n=n, s=str(n)) for n in range(1000)]
    assert read(path, ParquetFormat(Types.ROW_NAMED(["s"], [Types.STRING()])))[-1] == Row(s="999")
    forgotten = list(source.read(splits[1], 150, 152))
    WAITING.clear()
    assert list(source.read(splits[1], 150, 152)) == forgotten


@pytest.mark.parametrize(("length", "rows"), [(1, 40_000), (1000, 16_000)])
def test_parquet_batches_of_long_rows_have_fewer(
    length: int, rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_reading, "_BATCH_BYTES", 16 << 20)
    path = tmp_path / "a.parquet"
    texts = pa.table(
        {"s": [f"{number:0{length}}" for number in range(40_000)], "other": ["x" * length] * 40_000}
    )
    pq.write_table(texts, path, use_dictionary=False)
    source = FileSource([path], ParquetColumns(pa.schema({"s": pa.string()})))
    [split] = source.splits(frozenset())
    found = [batch for batches in source.read(split, split.start, split.end) for batch in batches]
    assert rows * 0.9 < max(batch.num_rows for batch in found) <= rows * 1.1
    assert pa.Table.from_batches(found).equals(texts.select(["s"]))


def test_parquet_that_does_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"n": [2**40]}), path)
    with pytest.raises(ConnectorError, match="requires the columns s; got the columns n"):
        read(path, ParquetFormat(SN))
    with pytest.raises(ConnectorError, match=r"a\.parquet requires a Parquet file that is whole; got"):
        read(path, ParquetFormat(Types.ROW_NAMED(["n"], [Types.INT()])))
    path.write_text("no parquet")
    with pytest.raises(ConnectorError, match=r"a\.parquet requires a Parquet file that is whole; got"):
        read(path, ParquetFormat())
    with pytest.raises(TypeMismatchError):
        written(tmp_path / "out", ParquetParts(SN), [Row(s="a", n="x")])
