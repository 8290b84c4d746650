"""Files as a sink, exactly once.

A **part** is a file as it becomes visible. What an epoch writes of a part is a **segment**: a hidden file of
its own, named by the attempt, written once, made durable before the epoch commits, and never appended to by
anybody else; so a writer that was given up but still runs can do no harm. The writer's state carries the
segments of parts that stay open over several epochs. When the rolling policy ends a part, a committable names
its segments, and the committer makes one visible file of them.
"""

from firesteel.connectors.files.parts import EncodedRows, PartFormat, PartWriter, TextLines
from firesteel.connectors.files.sink.buckets import BasePathBuckets, BucketAssigner, DateTimeBuckets
from firesteel.connectors.files.sink.rolling import RollingPolicy
from firesteel.connectors.files.sink.sink import FileSink

__all__ = [
    "FileSink",
    "RollingPolicy",
    "BucketAssigner",
    "BasePathBuckets",
    "DateTimeBuckets",
    "PartFormat",
    "PartWriter",
    "EncodedRows",
    "TextLines",
]
