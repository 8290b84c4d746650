"""PyFlink's own way to files and messages, on top of the connectors."""

from __future__ import annotations

import datetime as dt
import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any

import cloudpickle
import pytest

from firesteel.common import Duration, Encoder, Row, Types
from firesteel.common.errors import (
    ConfigurationError,
    FiresteelError,
    ProgramError,
    TypeMismatchError,
    UnsupportedError,
)
from firesteel.connectors.files.sink import BucketAssigner as EngineBucketAssigner
from firesteel.datastream.connectors import Sink, Source
from firesteel.datastream.connectors.file_system import (
    BucketAssigner,
    FileCompactor,
    FileCompactStrategy,
    FileEnumeratorProvider,
    FileSink,
    FileSource,
    FileSplitAssignerProvider,
    OutputFileConfig,
    RollingPolicy,
    StreamFormat,
    StreamingFileSink,
)
from firesteel.datastream.formats.avro import AvroSchema
from firesteel.datastream.formats.csv import (
    CsvBulkWriters,
    CsvReaderFormat,
    CsvRowDeserializationSchema,
    CsvRowSerializationSchema,
    CsvSchema,
)
from firesteel.datastream.formats.json import JsonRowDeserializationSchema, JsonRowSerializationSchema
from firesteel.datastream.formats.parquet import (
    AvroParquetReaders,
    ParquetBulkWriters,
    ParquetColumnarRowInputFormat,
)
from firesteel.functions.epoch import EpochFacts
from firesteel.functions.sink import WriterContext
from firesteel.functions.source import UNLIMITED, Boundedness

SN = Types.ROW_NAMED(["s", "n"], [Types.STRING(), Types.LONG()])


def records(source: Source[Any]) -> list[Any]:
    found = []
    for split in source.splits(frozenset()):
        end = UNLIMITED if split.end is None else split.end
        found.extend(record for batch in source.read(split, split.start, end) for record in batch)
    return found


def write(sink: Sink[Any], values: list[Any], type_info: Any = None) -> None:
    sink = pickle.loads(cloudpickle.dumps(sink.for_type(type_info)))
    writer = sink.create_writer(WriterContext("j", "o", 0, 1, EpochFacts(1, "a", 0, final=True)))
    writer.write(values, None)
    sink.create_committer().commit(writer.prepare_commit())


def test_text_files(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("é\nb\n", "latin-1")
    source = (
        FileSource.for_record_stream_format(StreamFormat.text_line_format("ISO-8859-1"), str(tmp_path))
        .set_file_enumerator(FileEnumeratorProvider.default_non_splittable_file_enumerator())
        .set_split_assigner(FileSplitAssignerProvider.locality_aware_split_assigner())
        .process_static_file_set()
        .build()
    )
    assert source.boundedness is Boundedness.BOUNDED
    assert source.produced_type == Types.STRING()
    assert records(source) == ["é", "b"]


def test_watching() -> None:
    builder = FileSource.for_record_stream_format(StreamFormat.text_line_format(), "/tmp")
    source = builder.monitor_continuously(Duration.of_seconds(3)).build()
    assert source.boundedness is Boundedness.CONTINUOUS_UNBOUNDED
    assert source.discovery_interval == 3000


def test_row_sink(tmp_path: Path) -> None:
    names = OutputFileConfig.builder().with_part_prefix("pre").with_part_suffix(".suf").build()
    sink = (
        FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder())
        .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
        .with_output_file_config(names)
        .with_rolling_policy(RollingPolicy.default_rolling_policy(1024, 10, 10))
        .with_bucket_check_interval(1000)
        .disable_compact()
        .build()
    )
    write(sink, [("a", 1), ("b", 2)], Types.TUPLE([Types.STRING(), Types.INT()]))
    [file] = tmp_path.iterdir()
    assert file.name.startswith("pre-")
    assert file.suffix == ".suf"
    assert file.read_text() == "(a,1)\n(b,2)\n"


def test_an_encoder_and_an_assigner_of_ones_own(tmp_path: Path) -> None:
    class Semicolons(Encoder):
        def encode(self, value: Any, type_info: Any = None) -> bytes:
            return f"{value};".encode()

    class ByValue(BucketAssigner):
        def get_bucket_id(self, value: Any, timestamp: int | None, processing_time: int) -> str:
            return f"v{value}"

    assert issubclass(ByValue, EngineBucketAssigner)
    builder = FileSink.for_row_format(str(tmp_path), Semicolons("utf-8"))
    write(builder.with_bucket_assigner(ByValue()).build(), [1, 2, 1])
    found = {file.parent.name: file.read_text() for file in tmp_path.rglob("part-*")}
    assert found == {"v1": "1;1;", "v2": "2;"}


