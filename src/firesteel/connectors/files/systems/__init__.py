"""File systems: this machine's, object stores, and HDFS, behind one interface."""

from firesteel.connectors.files.systems.paths import absolute, joined, name_of, parent_of, root_of, system_of
from firesteel.connectors.files.systems.system import (
    ByteStream,
    ChangedError,
    FileSystem,
    Found,
    Status,
    is_hidden,
)

__all__ = [
    "absolute",
    "system_of",
    "root_of",
    "joined",
    "name_of",
    "parent_of",
    "FileSystem",
    "Found",
    "Status",
    "ByteStream",
    "ChangedError",
    "is_hidden",
]
