"""HDFS as a file system, over WebHDFS.

A file that has been written whole has its name with it, so nothing needs to be flushed; how durable that is, the
replication of the cluster decides. Names can be changed, whole and at once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, Final
from urllib.parse import urlsplit

from firesteel.common.errors import ConnectorError
from firesteel.connectors.files.systems.remote import RemoteFiles
from firesteel.connectors.files.systems.system import ChangedError, Found, Status
from firesteel.connectors.files.systems.webhdfs import ADDRESSES, WebHdfs

SCHEMES: Final = frozenset({"hdfs", "webhdfs", "swebhdfs"})
"""The schemes of URLs of HDFS; the last two have the address of the HTTP interface, as in Hadoop."""

_PORT: Final = 9870


class HdfsFiles(RemoteFiles):
    """The files of one cluster; `root` is its URL (`hdfs://namenode:8020`)."""

    renames = True

    def __init__(self, root: str) -> None:
        self._root = root
        self._hdfs = WebHdfs(_addresses(root))

    def status(self, path: str) -> Status:
        """Return a file's status."""
        with self._failures(path, "looked up"):
            found = self._hdfs.ask("GET", self._inner(path), "GETFILESTATUS")["FileStatus"]
        if found["type"] != "FILE":
            raise FileNotFoundError(path)
        return _status(found)

    def is_directory(self, path: str) -> bool:
        """Return whether there is a directory."""
        try:
            with self._failures(path, "looked up"):
                found = self._hdfs.ask("GET", self._inner(path), "GETFILESTATUS")["FileStatus"]
        except FileNotFoundError:
            return False
        return bool(found["type"] == "DIRECTORY")

    def range(self, path: str, start: int, end: int, status: Status | None) -> bytes:
        """Return the bytes `[start, end)` of a file."""
        try:
            with self._failures(path, "read"):
                return self._hdfs.read(self._inner(path), start, end - start)
        except ConnectorError:
            if status is not None and self.status(path).size < end:
                raise ChangedError(path) from None
            raise

    def upload(self, path: str, file: IO[bytes], size: int) -> None:
        """Write a file."""
        with self._failures(path, "written"):
            self._hdfs.write(self._inner(path), file)

    def move(self, source: str, target: str) -> None:
        """Rename a file."""
        with self._failures(target, "written"):
            try:
                self._hdfs.ask(
                    "PUT",
                    self._inner(source),
                    "RENAME",
                    destination=self._inner(target),
                    renameoptions="OVERWRITE",
                )
            except FileNotFoundError:
                # An answer may be lost, and the request repeated: then it has been renamed.
                if self.missing([target]):
                    raise

    def remove_one(self, path: str) -> None:
        """Remove a file that may already be gone."""
        with suppress(FileNotFoundError), self._failures(path, "deleted"):
            self._hdfs.ask("DELETE", self._inner(path), "DELETE", recursive="false")

    def below(self, directory: str) -> Iterator[Found]:
        """Yield all files below a directory."""
        for entry in self._entries(directory):
            path = f"{directory}/{entry['pathSuffix']}"
            if entry["type"] == "DIRECTORY":
                yield from self.below(path)
            elif entry["type"] == "FILE":
                yield Found(path, _status(entry))

    def folders(self, path: str) -> list[str]:
        """Return the names of the directories in a directory, sorted."""
        return sorted(entry["pathSuffix"] for entry in self._entries(path) if entry["type"] == "DIRECTORY")

    def _entries(self, directory: str) -> list[Any]:
        try:
            with self._failures(directory, "listed"):
                found = self._hdfs.ask("GET", self._inner(directory), "LISTSTATUS")
        except FileNotFoundError:
            return []
        entries: list[Any] = found["FileStatuses"]["FileStatus"]
        # What a file is asked for its entries is itself, without a name.
        return sorted(
            filter(lambda entry: entry["pathSuffix"], entries), key=lambda entry: entry["pathSuffix"]
        )

    def _inner(self, path: str) -> str:
        return path[len(self._root) :] or "/"

    @contextmanager
    def _failures(self, path: str, action: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise FileNotFoundError(path) from None
        except OSError as error:
            raise ConnectorError(
                f"cannot be {action}",
                who=path,
                got=str(error),
                hint=f"WebHDFS is asked at {', '.join(_addresses(self._root))}; {ADDRESSES} names other addresses",
            ) from error


def _addresses(root: str) -> list[str]:
    """Return the addresses of the HTTP interface of a cluster.

    >>> _addresses("webhdfs://namenode:14000"), _addresses("hdfs://namenode:8020")
    (['http://namenode:14000'], ['http://namenode:9870'])
    """
    parts = urlsplit(root)
    if parts.scheme != "hdfs":
        return [f"{'https' if parts.scheme == 'swebhdfs' else 'http'}://{parts.netloc}"]
    given = [text.strip().rstrip("/") for text in os.environ.get(ADDRESSES, "").split(",")]
    return [address for address in given if address] or [f"http://{parts.hostname}:{_PORT}"]


def _status(entry: Any) -> Status:
    return Status(entry["length"], entry["modificationTime"] * 1_000_000)
