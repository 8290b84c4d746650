"""The file sink as programs build it."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from firesteel.common.errors import ConfigurationError
from firesteel.connectors.files.parts import PartFormat
from firesteel.connectors.files.sink.buckets import BucketAssigner, DateTimeBuckets
from firesteel.connectors.files.sink.committer import committer_of
from firesteel.connectors.files.sink.compaction import Compaction
from firesteel.connectors.files.sink.rolling import RollingPolicy
from firesteel.connectors.files.sink.writer import FileSinkSettings, FileWriter
from firesteel.connectors.files.systems import absolute
from firesteel.functions.sink import Committer, Sink, SinkWriter, WriterContext

if TYPE_CHECKING:
    from firesteel.common.typeinfo import TypeInformation


class FileSink(Sink[Any]):
    """Writes records to part files in bucket directories below a base path, exactly once.

    A part is named `<prefix>-<uid of the subtask>-<counter><suffix>`. It is hidden until the rolling policy or the end
    of the job ends it, and the epoch has committed; then it appears as a whole. The base path is on this machine's disk
    or one that all workers share, or a URL of an object store or of HDFS. Hidden files that a crash leaves are removed
    when the job has resumed. With `compaction`, parts of a bucket become fewer, larger files before they appear, named
    `compacted-<name of the first>`. Raises ConnectorError for other file systems. Source of the semantics: Flink's
    FileSink.
    """

    def __init__(
        self,
        base_path: str | os.PathLike[str],
        format: PartFormat,
        bucket_assigner: BucketAssigner | None = None,
        rolling_policy: RollingPolicy | None = None,
        part_prefix: str = "part",
        part_suffix: str = "",
        compaction: Compaction | None = None,
    ) -> None:
        for affix in (part_prefix, part_suffix):
            if "/" in affix or "\0" in affix or part_prefix.startswith((".", "_")):
                raise ConfigurationError(
                    "requires a prefix and a suffix of file names that are not hidden",
                    who="FileSink",
                    got=f"prefix {part_prefix!r} and suffix {part_suffix!r}",
                )
        if compaction is not None and compaction.delimiter is not None and not format.appendable:
            raise ConfigurationError(
                "requires a format whose files can be written one after the other, to write a delimiter between them",
                who="FileSink",
                got=type(format).__name__,
                hint="FileCompactor.concat_file_compactor() without a delimiter joins the files of every format",
            )
        self._settings = FileSinkSettings(
            absolute(os.fspath(base_path), "FileSink"),
            format,
            bucket_assigner or DateTimeBuckets(),
            rolling_policy or RollingPolicy.default(),
            part_prefix,
            part_suffix,
            compaction,
        )

    def for_type(self, type_info: TypeInformation | None) -> Sink[Any]:
        """Return the same sink for records of this type."""
        sink = FileSink.__new__(type(self))
        sink.__dict__.update(self.__dict__)
        sink._settings = replace(self._settings, format=self._settings.format.for_type(type_info))
        return sink

    @property
    def holds_output_back(self) -> bool:
        """Whether parts may stay open over several epochs."""
        compaction = self._settings.compaction
        waits = compaction is not None and compaction.epochs != 1
        return waits or not self._settings.rolling.every_epoch

    def create_writer(self, context: WriterContext) -> SinkWriter[Any]:
        return FileWriter(self._settings, context)

    def create_committer(self) -> Committer:
        return committer_of(self._settings)