@pytest.mark.parametrize(
    ("compactor", "files"),
    [
        (FileCompactor.concat_file_compactor(b"-"), ["0\n-1\n-2\n"]),
        (FileCompactor.concat_file_compactor(), ["0\n1\n2\n"]),
        (FileCompactor.identical_file_compactor(), ["0\n", "1\n", "2\n"]),
    ],
)
def test_small_files_are_compacted(tmp_path: Path, compactor: FileCompactor, files: list[str]) -> None:
    strategy = FileCompactStrategy.builder().enable_compaction_on_checkpoint(100).build()
    builder = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder())
    builder.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
    builder.with_rolling_policy(RollingPolicy.default_rolling_policy(part_size=1))
    write(builder.enable_compact(strategy, compactor).build(), [0, 1, 2])
    found = sorted(tmp_path.glob("compacted-part-*"), key=lambda path: int(path.name.rsplit("-", 1)[1]))
    assert [path.read_text() for path in found] == files


def test_a_strategy_needs_a_condition() -> None:
    with pytest.raises(ConfigurationError, match="at least one condition"):
        FileCompactStrategy.builder().set_size_threshold(-1).build()
    with pytest.raises(ConfigurationError, match="checkpoints of at least 1; got 0"):
        FileCompactStrategy.builder().enable_compaction_on_checkpoint(0)


def test_bulk_sinks_end_parts_with_the_epoch(tmp_path: Path) -> None:
    builder = FileSink.for_bulk_format(str(tmp_path), ParquetBulkWriters.for_row_type(SN))
    with pytest.raises(ValueError, match="must be OnCheckpointRollingPolicy for bulk format"):
        builder.with_rolling_policy(RollingPolicy.default_rolling_policy())
    policy = RollingPolicy.on_checkpoint_rolling_policy()
    sink = builder.with_rolling_policy(policy).with_bucket_assigner(
        BucketAssigner.base_path_bucket_assigner()
    )
    write(sink.build(), [Row("a", 1), Row("b", None)])
    source = FileSource.for_bulk_file_format(ParquetColumnarRowInputFormat(SN), str(tmp_path)).build()
    assert source.produced_type == SN
    assert records(source) == [Row(s="a", n=1), Row(s="b", n=None)]


def test_the_older_sink_warns(tmp_path: Path) -> None:
    builder = StreamingFileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder())
    with pytest.warns(DeprecationWarning, match="Use FileSink instead"):
        sink = builder.build()
    write(sink, ["a"])
    assert [file.read_text() for file in tmp_path.rglob("part-*")] == ["a\n"]


def test_csv_files(tmp_path: Path) -> None:
    schema = (
        CsvSchema.builder()
        .add_number_column("id", number_type=Types.INT())
        .add_columns_from(CsvSchema.builder().add_string_column("name").build())
        .add_array_column("list", "#", element_type=Types.INT())
        .add_boolean_column("ok")
        .set_column_separator("|")
        .set_escape_char("\\")
        .set_use_header()
        .set_strict_headers()
        .build()
    )
    assert schema.size() == len(schema) == 4
    rows = [Row(1, "a|b", [1, 2], True), Row(2, 'c"\\d', [], False)]
    base = BucketAssigner.base_path_bucket_assigner()
    write(
        FileSink.for_bulk_format(str(tmp_path), CsvBulkWriters.for_schema(schema))
        .with_bucket_assigner(base)
        .build(),
        rows,
    )
    source = FileSource.for_record_stream_format(CsvReaderFormat.for_schema(schema), str(tmp_path)).build()
    assert records(source) == [
        Row(id=1, name="a|b", list=[1, 2], ok=True),
        Row(id=2, name='c"\\d', list=[], ok=False),
    ]


def test_csv_schema_changes() -> None:
    builder = CsvSchema.builder().add_array_column("a").add_array_column("b", ",").add_string_column("c")
    assert len(builder) == builder.size() == 3
    builder.set_array_element_separator("#").remove_array_element_separator(1)
    assert builder.build().dialect.array_delimiters == ("#", "", "")
    assert builder.disable_array_element_separator().build().dialect.array_delimiters == ("", "", "")
    assert builder.clear_columns().size() == 0
    with pytest.raises(ProgramError, match="CsvSchema requires at least one column"):
        CsvReaderFormat.for_schema(builder.build())
    with pytest.raises(ValueError, match="Column separator must be a single char"):
        builder.set_column_separator(";;")
    with pytest.raises(UnsupportedError, match="set_any_property_name"):
        builder.set_any_property_name("rest")


