"""Sources and sinks (PyFlink: pyflink.datastream.connectors)."""

from firesteel.datastream.connectors.base import DeliveryGuarantee, Sink, Source
from firesteel.datastream.connectors.file_system import (
    BucketAssigner,
    FileEnumeratorProvider,
    FileSink,
    FileSource,
    FileSourceBuilder,
    FileSplitAssignerProvider,
    OutputFileConfig,
    RollingPolicy,
    StreamFormat,
    StreamingFileSink,
)
from firesteel.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcExecutionOptions, JdbcSink
from firesteel.datastream.connectors.number_seq import NumberSequenceSource

__all__ = [
    "Sink",
    "Source",
    "DeliveryGuarantee",
    "BucketAssigner",
    "FileEnumeratorProvider",
    "FileSink",
    "FileSource",
    "FileSourceBuilder",
    "FileSplitAssignerProvider",
    "JdbcConnectionOptions",
    "JdbcExecutionOptions",
    "JdbcSink",
    "NumberSequenceSource",
    "OutputFileConfig",
    "RollingPolicy",
    "StreamFormat",
    "StreamingFileSink",
]
