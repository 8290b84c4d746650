"""The epochs that a job can be started from, and the origin of each."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import msgspec

from firesteel.checkpoint.integrity import damage_of
from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.manifest import Manifest
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.retention import kept_epochs
from firesteel.common.errors import StateCorruptedError

_AT_ONCE: Final = 16


class Checkpoint(msgspec.Struct, frozen=True):
    """One epoch that is kept.

    `time` is when it was committed (milliseconds since 1970), `state_bytes` the size of the whole state,
    `written_bytes` what the epoch itself added, `records` how many it read, `parallelism` those of its operators.
    `program` and `fingerprint` identify the file that ran. With `new_history` the state is not that of the epoch before
    it, but that of `restored_from`. `intact` is None if that was not checked; `damage` says what is wrong.
    """

    epoch: int
    time: int | None = None
    state_bytes: int | None = None
    written_bytes: int | None = None
    records: int | None = None
    parallelism: list[int] = []
    program: str = ""
    fingerprint: str = ""
    firesteel: str = ""
    lineage: str = ""
    new_history: bool = False
    restored_from: str = ""
    finished: bool = False
    intact: bool | None = None
    damage: str | None = None


def find_checkpoints(storage: Storage) -> list[Checkpoint]:
    """Return the kept epochs in order; one with a damaged manifest has little more than its number.

    Each manifest is read once. The size of the state takes a few more for each compaction in between.
    """
    reader = ManifestReader(storage)
    try:
        epochs = kept_epochs(reader)
    except StateCorruptedError:  # the last one, which lists the kept epochs: then all that exist
        epochs = reader.epochs()
    at_once = 1 if storage.is_local else _AT_ONCE
    with ThreadPoolExecutor(at_once, "firesteel-checkpoints") as threads:
        read = list(threads.map(lambda epoch: _read(reader, epoch), epochs))
    return list(_described(reader, dict(zip(epochs, read, strict=True))))


def _described(
    reader: ManifestReader, manifests: dict[int, Manifest | StateCorruptedError]
) -> Iterator[Checkpoint]:
    before: Manifest | None = None
    size: int | None = None
    for epoch, manifest in manifests.items():
        if isinstance(manifest, StateCorruptedError):
            yield Checkpoint(epoch, intact=False, damage=str(manifest))
            before = None
            continue
        size = _state_size(reader, manifest, before, size)
        yield _checkpoint(manifest, before, size)
        before = manifest


def _checkpoint(manifest: Manifest, before: Manifest | None, size: int | None) -> Checkpoint:
    changed = before is not None and before.lineage != manifest.lineage
    return Checkpoint(
        epoch=manifest.epoch,
        time=manifest.created_at,
        state_bytes=size,
        written_bytes=_written(manifest),
        records=manifest.records,
        parallelism=sorted({snapshot.parallelism for snapshot in manifest.operators.values()}),
        program=manifest.program,
        fingerprint=manifest.fingerprint,
        firesteel=manifest.version,
        lineage=manifest.lineage,
        new_history=changed or bool(manifest.restored_from),
        restored_from=manifest.restored_from,
        finished=manifest.finished,
    )


def _state_size(
    reader: ManifestReader, manifest: Manifest, before: Manifest | None, size: int | None
) -> int | None:
    """Return the size of the epoch before it and what it added; after a compaction count all layers again.

    None if a manifest it needs is damaged.
    """
    follows = before is not None and before.epoch == manifest.epoch - 1
    if follows and before is not None and size is not None and before.layers == manifest.layers:
        return size + _written(manifest)
    try:
        layers = reader.all_layers(0, manifest.epoch)
    except StateCorruptedError:
        return None
    return sum(layer.size for found in layers.values() for layer in found)


def _written(manifest: Manifest) -> int:
    return sum(run.size for snapshot in manifest.operators.values() for run in snapshot.runs)


def _read(reader: ManifestReader, epoch: int) -> Manifest | StateCorruptedError:
    try:
        return reader.read(epoch)
    except StateCorruptedError as error:
        return error


def verified(storage: Storage, checkpoint: Checkpoint) -> Checkpoint:
    """Return this checkpoint with `intact`: whether all its files are as they were written. All of them are read."""
    damage = damage_of(storage, checkpoint.epoch)
    said = None if damage is None else str(damage)
    return msgspec.structs.replace(checkpoint, intact=damage is None, damage=said)
