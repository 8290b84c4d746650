"""What file systems behind a network have in common: they are read by ranges and written as wholes."""

from __future__ import annotations

import glob
import io
import re
import shutil
import tempfile
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, TypeVar, cast

import pyarrow as pa

from firesteel.connectors.files.systems.system import FileSystem, Found, Status, Written, is_hidden
from firesteel.state.disk.scratch import local_directory

_FIRST_RANGE: Final = 1 << 16
_LONGEST_RANGE: Final = 4 << 20
_IN_MEMORY: Final = 1 << 20
"""A file that is being written is in memory up to so many bytes, then on the local disk."""

_AT_ONCE: Final = 16
"""How many requests are under way at a time."""


T = TypeVar("T")
R = TypeVar("R")


class RemoteFiles(FileSystem):
    """Files that are asked for by ranges. What is written waits on this machine until it can be sent as a whole.

    So every request can be repeated, and a file is there completely or not at all.
    """

    is_near = False

    @abstractmethod
    def range(self, path: str, start: int, end: int, status: Status | None) -> bytes:
        """Return the bytes `[start, end)` of a file."""

    @abstractmethod
    def upload(self, path: str, file: IO[bytes], size: int) -> None:
        """Write a file with the bytes of another, durably; it replaces one of the same name."""

    @abstractmethod
    def remove_one(self, path: str) -> None:
        """Remove a file that may already be gone."""

    def find(self, path: str) -> Iterator[Found]:
        """Yield the files that a path stands for."""
        if glob.has_magic(path):
            yield from self._matching(path)
            return
        try:
            yield Found(path, self.status(path))
        except FileNotFoundError:
            yield from self._in_directory(path)

    def _in_directory(self, path: str) -> Iterator[Found]:
        found = None
        for found in self.below(path):
            names = found.path[len(path) + 1 :].split("/")
            if not any(map(is_hidden, names)):
                yield found
        if found is None and not self.is_directory(path):
            raise FileNotFoundError(path)

    def is_directory(self, path: str) -> bool:
        """Return whether there is a directory, though it may have no files."""
        del path
        return False

    def _matching(self, pattern: str) -> Iterator[Found]:
        parts = pattern.split("/")
        fixed = next(place for place, part in enumerate(parts) if glob.has_magic(part))
        root = "/".join(parts[:fixed])
        matches = re.compile("/".join(map(_expression, parts[fixed:])) + "(/.*)?", re.DOTALL).fullmatch
        found = None
        for found in self.below(root):
            inner = found.path[len(root) + 1 :]
            own = inner.split("/")[len(parts) - fixed - 1 :]
            if matches(inner) and not any(map(is_hidden, own)):
                yield found
        if found is None and not self.is_directory(root):
            raise FileNotFoundError(pattern)

    def open(self, path: str, position: int, status: Status | None = None) -> RangeStream:
        """Open a file's bytes from a position."""
        known = self.status(path) if status is None else status
        return RangeStream(partial(self.range, path, status=known), position, known.size)

    def seekable(self, path: str, status: Status) -> Any:
        """Return a file that asks for the ranges that are wanted of it."""
        return pa.PythonFile(_Seekable(partial(self.range, path, status=status), status.size), mode="r")

    def make_directory(self, path: str) -> None:
        """Do nothing: whoever writes a file makes its directory."""

    def create(self, path: str, final: str | None = None) -> BinaryIO:
        """Begin a file on this machine, which `finish` sends."""
        return cast("BinaryIO", _Waiting(path))

    def finish(self, file: BinaryIO) -> Written:
        """Send the file, and close it."""
        waiting = cast("_Waiting", file)
        size = waiting.tell()
        self.upload(waiting.path, waiting, size)
        waiting.close()
        return Written(waiting.path, size)

    def abandon(self, file: BinaryIO) -> None:
        """Close the file: it was nowhere but here."""
        file.close()

    def sync(self, directories: Iterable[str]) -> None:
        """Do nothing: a file is durable with its name."""

    def missing(self, paths: Sequence[str]) -> list[str]:
        """Return those of the paths at which there is no file."""
        there = self.each(self._is_there, paths)
        return [path for path, is_there in zip(paths, there, strict=True) if not is_there]

    def _is_there(self, path: str) -> bool:
        try:
            self.status(path)
        except FileNotFoundError:
            return False
        return True

    def remove(self, paths: Iterable[str]) -> None:
        """Remove files that may already be gone."""
        self.each(self.remove_one, [*paths])

    def replace(self, path: str, data: bytes) -> None:
        """Write a file."""
        self.upload(path, io.BytesIO(data), len(data))

    @contextmanager
    def local_copies(self, paths: Sequence[str]) -> Iterator[Sequence[Path]]:
        """Copy the files to this machine's disk for as long as the context lasts."""
        with tempfile.TemporaryDirectory(dir=local_directory()) as directory:
            copies = [Path(directory, str(place)) for place in range(len(paths))]
            self.each(lambda pair: self._copy_here(*pair), [*zip(paths, copies, strict=True)])
            yield copies

    def _copy_here(self, path: str, copy: Path) -> None:
        with copy.open("wb") as target:
            shutil.copyfileobj(self.open(path, 0), target, _LONGEST_RANGE)

    def each(self, call: Callable[[T], R], of: Sequence[T]) -> list[R]:
        """Make the calls several at a time."""
        if len(of) < 2:
            return [*map(call, of)]
        with ThreadPoolExecutor(min(_AT_ONCE, len(of)), "firesteel-files") as threads:
            return [*threads.map(call, of)]


