"""The builders with which a program describes the files that it reads."""

from __future__ import annotations

from typing import Any

from firesteel.common.errors import ProgramError
from firesteel.common.time import Duration
from firesteel.connectors.files import source as file_source
from firesteel.connectors.files.format import FileFormat
from firesteel.connectors.files.text_lines import TextLineFormat


class FileEnumeratorProvider:
    """Whether large files are cut into parts that are read in parallel; hidden files are left out either way."""

    def __init__(self, splittable: bool) -> None:
        self.splittable = splittable

    @staticmethod
    def default_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Cut large files if the format allows it; compressed files are never cut."""
        return FileEnumeratorProvider(True)

    @staticmethod
    def default_non_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Read each file as one part."""
        return FileEnumeratorProvider(False)


class FileSplitAssignerProvider:
    """Which subtask reads which part: parts are assigned round robin in the order of their paths."""

    @staticmethod
    def locality_aware_split_assigner() -> FileSplitAssignerProvider:
        """Return the only assigner: every machine reaches every file equally well."""
        return FileSplitAssignerProvider()


class StreamFormat:
    """The layout of a file of single records; create it with `text_line_format` or from a FileFormat."""

    def __init__(self, file_format: FileFormat[Any]) -> None:
        self.file_format = file_format

    @staticmethod
    def text_line_format(charset_name: str = "UTF-8") -> StreamFormat:
        """Return the format of lines of text. Raises ConfigurationError for an unknown charset."""
        return StreamFormat(TextLineFormat(charset_name))


class BulkFormat:
    """The layout of a file of batches of records; create it from a FileFormat."""

    def __init__(self, file_format: FileFormat[Any]) -> None:
        self.file_format = file_format


class FileSource(file_source.FileSource[Any]):
    """Reads files, each of them once; see `firesteel.connectors.files.source.FileSource`.

    >>> builder = FileSource.for_record_stream_format(StreamFormat.text_line_format(), "/data/logs")
    >>> builder.monitor_continuously(Duration.of_seconds(5)).build().boundedness.name
    'CONTINUOUS_UNBOUNDED'
    """

    @staticmethod
    def for_record_stream_format(stream_format: StreamFormat, *paths: str) -> FileSourceBuilder:
        """Start a source that reads files record by record, decompressed by their suffixes."""
        return FileSourceBuilder(_format_of(stream_format, StreamFormat), paths)

    @staticmethod
    def for_bulk_file_format(bulk_format: BulkFormat, *paths: str) -> FileSourceBuilder:
        """Start a source that reads files batch by batch."""
        return FileSourceBuilder(_format_of(bulk_format, BulkFormat), paths)


def _format_of(given: Any, kind: type[StreamFormat] | type[BulkFormat]) -> FileFormat[Any]:
    if isinstance(given, kind):
        return given.file_format
    if isinstance(given, FileFormat):
        return given
    raise ProgramError(
        f"requires a {kind.__name__}", who="FileSource", got=f"{type(given).__name__}: {given!r}"
    )


class FileSourceBuilder:
    """Collects the settings of a FileSource; every method except `build` returns the builder."""

    def __init__(self, file_format: FileFormat[Any], paths: tuple[str, ...]) -> None:
        self._format = file_format
        self._paths = paths
        self._interval: int | None = None
        self._splittable = True

    def monitor_continuously(self, discovery_interval: Duration) -> FileSourceBuilder:
        """Look for new files again and again, without end."""
        self._interval = discovery_interval.to_millis()
        return self

    def process_static_file_set(self) -> FileSourceBuilder:
        """Read the files that exist when the job starts (the default)."""
        self._interval = None
        return self

    def set_file_enumerator(self, file_enumerator: FileEnumeratorProvider) -> FileSourceBuilder:
        """Set whether large files are cut."""
        self._splittable = file_enumerator.splittable
        return self

    def set_split_assigner(self, split_assigner: FileSplitAssignerProvider) -> FileSourceBuilder:
        """Set the assigner; there is only one."""
        del split_assigner
        return self

    def build(self) -> FileSource:
        """Return the source. Raises ProgramError without a path, ConnectorError for a file system that is not
        supported.
        """
        return FileSource(list(self._paths), self._format, self._interval, self._splittable)