def test_csv_rows() -> None:
    row_type = Types.ROW([Types.STRING(), Types.LONG(), Types.BASIC_ARRAY(Types.STRING())])
    writer = CsvRowSerializationSchema.Builder(row_type)
    writer.set_field_delimiter("|").set_null_literal("NULL").set_line_delimiter(
        ""
    ).set_array_element_delimiter(",")
    writing = pickle.loads(pickle.dumps(writer.build()))
    assert writing.serialize(Row("a|b", None, ["x", "y"])) == b'"a|b"|NULL|"x,y"'
    reader = CsvRowDeserializationSchema.Builder(row_type)
    reader.set_field_delimiter("|").set_null_literal("NULL").set_array_element_delimiter(",")
    reading = pickle.loads(pickle.dumps(reader.build()))
    assert reading.get_produced_type() == row_type
    assert reading.deserialize(b'"a|b"|NULL|"x,y"\n') == Row(f0="a|b", f1=None, f2=["x", "y"])
    for message in (b"a|1", b"a|x|", b""):
        with pytest.raises(TypeMismatchError, match="CSV requires"):
            reading.deserialize(message)
    lenient = reader.set_ignore_parse_errors(True).set_allow_comments(True).build()
    assert lenient.deserialize(b"a|x") == Row(f0="a", f1=None, f2=None)
    assert lenient.deserialize(b"a|1||") is None
    assert lenient.deserialize(b"# a|1|") is None


def test_csv_rows_as_flink_writes_them() -> None:
    fields = {
        "i": (Types.INT(), 1),
        "s": (Types.STRING(), 'a,"b'),
        "d": (Types.DOUBLE(), 1e10),
        "f": (Types.FLOAT(), None),
        "b": (Types.BOOLEAN(), True),
        "dt": (Types.SQL_DATE(), dt.date(2020, 1, 2)),
        "t": (Types.SQL_TIME(), dt.time(3, 4, 5)),
        "ts": (Types.SQL_TIMESTAMP(), dt.datetime(2020, 1, 2, 3, 4, 5, 678_000)),
        "a": (Types.BASIC_ARRAY(Types.STRING()), ["x", "y z"]),
        "dec": (Types.BIG_DEC(), Decimal("1.500")),
    }
    row_type = Types.ROW_NAMED(list(fields), [type_info for type_info, _ in fields.values()])
    writing = CsvRowSerializationSchema.Builder(row_type).build()
    given = Row(**{name: value for name, (_, value) in fields.items()})
    expected = b'1,"a,""b",1.0E10,,true,2020-01-02,03:04:05,"2020-01-02 03:04:05.678","x;y z",1.500\n'
    assert writing.serialize(given) == expected
    assert (
        CsvRowDeserializationSchema.Builder(row_type).set_null_literal("").build().deserialize(expected)
        == given
    )


JSON_TYPES = {
    "i": (Types.INT(), 1, "1"),
    "s": (Types.STRING(), 'é"', '"é\\""'),
    "d": (Types.DOUBLE(), 0.5, "0.5"),
    "b": (Types.BOOLEAN(), True, "true"),
    "dec": (Types.BIG_DEC(), Decimal("1.500"), "1.500"),
    "day": (Types.SQL_DATE(), dt.date(2020, 1, 2), '"2020-01-02"'),
    "t": (Types.SQL_TIME(), dt.time(3, 4, 5), '"03:04:05Z"'),
    "at": (Types.SQL_TIMESTAMP(), dt.datetime(2020, 1, 2, 3, 4, 5, 120_000), '"2020-01-02T03:04:05.12Z"'),
    "raw": (Types.PRIMITIVE_ARRAY(Types.BYTE()), b"\x00\xff", '"AP8="'),
    "l": (Types.LIST(Types.LONG()), [1, 2], "[1,2]"),
    "m": (Types.MAP(Types.STRING(), Types.INT()), {"k": 1}, '{"k":1}'),
    "r": (Types.ROW_NAMED(["x"], [Types.STRING()]), Row(x="y"), '{"x":"y"}'),
    "none": (Types.STRING(), None, "null"),
}


