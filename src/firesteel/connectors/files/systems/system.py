"""What a file source and a file sink need of a file system.

Paths are absolute: a path of this machine (``/data/a``), or a URL whose scheme names the system (``s3://bucket/a``).
Errors of reading are FileNotFoundError for what is not there, ChangedError for what is not as it was, and other OSError
or ConnectorError for all else; no message has credentials in it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, NamedTuple, Protocol, TypeVar

from firesteel.connectors.files.systems.multipart import Upload

T = TypeVar("T")
R = TypeVar("R")


class ChangedError(OSError):
    """A file is not the version that was asked for."""


class ByteStream(Protocol):
    """A stream of bytes that is read once, in order."""

    def read(self, size: int, /) -> bytes:
        """Return up to `size` next bytes; empty only at the end."""

    def close(self) -> None:
        """Release the file."""


class Status(NamedTuple):
    """A file as it is now: `size` in bytes, `modified` in nanoseconds since 1970.

    `version` is different for any other content (an object's ETag); None where there is nothing like that.
    """

    size: int
    modified: int
    version: str | None = None


class Found(NamedTuple):
    """A file that was found, and its status if that came with the listing."""

    path: str
    status: Status | None = None


class Written(NamedTuple):
    """What `finish` has made: the file at `path`, or one that names an upload that waits to be completed."""

    path: str
    size: int
    upload: Upload | None = None


class FileSystem(ABC):
    """Files by their paths; see each kind for how what it writes becomes durable and visible."""

    renames: ClassVar[bool]
    """Whether a file can be renamed, whole and at once. If not, files are staged elsewhere and copied."""

    is_near: ClassVar[bool] = True
    """Whether an answer comes at once, so that many can be asked for."""

    has_directories: ClassVar[bool] = True
    """Whether there are directories without files."""

    @abstractmethod
    def find(self, path: str) -> Iterator[Found]:
        """Yield the files that a path stands for: a file, those below a directory, or those that match a pattern.

        Below directories, names that begin with ``.`` or ``_`` are left out. Raises FileNotFoundError if there is
        nothing, and nothing that the pattern could match later.
        """

    @abstractmethod
    def folders(self, path: str) -> list[str]:
        """Return the names of the directories in a directory, sorted; none if it is not there."""

    @abstractmethod
    def status(self, path: str) -> Status:
        """Return a file's status."""

    @abstractmethod
    def open(self, path: str, position: int, status: Status | None = None) -> ByteStream:
        """Open a file's bytes from a position; with `status`, those of this version, as far as the system can tell."""

    @abstractmethod
    def seekable(self, path: str, status: Status) -> Any:
        """Return what pyarrow reads a file from in any order: a path, or a file of Python's."""

    @abstractmethod
    def make_directory(self, path: str) -> None:
        """Create a directory with its parents, durably, where files need one."""

    @abstractmethod
    def create(self, path: str, final: str | None = None) -> BinaryIO:
        """Begin a new file; it is there at the latest when `finish` returns.

        `final` is where it is to be moved as it is. A system can send the content there, and show it later.
        """

    @abstractmethod
    def finish(self, file: BinaryIO) -> Written:
        """Make the content of a file that `create` returned durable, and close it.

        Its name is durable after `sync` of its directory.
        """

    def each(self, call: Callable[[T], R], of: Sequence[T]) -> list[R]:
        """Return what a call that asks the system returns for each of some things; several at a time if that helps."""
        return [call(one) for one in of]

    @abstractmethod
    def abandon(self, file: BinaryIO) -> None:
        """Close a file that `create` returned, of which nothing is wanted."""

    @abstractmethod
    def sync(self, directories: Iterable[str]) -> None:
        """Make the names in directories durable."""

    @abstractmethod
    def missing(self, paths: Sequence[str]) -> list[str]:
        """Return those of the paths at which there is no file."""

    @abstractmethod
    def remove(self, paths: Iterable[str]) -> None:
        """Remove files that may already be gone."""

    @abstractmethod
    def move(self, source: str, target: str) -> None:
        """Give a file another name, in place of what has that name.

        Where files are copied, a crash can leave both; the target is whole as soon as it is there.
        """

    @abstractmethod
    def replace(self, path: str, data: bytes) -> None:
        """Write a small file, whole and durably, in place of one of the same name."""

    @abstractmethod
    def below(self, directory: str) -> Iterator[Found]:
        """Yield all files below a directory, also hidden ones; none if it is not there."""

    @abstractmethod
    def local_copies(self, paths: Sequence[str]) -> AbstractContextManager[Sequence[Path]]:
        """Return the files as files of this machine, as long as the context lasts."""


def is_hidden(name: str) -> bool:
    """Return whether a source passes over a file or directory of this name."""
    return name.startswith((".", "_"))