class RangeStream:
    """The bytes of a file from a position on; `ask(start, end)` returns ranges.

    It asks for what is wanted first, and then for longer and longer ranges: a short range costs no long one, and a
    file that is read on few requests.
    """

    def __init__(self, ask: Any, position: int, size: int) -> None:
        self._ask = ask
        self._position = position
        self._size = size
        self._length = _FIRST_RANGE
        self._held = memoryview(b"")
        self.closed = False

    def read(self, size: int = -1, /) -> bytes:
        """Return up to `size` next bytes; empty only at the end."""
        wanted = self._size if size < 0 else size
        if not self._held and wanted:
            end = min(self._position + max(wanted, self._length), self._size)
            if end > self._position:
                self._held = memoryview(self._ask(self._position, end))
                self._position = end
            self._length = min(2 * max(self._length, wanted), _LONGEST_RANGE)
        data, self._held = self._held[:wanted], self._held[wanted:]
        return bytes(data)

    def close(self) -> None:
        """Forget what is held."""
        self._held = memoryview(b"")
        self.closed = True


class _Seekable(io.RawIOBase):
    """A file of Python's whose reads are ranges."""

    def __init__(self, ask: Any, size: int) -> None:
        self._ask = ask
        self._size = size
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = base + offset
        return self._position

    def read(self, size: int = -1) -> bytes:
        end = self._size if size < 0 else min(self._position + size, self._size)
        if end <= self._position:
            return b""
        data: bytes = self._ask(self._position, end)
        self._position = end
        return data


class _Waiting(tempfile.SpooledTemporaryFile):  # type: ignore[type-arg]
    """A file that is being written, and the path at which it will be."""

    def __init__(self, path: str) -> None:
        directory = local_directory()
        directory.mkdir(parents=True, exist_ok=True)
        super().__init__(max_size=_IN_MEMORY, dir=str(directory))
        self.path = path


def _expression(part: str) -> str:
    """Return the regular expression of a name in a pattern: ``*``, ``?`` and sets, and no hidden names for ``*``."""
    pieces = re.split(r"(\*+|\?|\[!?\]?[^]]*\])", part)
    texts = [
        "[^/]*" if piece.startswith("*") else "[^/]" if piece == "?" else _set(piece) for piece in pieces
    ]
    return ("" if part.startswith(".") else r"(?!\.)") + "".join(texts)


def _set(piece: str) -> str:
    if not piece.startswith("["):
        return re.escape(piece)
    inner = piece[1:-1].replace("\\", "\\\\")
    return f"[^/{inner[1:]}]" if inner.startswith("!") else f"[{inner}]"