def test_json_rows() -> None:
    row_type = Types.ROW_NAMED(list(JSON_TYPES), [type_info for type_info, _, _ in JSON_TYPES.values()])
    row = Row(**{name: value for name, (_, value, _) in JSON_TYPES.items()})
    text = "{" + ",".join(f'"{name}":{shown}' for name, (_, _, shown) in JSON_TYPES.items()) + "}"
    writing = pickle.loads(
        pickle.dumps(JsonRowSerializationSchema.builder().with_type_info(row_type).build())
    )
    assert writing.serialize(row) == text.encode()
    reading = pickle.loads(pickle.dumps(JsonRowDeserializationSchema.builder().type_info(row_type).build()))
    assert reading.deserialize(text.encode()) == row
    assert reading.get_produced_type() == row_type


def test_json_errors() -> None:
    builder = JsonRowDeserializationSchema.builder().type_info(SN)
    reading = builder.build()
    assert reading.deserialize(b'{"s":{"x":1},"n":1.9}') == Row(s='{"x":1}', n=1)
    assert reading.deserialize(b'{"n":" 7 ","other":0}') == Row(s=None, n=7)
    for message in (b"xx", b"[1]", b'{"n":"x"}', b'{"n":true}'):
        with pytest.raises(TypeMismatchError, match="JSON requires"):
            reading.deserialize(message)
    lenient = builder.ignore_parse_errors().build()
    assert lenient.deserialize(b"xx") is None
    assert lenient.deserialize(b'{"n":"x","s":"q"}') == Row(s="q", n=None)
    strict = JsonRowDeserializationSchema.builder().type_info(SN).fail_on_missing_field().build()
    with pytest.raises(TypeMismatchError, match="requires a field 's'"):
        strict.deserialize(b'{"n":1}')
    with pytest.raises(ValueError, match="both true"):
        builder.fail_on_missing_field().build()
    with pytest.raises(TypeError, match="Typeinfo should be set"):
        JsonRowSerializationSchema.builder().build()


def test_json_schema() -> None:
    schema = """{"type": "object", "definitions": {"t": {"type": "string", "format": "date-time"}},
        "properties": {"a": {"type": "integer"}, "b": {"type": ["number", "null"]}, "c": {"$ref": "#/definitions/t"},
        "d": {"type": "array", "items": {"type": "string"}}, "e": {"type": "array", "items": [{"type": "boolean"}]},
        "f": {"type": "string", "contentEncoding": "base64"}}}"""
    reading = JsonRowDeserializationSchema.builder().json_schema(schema).build()
    assert reading.get_produced_type() == Types.ROW_NAMED(
        ["a", "b", "c", "d", "e", "f"],
        [
            Types.BIG_DEC(),
            Types.BIG_DEC(),
            Types.SQL_TIMESTAMP(),
            Types.BASIC_ARRAY(Types.STRING()),
            Types.ROW([Types.BOOLEAN()]),
            Types.PRIMITIVE_ARRAY(Types.BYTE()),
        ],
    )
    for wrong in (
        '{"type": "object"}',
        '{"type": ["string", "integer"]}',
        '{"$ref": "#/none"}',
        '{"$ref": "x"}',
    ):
        with pytest.raises(ProgramError, match="the JSON schema requires"):
            JsonRowDeserializationSchema.builder().json_schema(wrong)


def test_avro_schemas_are_parsed(tmp_path: Path) -> None:
    (tmp_path / "a.avsc").write_text('{"type": "string"}')
    schema = AvroSchema.parse_file(str(tmp_path / "a.avsc"))
    assert str(schema) == '{"type":"string"}'
    with pytest.raises(ProgramError, match="AvroSchema requires JSON"):
        AvroSchema.parse_string("{")
    with pytest.raises(ProgramError, match="AvroParquetReaders requires a schema of records; got string"):
        AvroParquetReaders.for_generic_record(schema)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: FileSource.for_record_stream_format("text", "/tmp"),  # type: ignore[arg-type]
        lambda: FileSink.for_row_format("/tmp", "utf-8"),  # type: ignore[arg-type]
        lambda: FileSink.for_bulk_format("/tmp", "csv"),  # type: ignore[arg-type]
        lambda: ParquetBulkWriters.for_row_type(Types.STRING()),
        lambda: FileSource.for_record_stream_format(StreamFormat.text_line_format()).build(),
    ],
)
def test_wrong_arguments(wrong: Any) -> None:
    with pytest.raises(FiresteelError, match="requires a"):
        wrong()
