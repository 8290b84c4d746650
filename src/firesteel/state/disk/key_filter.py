"""The filter of the keys that a working copy may have, in a file beside it that the machine's processes share.

A search in a large B-tree for a key that is not there costs as much as for one that is. The filter (`Bloom`) saves most
of these searches. It is only ever too large, never too small. Contract:

- The copy itself names its filter: a record in LMDB says which file it is, and how large. It is read in the
  transaction that uses the filter, and written in the transaction that changes the keys. So the filter that a snapshot
  names has all keys of the snapshot.
- Keys are added before their transaction commits, and bits are never taken away. A transaction that fails, and a
  process that is killed, leave too many bits at most. LMDB lets one process write at a time.
- The names of files are random, and no name is used twice. A file that is missing, too short, or has another name
  inside is not used: reads do without, and the next write makes another one from the copy's keys, or records that there
  is none.

A small copy has no filter. A full filter gets a further layer; if most of its keys are no longer in the copy, it is
made again from those that are. If the disk has no room for it, the copy does without until it has twice as many keys.
"""

from __future__ import annotations

import logging
import mmap
import secrets
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from firesteel.state.disk.bloom import Bloom, Shape
from firesteel.state.disk.directories import filter_files
from firesteel.state.disk.lmdb_file import key_blocks
from firesteel.state.values.chunks import Entry

SMALLEST: Final = 1 << 15
"""The keys of a copy from which on it has a filter."""
_RECORD: Final = b"filter"
_MAGIC: Final = b"firesteel keys 1"
_HEAD: Final = struct.Struct(">16sQ40x")
"""The start of a file: what it is, and its name. Words after it must be aligned."""
_record: Final = struct.Struct(">QBBQQ")
_ZEROS: Final = bytes(1 << 20)
_log: Final = logging.getLogger(__name__)


class _Record(NamedTuple):
    """The filter of a copy: its name (0: none), its shape, and how many keys were added to it.

    A copy that could not get a filter gets one when it has `wanted` keys.
    """

    name: int = 0
    bits: int = 0
    layers: int = 0
    added: int = 0
    wanted: int = 0

    @property
    def shape(self) -> Shape:
        return Shape(self.bits, self.layers)


class KeyFilter:
    """The filter of one copy; the module describes the contract.

    `data` and `meta` are the copy's databases: that of its entries, and the one for the record.
    """

    def __init__(self, directory: Path, data: Any, meta: Any) -> None:
        self._directory = directory
        self._data = data
        self._meta = meta
        self._open: tuple[int, Bloom] | None = None

    def of(self, transaction: Any) -> Bloom | None:
        """Return the filter of a transaction's snapshot; None if it has none that can be used."""
        return self._opened(self._read(transaction))

    def include(self, transaction: Any, chunk: Sequence[Entry]) -> None:
        """Add the keys of entries that a transaction has written; call this before it commits."""
        before = self._read(transaction)
        bloom = self._opened(before)
        if bloom is None:
            after = self._built(transaction, before)
        else:
            keys = [key for key, value in chunk if value is not None]
            after = before._replace(added=before.added + (bloom.add(keys) if keys else 0))
            if after.added > bloom.shape.capacity:
                after = self._grown(transaction, after)
        if after != before:
            transaction.put(_RECORD, _record.pack(*after), db=self._meta)

    def forget(self, transaction: Any) -> None:
        """Remove the filter of a copy that a transaction empties."""
        transaction.delete(_RECORD, db=self._meta)
        self._open = None
        self._remove_others(0)

    def close(self) -> None:
        """Let go of the file; it is opened again when it is needed."""
        self._open = None

    def _read(self, transaction: Any) -> _Record:
        data = transaction.get(_RECORD, db=self._meta)
        return _Record() if data is None else _Record._make(_record.unpack(data))

    def _opened(self, record: _Record) -> Bloom | None:
        if not record.name:
            return None
        if self._open is None or self._open[0] != record.name or self._open[1].shape != record.shape:
            try:
                self._open = record.name, _mapped(self._path(record.name), record)
            except (OSError, ValueError):  # missing, damaged, or there is no address space for it
                self._open = None
                return None
        return self._open[1]

    def _built(self, transaction: Any, before: _Record) -> _Record:
        """Make a filter of all keys of the copy if it has enough of them."""
        entries = transaction.stat(self._data)["entries"]
        if entries < max(before.wanted, SMALLEST):
            if before.name:
                self._remove_others(0)
            return _Record(wanted=before.wanted)
        name = secrets.randbits(63) + 1
        shape = Shape.for_keys(entries)
        record = _Record(name, *shape, added=entries)
        try:
            self._remove_others(name)
            _extend(self._path(name), name, 0, shape.size)
            bloom = _mapped(self._path(name), record)
        except (OSError, ValueError) as error:
            return self._without(entries, error)
        for keys in key_blocks(transaction, self._data):
            bloom.add(keys)
        self._open = name, bloom
        return record

    def _grown(self, transaction: Any, record: _Record) -> _Record:
        """Add a layer to a full filter; make it again if less than half of its keys are still in the copy."""
        entries = transaction.stat(self._data)["entries"]
        if 2 * entries < record.added:
            return self._built(transaction, record)
        try:
            shape = record.shape.larger
            _extend(self._path(record.name), record.name, record.shape.size, shape.size)
        except OSError as error:
            return self._without(entries, error)
        return record._replace(layers=shape.layers)

    def _without(self, entries: int, error: Exception) -> _Record:
        _log.warning("the working copy %s does without a filter of its keys: %s", self._directory, error)
        self._open = None
        self._remove_others(0)
        return _Record(wanted=2 * entries)

    def _path(self, name: int) -> Path:
        return self._directory / f"{name:016x}.keys"

    def _remove_others(self, name: int) -> None:
        for path in filter_files(self._directory):
            if path != self._path(name):
                path.unlink(missing_ok=True)


def _extend(path: Path, name: int, old: int, new: int) -> None:
    """Write zeros from byte `old` to byte `new` of a filter; they are written since mapping does not reserve room."""
    with path.open("r+b" if old else "xb") as file:
        if not old:
            file.write(_HEAD.pack(_MAGIC, name))
        file.seek(_HEAD.size + old)
        for start in range(old, new, len(_ZEROS)):
            file.write(_ZEROS[: new - start])


def _mapped(path: Path, record: _Record) -> Bloom:
    """Map a file. Raises OSError or ValueError if it is not the whole filter of this record."""
    with path.open("r+b") as file:
        if file.read(_HEAD.size) != _HEAD.pack(_MAGIC, record.name):
            raise ValueError(f"{path} is no filter of its name")
        memory = mmap.mmap(file.fileno(), _HEAD.size + record.shape.size)
    return Bloom(memoryview(memory)[_HEAD.size :], record.shape)
