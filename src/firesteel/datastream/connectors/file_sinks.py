"""File sinks as PyFlink builds them."""

from __future__ import annotations

import warnings
from typing import Any, BinaryIO, Generic, TypeVar

from firesteel.common.errors import ProgramError
from firesteel.common.serialization import BulkWriterFactory, Encoder
from firesteel.common.typeinfo import RowTypeInfo, TypeInformation
from firesteel.connectors.files import sink as file_sink
from firesteel.connectors.files.sink import EncodedRows, PartFormat, PartWriter, TextLines
from firesteel.datastream.connectors.base import StreamTransformer, SupportsPreprocessing
from firesteel.datastream.connectors.file_writing import (
    FileCompactor,
    FileCompactStrategy,
    OnCheckpointRollingPolicy,
    OutputFileConfig,
    RollingPolicy,
)

S = TypeVar("S", bound=file_sink.FileSink)
B = TypeVar("B", bound="_Builder[Any]")


class PartWriterFactory(BulkWriterFactory):
    """A bulk format for `for_bulk_format`: the format of a part file, and the type of its rows."""

    def __init__(self, part_format: PartFormat, row_type: RowTypeInfo | None = None) -> None:
        self.part_format = part_format
        self._row_type = row_type

    def get_row_type(self) -> RowTypeInfo | None:
        """Return the type of the rows."""
        return self._row_type


class _EncoderRows(PartFormat):
    """Records in the encoding of the program's own Encoder."""

    def __init__(self, encoder: Encoder, type_info: TypeInformation | None = None) -> None:
        self._encoder = encoder
        self._type_info = type_info

    def for_type(self, type_info: TypeInformation | None) -> PartFormat:
        """Return the format for records of this type."""
        return _EncoderRows(self._encoder, type_info)

    def open(self, file: BinaryIO) -> PartWriter:
        """Return a writer of one segment."""
        encode, type_info = self._encoder.encode, self._type_info
        return EncodedRows(lambda value: encode(value, type_info)).open(file)


def _row_format(encoder: Encoder) -> PartFormat:
    if not isinstance(encoder, Encoder):
        raise ProgramError(
            "requires an Encoder",
            who="for_row_format",
            got=f"{type(encoder).__name__}: {encoder!r}",
            hint="such as Encoder.simple_string_encoder()",
        )
    if type(encoder).encode is Encoder.encode:
        return TextLines(encoder.charset_name)
    return _EncoderRows(encoder)


def _bulk_format(writer_factory: BulkWriterFactory) -> PartFormat:
    if isinstance(writer_factory, PartWriterFactory):
        return writer_factory.part_format
    raise ProgramError(
        "requires a BulkWriterFactory of Firesteel's",
        who="for_bulk_format",
        got=f"{type(writer_factory).__name__}: {writer_factory!r}",
        hint="such as CsvBulkWriters.for_schema(...) or ParquetBulkWriters.for_row_type(...)",
    )


class _Builder(Generic[S]):
    """Collects the settings of a file sink; every method except `build` returns the builder."""

    def __init__(self, kind: type[S], base_path: str, part_format: PartFormat, policy: RollingPolicy) -> None:
        self._kind = kind
        self._base_path = base_path
        self._format = part_format
        self._policy = policy.policy
        self._assigner: file_sink.BucketAssigner | None = None
        self._names = OutputFileConfig.builder().build()
        self._compaction: file_sink.Compaction | None = None

    def with_bucket_check_interval(self: B, interval: int) -> B:
        """Take the interval (milliseconds); parts are looked at when they are due, without one."""
        del interval
        return self

    def with_bucket_assigner(self: B, bucket_assigner: file_sink.BucketAssigner) -> B:
        """Set how a record gets its directory; the default is one directory per hour of processing time."""
        self._assigner = bucket_assigner
        return self

    def with_output_file_config(self: B, output_file_config: OutputFileConfig) -> B:
        """Set the names of part files."""
        self._names = output_file_config
        return self

    def with_rolling_policy(self: B, rolling_policy: RollingPolicy) -> B:
        """Set when a part file ends."""
        self._policy = rolling_policy.policy
        return self

    def enable_compact(self: B, strategy: FileCompactStrategy, compactor: FileCompactor) -> B:
        """Have small parts become larger ones before they appear; see `firesteel.connectors.files.sink.compaction`."""
        self._compaction = strategy.compaction_by(compactor)
        return self

    def disable_compact(self: B) -> B:
        """Compact nothing. Parts that wait for it appear as they are."""
        self._compaction = None
        return self

    def build(self) -> S:
        """Return the sink. Raises ConnectorError for a base path on a file system that is not supported."""
        return self._kind(
            self._base_path,
            self._format,
            self._assigner,
            self._policy,
            self._names.get_part_prefix(),
            self._names.get_part_suffix(),
            self._compaction,
        )


