"""The connector 'filesystem': files of a directory as a table (Flink: FileSystemTableFactory)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from firesteel.common.errors import ConfigurationError, UnsupportedError
from firesteel.common.logical_types import RowType
from firesteel.connectors.files.format import FileFormat
from firesteel.connectors.files.sink.compaction import Compaction
from firesteel.connectors.files.sink.rolling import RollingPolicy
from firesteel.connectors.files.systems import absolute
from firesteel.connectors.tables import lookup_options, partition_commit
from firesteel.connectors.tables.avro_files import AvroFileFormat
from firesteel.connectors.tables.changes.formats import CHANGE_FORMATS
from firesteel.connectors.tables.file_formats import CsvFormat, JsonFormat, ParquetFormat, Rows, TableFormat
from firesteel.connectors.tables.file_partitions import FilePartitions
from firesteel.connectors.tables.file_sink import FileTableSink
from firesteel.connectors.tables.file_source import METADATA, FileColumn, FileTableSource
from firesteel.connectors.tables.options import (
    PARALLELISM,
    Listed,
    Options,
    duration,
    size,
    suggestion,
    text,
    truth,
)
from firesteel.connectors.tables.orc_files import OrcFileFormat
from firesteel.connectors.tables.overwriting import remove_visible
from firesteel.connectors.tables.raw_files import RawFileFormat
from firesteel.connectors.tables.source_lookup import SourceLookup
from firesteel.functions.columns.connectors import TableConnector, TableRequest, TableSink, TableSource
from firesteel.functions.columns.lookups import LookupCalls, LookupTable

_PATH: Final = text(
    "path",
    "A file, a directory, a pattern such as `logs/*.gz`, or a URL such as `s3://bucket/path`.",
    "a path",
).needed()
_FORMAT: Final = text(
    "format", "How rows are stored in the files; its options are below.", "the name of a format"
).needed()
_DEFAULT_NAME: Final = text(
    "partition.default-name", "The name of the partition of rows whose value is NULL or empty."
).by_default("__DEFAULT_PARTITION__")
_MONITOR: Final = duration(
    "source.monitor-interval",
    "How often new files are looked for. Without it the table has the files that are there, and ends.",
)
_REFUSED: Final = text("source.path.regex-pattern", "Refused: a pattern in `path` says which files are read.")
_FILE_SIZE: Final = size(
    "sink.rolling-policy.file-size", "The size at which a part file ends (json, raw, and formats of changes)."
).by_default("128 mb")
_ROLLOVER: Final = duration(
    "sink.rolling-policy.rollover-interval", "How long such a part file is open at most."
).by_default("30 min")
_INACTIVITY: Final = duration(
    "sink.rolling-policy.inactivity-interval", "How long such a part file stays open without new rows."
).by_default("30 min")
_CHECK: Final = duration(
    "sink.rolling-policy.check-interval",
    "Changes nothing: the two intervals are looked at when they are due.",
)
_SHUFFLE: Final = truth(
    "sink.shuffle-by-partition.enable",
    "Whether one subtask writes all rows of a partition, so that files are fewer.",
).by_default("false")
_COMPACT: Final = truth(
    "auto-compaction",
    "Whether the files that all subtasks wrote to a partition in one epoch are joined before they appear (STREAMING).",
).by_default("false")
_PACKED: Final = size(
    "compaction.file-size", "The size of files that are joined; `sink.rolling-policy.file-size` without it."
)
_READING: Final[Listed] = (_MONITOR, *lookup_options.OPTIONS)
_WRITING: Final[Listed] = (
    *(_FILE_SIZE, _ROLLOVER, _INACTIVITY, _CHECK, _SHUFFLE, _COMPACT, _PACKED, PARALLELISM),
    *partition_commit.OPTIONS,
)


_KINDS: Final[tuple[type[TableFormat], ...]] = (
    AvroFileFormat,
    CsvFormat,
    JsonFormat,
    OrcFileFormat,
    ParquetFormat,
    RawFileFormat,
    *CHANGE_FORMATS,
)

FORMATS: Final[dict[str, TableFormat]] = {kind.name: kind() for kind in _KINDS}
"""The formats by name."""

READABLE: Final = {
    **METADATA,
    **{key: kind for form in FORMATS.values() for key, kind in form.metadata.items()},
}
"""The metadata that is known of files, and in each format of the records in them, with its types."""


class FilesystemConnector(TableConnector):
    """Reads and writes avro, csv, json, orc, parquet and raw, and debezium-json, canal-json and maxwell-json.

    With `source.monitor-interval` new files are looked for.

    Part files of JSON, raw values and changes end by the `sink.rolling-policy` options, others with their epoch.
    What these options say is looked at when it is due, so that `check-interval` is kept whatever it is. A table can be
    partitioned by columns whose values are in the names of directories; with `sink.shuffle-by-partition.enable` one
    subtask writes all rows of a partition.
    """

    name = "filesystem"
    options = (_PATH, _FORMAT, _DEFAULT_NAME, *_READING, *_WRITING, _REFUSED)
    readable_metadata = READABLE

    def reads_fields(self, options: Mapping[str, str]) -> bool:
        """Return whether the format finds fields by their names."""
        form = FORMATS.get(options.get("format", ""))
        return form is not None and form.by_name

    def source(self, table: TableRequest) -> TableSource:
        """Return the source."""
        options = self._options(table)
        path, default = options.get(_PATH), options.get(_DEFAULT_NAME)
        interval = options.get(_MONITOR)
        form = _format(options, table)
        row, columns = _split(table, form)
        reader = _Reader(form, dict(table.options), table.who)
        types = {column.name: column.type for column in columns if column.kind == "partition"}
        partitions = FilePartitions({key: types[key] for key in table.partition_keys}, default)
        source = FileTableSource(path, row, columns, reader, partitions, interval=interval)
        form.reader(options, row, range(len(row.fields)))
        options.know((*_WRITING, *_READING))
        options.finish()
        return TableSource(source, form.mode)

    def lookup(self, table: TableRequest, keys: tuple[str, ...], calls: LookupCalls) -> LookupTable:
        """Return the lookup, which reads all files, and again as `lookup.full-cache.reload-strategy` says."""
        cache = lookup_options.lookup_cache(self._options(table), table.zone, whole=True)
        found = self.source(table)
        if not found.mode.append_only:
            raise UnsupportedError("cannot be looked up: its files have changes", who=table.who)
        return LookupTable(SourceLookup(found.source), cache)

    def sink(self, table: TableRequest) -> TableSink:
        """Return the sink, which takes inserts, and all changes in a format that has them."""
        options = self._options(table)
        path, default = options.get(_PATH), options.get(_DEFAULT_NAME)
        form = _format(options, table)
        row, _ = _split(table, form)
        compaction = _compaction(options)
        rolling = _rolling(options, every_epoch=form.bulk or compaction is not None)
        commit = partition_commit.partition_commit(options, table.who, bounded=table.bounded)
        sink = FileTableSink(
            path,
            table.row,
            table.partition_keys,
            form.writer(options, row),
            rolling,
            default,
            changes=not form.mode.append_only,
            # Without partitions, Flink's jobs in streaming mode commit nothing, and those in batch mode the table.
            commit=commit if table.partition_keys or table.bounded else None,
            compaction=None if table.bounded else compaction,
        )
        parallelism = options.get(PARALLELISM)
        together = options.get(_SHUFFLE)
        options.know(_READING)
        options.finish()
        partitions = table.partition_keys if together else ()
        return TableSink(sink, form.mode, parallelism=parallelism, distribution=partitions)

    def truncate(self, table: TableRequest) -> None:
        """Remove all files of the table that readers see; directories of partitions stay, without files."""
        self.sink(table)
        remove_visible(absolute(self._options(table).get(_PATH), table.who), below=True)

    def _options(self, table: TableRequest) -> Options:
        if _REFUSED.key in table.options:
            raise UnsupportedError(f"cannot have the option {_REFUSED.key!r}", who=table.who)
        return Options(table.options, table.who, self.name)


@dataclass(frozen=True)
class _Reader:
    """Makes the reader of some columns; picklable."""

    form: TableFormat
    options: Mapping[str, str]
    who: str

    def __call__(self, row: RowType, wanted: Sequence[int], metadata: Sequence[str]) -> FileFormat[Rows]:
        options = Options(self.options, self.who, FilesystemConnector.name)
        return self.form.reader(options, row, wanted, metadata)


def _format(options: Options, table: TableRequest) -> TableFormat:
    name = options.get(_FORMAT)
    if name not in FORMATS:
        raise ConfigurationError(
            "requires a format that exists", who=table.who, got=repr(name), hint=suggestion(name, FORMATS)
        )
    return FORMATS[name]


def _split(table: TableRequest, form: TableFormat) -> tuple[RowType, list[FileColumn]]:
    """Return the type of the rows in the files, and the columns of the table."""
    physical = table.row.fields[: len(table.row.fields) - len(table.metadata)]
    columns = [
        FileColumn(field.name, field.type, "partition" if field.name in table.partition_keys else "row")
        for field in physical
    ]
    for key, kind in table.metadata.items():
        if key not in METADATA and key not in form.metadata:
            raise ConfigurationError(
                f"requires metadata that the format {form.name!r} has",
                who=table.who,
                got=repr(key),
                hint=suggestion(key, [*METADATA, *form.metadata]),
            )
        columns.append(FileColumn(key, kind, "metadata" if key in METADATA else "message"))
    kept = tuple(field for field in physical if field.name not in table.partition_keys)
    return RowType(kept, nullable=False), columns


def _compaction(options: Options) -> Compaction | None:
    packed = options.get(_PACKED, options.get(_FILE_SIZE))
    return Compaction(epochs=1, packed=packed) if options.get(_COMPACT) else None


def _rolling(options: Options, *, every_epoch: bool) -> RollingPolicy:
    rollover, inactivity = (max(options.get(interval), 1) for interval in (_ROLLOVER, _INACTIVITY))
    options.get(_CHECK)
    return RollingPolicy(every_epoch, options.get(_FILE_SIZE), rollover, inactivity)
