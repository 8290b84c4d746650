"""The check of the state at the end: every record is counted exactly once."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bench.durability.job import Load
from bench.part import RunError
from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.newest import newest_entries
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.splits import finished_splits
from firesteel.common import Types
from firesteel.state.keys.groups import key_group_range
from firesteel.state.values.codecs import ValueCodec

_PARTS: Final = 16


def check(state: Path, load: Load, records: int | None = None) -> None:
    """Raise RunError unless all keys exist, their counts sum to the number of records read, and this number is
    `records` (None: any number).
    """
    storage = Storage.of(state)
    reader = ManifestReader(storage)
    last = reader.latest()
    assert last is not None
    [progress] = last.sources.values()
    read = sum(split.position for split in progress.unfinished.values())
    read += sum(finished_splits(storage, progress).values())
    decode = ValueCodec(Types.LONG(), "count").decode
    keys = counted = 0
    for layers in reader.all_layers(0, last.epoch).values():
        for part in range(_PARTS):
            groups = key_group_range(part, _PARTS, last.max_parallelism)
            for entries in newest_entries(storage, layers, (groups.start, groups.stop - 1)):
                keys += len(entries)
                counted += sum(map(decode, entries.column(1).to_pylist()))
    wanted = load.keys, read if records is None else records, read
    if (keys, counted, read) != wanted:
        raise RunError(f"{keys:,} keys with {counted:,} records after reading {read:,}, not {wanted}")