class _BulkBuilder(_Builder[S]):
    def with_rolling_policy(self: B, rolling_policy: RollingPolicy) -> B:
        """Accept a policy that ends parts with the epoch. Raises ValueError for any other."""
        if not isinstance(rolling_policy, OnCheckpointRollingPolicy):
            raise ValueError("rolling_policy must be OnCheckpointRollingPolicy for bulk format")
        return self


class FileSink(file_sink.FileSink, SupportsPreprocessing):
    """Writes records to part files, exactly once; see `firesteel.connectors.files.sink.FileSink`.

    >>> FileSink.for_row_format("/tmp/out", Encoder.simple_string_encoder()).build().guarantee.name
    'EXACTLY_ONCE'
    """

    BaseBuilder = _Builder

    class RowFormatBuilder(_Builder["FileSink"]):
        """Builds a sink of encoded records."""

    class BulkFormatBuilder(_BulkBuilder["FileSink"]):
        """Builds a sink of bulk-encoded records, whose parts end with the epoch."""

    def get_transformer(self) -> StreamTransformer | None:
        """The stream is written as it is."""
        return None

    @staticmethod
    def for_row_format(base_path: str, encoder: Encoder) -> FileSink.RowFormatBuilder:
        """Start a sink whose records are encoded one by one."""
        policy = RollingPolicy.default_rolling_policy()
        return FileSink.RowFormatBuilder(FileSink, base_path, _row_format(encoder), policy)

    @staticmethod
    def for_bulk_format(base_path: str, writer_factory: BulkWriterFactory) -> FileSink.BulkFormatBuilder:
        """Start a sink whose records are encoded in bulk."""
        policy = RollingPolicy.on_checkpoint_rolling_policy()
        return FileSink.BulkFormatBuilder(FileSink, base_path, _bulk_format(writer_factory), policy)


class StreamingFileSink(file_sink.FileSink):
    """The older name of FileSink; creating one warns, as in PyFlink."""

    BaseBuilder = _Builder

    def __init__(self, *arguments: Any) -> None:
        warnings.warn("Deprecated in 1.15. Use FileSink instead.", DeprecationWarning, stacklevel=2)
        super().__init__(*arguments)

    class DefaultRowFormatBuilder(_Builder["StreamingFileSink"]):
        """Builds a sink of encoded records."""

    class DefaultBulkFormatBuilder(_BulkBuilder["StreamingFileSink"]):
        """Builds a sink of bulk-encoded records."""

    @staticmethod
    def for_row_format(base_path: str, encoder: Encoder) -> StreamingFileSink.DefaultRowFormatBuilder:
        """Start a sink whose records are encoded one by one."""
        policy = RollingPolicy.default_rolling_policy()
        kind = StreamingFileSink
        return StreamingFileSink.DefaultRowFormatBuilder(kind, base_path, _row_format(encoder), policy)

    @staticmethod
    def for_bulk_format(
        base_path: str, writer_factory: BulkWriterFactory
    ) -> StreamingFileSink.DefaultBulkFormatBuilder:
        """Start a sink whose records are encoded in bulk."""
        policy = RollingPolicy.on_checkpoint_rolling_policy()
        kind = StreamingFileSink
        return StreamingFileSink.DefaultBulkFormatBuilder(
            kind, base_path, _bulk_format(writer_factory), policy
        )
