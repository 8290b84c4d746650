"""Paths of file systems, and which system a path is of."""

from __future__ import annotations

import os
import posixpath
import re
from functools import lru_cache
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from firesteel.common.errors import ConnectorError
from firesteel.connectors.files.systems import hdfs, objects
from firesteel.connectors.files.systems.hdfs import HdfsFiles
from firesteel.connectors.files.systems.local import LocalFiles
from firesteel.connectors.files.systems.objects import ObjectFiles
from firesteel.connectors.files.systems.system import FileSystem

_LOCAL: Final = LocalFiles()
_SEPARATE: Final = re.compile(r"([a-z0-9+.-]+)://([^/]*)/*(.*)", re.DOTALL | re.IGNORECASE)
_SETTINGS: Final = ("AWS_", "AZURE_", "GOOGLE_", "FIRESTEEL_", "HADOOP_")
"""What the variables begin with that say how a store is reached."""


def absolute(path: str, who: str) -> str:
    """Return a path in the form that all of this package takes. Raises ConnectorError for a scheme that is unknown.

    >>> absolute("file:///data/a%20b.txt", "FileSource"), absolute("s3://bucket//logs/", "FileSource")
    ('/data/a b.txt', 's3://bucket/logs')
    """
    if "://" not in path and not path.startswith("file:"):
        return os.path.normpath(Path(path).expanduser().absolute())
    parts = urlsplit(path)
    if parts.scheme == "file" and parts.netloc in {"", "localhost"}:
        return os.path.normpath(unquote(parts.path))
    found = _SEPARATE.fullmatch(path)
    scheme = parts.scheme
    if found is None or not found[2] or scheme not in objects.SCHEMES | hdfs.SCHEMES:
        raise ConnectorError(
            "requires a local path or a URL of a file system that is known",
            who=who,
            got=re.sub("//[^/]*@", "//", path),
            hint="such as s3://bucket/path, gs://, az://, abfs://, hdfs:// or webhdfs://; mount any other store on "
            "every machine, or write a custom source or sink for it",
        )
    if "@" in found[2] and not scheme.startswith("abfs"):
        raise ConnectorError(
            "requires a URL without credentials", who=who, got=f"a URL of {scheme} with a user", hint=_HINT
        )
    inner = re.sub("/+", "/", found[3]).strip("/")
    return f"{scheme}://{found[2]}/{inner}".rstrip("/")


_HINT: Final = (
    "set the variables of the environment that the store's provider names, such as AWS_ACCESS_KEY_ID"
)


def system_of(path: str) -> FileSystem:
    """Return the file system that an absolute path is of."""
    root = root_of(path)
    if root == "/":
        return _LOCAL
    settings = frozenset(pair for pair in os.environ.items() if pair[0].startswith(_SETTINGS))
    return _connected(root, settings)


def root_of(path: str) -> str:
    """Return what the paths of one file system begin with.

    >>> root_of("/data/a"), root_of("s3://bucket/a/b")
    ('/', 's3://bucket')
    """
    scheme, separate, rest = path.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}" if separate and not path.startswith("/") else "/"


@lru_cache(maxsize=64)
def _connected(root: str, settings: frozenset[tuple[str, str]]) -> FileSystem:
    """Return the system at a URL, once for all paths of it and as long as the environment says the same."""
    del settings
    scheme = root.partition("://")[0]
    return HdfsFiles(root) if scheme in hdfs.SCHEMES else ObjectFiles(root)


def joined(directory: str, *names: str) -> str:
    """Return the path of what is in a directory.

    >>> joined("s3://bucket/out", "", "part-0"), joined("/out", "day=1", "part-0")
    ('s3://bucket/out/part-0', '/out/day=1/part-0')
    """
    return posixpath.join(directory, *filter(None, names))


def parent_of(path: str) -> str:
    """Return the directory of a file."""
    return path.rpartition("/")[0]


def name_of(path: str) -> str:
    """Return the name of a file in its directory."""
    return path.rpartition("/")[2]
