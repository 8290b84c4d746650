"""Files as a sink, exactly once.

A **part** is a file as it becomes visible. The records of one epoch in a part are a **segment**: a separate hidden
file, named by the attempt, written once, made durable before the epoch commits, and never appended to by anybody else.
So an abandoned writer that still runs can do no harm. The writer's state holds the segments of parts that stay open
over several epochs. When the rolling policy ends a part, a committable names its segments, and the committer turns them
into one visible file.
"""

from firesteel.connectors.files.parts import EncodedRows, PartFormat, PartWriter, TextLines
from firesteel.connectors.files.sink.buckets import BasePathBuckets, BucketAssigner, DateTimeBuckets
from firesteel.connectors.files.sink.compaction import Compaction
from firesteel.connectors.files.sink.rolling import RollingPolicy
from firesteel.connectors.files.sink.sink import FileSink

__all__ = [
    "FileSink",
    "RollingPolicy",
    "Compaction",
    "BucketAssigner",
    "BasePathBuckets",
    "DateTimeBuckets",
    "PartFormat",
    "PartWriter",
    "EncodedRows",
    "TextLines",
]
