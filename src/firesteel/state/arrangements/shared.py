"""The levels that the processes of one machine share.

Spark runs a subtask now in one process and now in another. So a process leaves what it has of an arrangement after an
epoch where others find it: chunks are in files anyway, and an index names them, with the small chunks and the merges
under way. The next process maps the same files. So all processes together have one copy of the state, and each merge is
done once.

Contract: an index belongs to one state of the arrangement: that after an epoch whose run is named in it. A run's name
is unique, so whoever looks for the index of a committed run finds exactly the committed state. An index is complete
when it has its name. If it is missing, or names a file that is gone, `find` returns None: the state is then read from
storage. Files of the last `KEPT` epochs stay, and those that the indexes of these epochs name; a process that has
mapped others keeps them without a name.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec
import numpy as np
import pyarrow as pa

from firesteel.common.decoders import msgpack_decoder
from firesteel.state.arrangements.chunk import Chunk, Cut, Place
from firesteel.state.arrangements.layout import Layout
from firesteel.state.arrangements.levels import Begun, Form, Level
from firesteel.state.arrangements.shelf import MappedFiles, epoch_prefix, read_mapped
from firesteel.state.disk.directories import boot_id
from firesteel.state.disk.scratch import unwritable
from firesteel.state.live.durable import RunRef

KEPT: Final = 4
"""The epochs whose files stay: the committed one, and those of attempts at the next that are still running."""

_LEAST_BYTES: Final = 16
"""The bytes of a row without its own columns: a hash and a weight."""

_INDEX: Final = ".levels"
_FORMAT: Final = 2


class _Listed(msgspec.Struct, frozen=True, array_like=True):
    """A chunk: `rows` of a file from `start` on, or the bytes of a small one."""

    rows: int
    file: str = ""
    start: int = 0
    data: bytes = b""


class _ListedMerge(msgspec.Struct, frozen=True, array_like=True):
    at: int
    count: int
    cut: tuple[int, int, int] | None
    chunks: list[_Listed]
    credit: int


class _Index(msgspec.Struct, frozen=True):
    """The form of an arrangement. `origin` must be equal where it is read: the start of the machine, since what was not
    on disk when it stopped is lost, and the version of this format.
    """

    origin: str
    levels: list[list[_Listed]]
    merges: list[_ListedMerge]

    def files(self) -> set[str]:
        """Return the names of the files that it refers to."""
        listed = chain(chain.from_iterable(self.levels), *(merge.chunks for merge in self.merges))
        return {chunk.file for chunk in listed if chunk.file}


_decoder: Final = msgpack_decoder(_Index)


def publish(files: MappedFiles, epoch: int, run: RunRef, form: Form) -> None:
    """Leave the state after an epoch, whose own run is `run`, for other processes, and remove what nobody needs.

    Raises StateError if the disk cannot be written.
    """
    directory = files.directory
    assert directory is not None
    try:
        directory.mkdir(parents=True, exist_ok=True)
        there = {*os.listdir(directory)}  # noqa: PTH208 - names are all it takes
        merges = [
            _ListedMerge(
                merge.at,
                merge.count,
                None
                if merge.cut is None
                else (merge.cut.leading, int(merge.cut.hash), int(merge.cut.identity)),
                _listed(files, there, merge.chunks),
                merge.credit,
            )
            for merge in form.merges
        ]
        index = _Index(_origin(), [_listed(files, there, level) for level in form.levels], merges)
        path = directory / _name(epoch, run)
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_bytes(msgspec.msgpack.encode(index))
        draft.replace(path)
        if epoch % KEPT == 0:
            _tidy(directory, epoch_prefix(max(epoch - KEPT, 0)))
    except OSError as error:
        raise unwritable(f"a part of an arrangement in {directory}", "cannot be written", error) from error


def find(files: MappedFiles, epoch: int, run: RunRef, layout: Layout, known: Form) -> Form | None:
    """Return the state after an epoch, whose own run is `run`, if a process of this machine has left it.

    Chunks that are `known` are not mapped again.
    """
    if files.directory is None:
        return None
    try:
        index = _decoder.decode((files.directory / _name(epoch, run)).read_bytes())
        if index.origin != _origin():
            return None
        chunks = _Chunks(files.directory, layout, known)
        levels = tuple(chunks.level(listed) for listed in index.levels)
        merges = (
            Begun(merge.at, merge.count, _cut(merge.cut), chunks.level(merge.chunks), merge.credit)
            for merge in index.merges
        )
        return Form(levels, tuple(merges))
    except FileNotFoundError:
        return None


class _Chunks:
    """The chunks of indexes; each is mapped once."""

    def __init__(self, directory: Path, layout: Layout, known: Form) -> None:
        self._directory = directory
        self._layout = layout
        levels = chain(known.levels, (merge.chunks for merge in known.merges))
        self._known = {(chunk.place, len(chunk)): chunk for level in levels for chunk in level if chunk.place}
        self._mapped: dict[str, pa.RecordBatch] = {}

    def level(self, listed: Iterable[_Listed]) -> Level:
        return tuple(map(self._chunk, listed))

    def _chunk(self, listed: _Listed) -> Chunk:
        if not listed.file:
            return Chunk(
                self._layout, pa.ipc.read_record_batch(pa.py_buffer(listed.data), self._layout.stored)
            )
        place = Place(listed.file, listed.start)
        known = self._known.get((place, listed.rows))
        if known is not None:
            return known
        if listed.file not in self._mapped:
            self._mapped[listed.file] = read_mapped(self._directory / listed.file)
        return Chunk(self._layout, self._mapped[listed.file].slice(listed.start, listed.rows), place)


def _listed(files: MappedFiles, there: set[str], level: Level) -> list[_Listed]:
    return [_entry(files, there, chunk) for chunk in level]


def _entry(files: MappedFiles, there: set[str], chunk: Chunk) -> _Listed:
    """Return the entry of a chunk; `there` are the names of the files in the directory."""
    if _LEAST_BYTES * len(chunk) <= files.in_memory and chunk.batch.nbytes <= files.in_memory:
        return _Listed(len(chunk), data=chunk.batch.serialize().to_pybytes())
    if chunk.place is None or chunk.place.file not in there:
        chunk.place = files.keep(chunk.batch).place
        assert chunk.place is not None
    return _Listed(len(chunk), chunk.place.file, chunk.place.start)


def _tidy(directory: Path, oldest: str) -> None:
    """Remove the files of epochs before `oldest` that no index of later ones names."""
    needed: set[str] = set()
    names = [path.name for path in directory.iterdir()]
    for name in names:
        if name.endswith(_INDEX) and name >= oldest:
            needed |= _decoder.decode((directory / name).read_bytes()).files()
    for name in names:
        if name < oldest and name not in needed:
            (directory / name).unlink(missing_ok=True)


def _name(epoch: int, run: RunRef) -> str:
    return f"{epoch_prefix(epoch)}-{PurePosixPath(run.path).stem}{_INDEX}"


def _origin() -> str:
    return f"{boot_id()}/{_FORMAT}"


def _cut(cut: tuple[int, int, int] | None) -> Cut | None:
    return None if cut is None else Cut(cut[0], np.uint64(cut[1]), np.uint64(cut[2]))
