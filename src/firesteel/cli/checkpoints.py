"""`firesteel checkpoints`: the epochs a job can be started from, and where each comes from."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import msgspec
import typer

from firesteel.checkpoint.integrity import damage_of
from firesteel.checkpoint.log import ManifestLog, ManifestReader
from firesteel.checkpoint.manifest import Manifest
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.retention import kept_epochs
from firesteel.checkpoint.savepoint import open_savepoint
from firesteel.cli.tables import Column, how_large, local_time, show_table
from firesteel.common.errors import StateCorruptedError, StateError

_AT_ONCE: Final = 16
_DIGITS: Final = 8
"""How much of a fingerprint people need to tell two versions of a program apart."""

_COLUMNS: Final = (
    Column("EPOCH", number=True),
    Column("TIME"),
    Column("STATE", number=True),
    Column("WRITTEN", number=True),
    Column("RECORDS", number=True),
    Column("PARALLELISM"),
    Column("PROGRAM", wraps=True),
    Column("FIRESTEEL"),
    Column("INTACT"),
    Column("NOTE", wraps=True),
)


class Checkpoint(msgspec.Struct, frozen=True):
    """One epoch that is kept.

    `time` is when it was committed (milliseconds since 1970), `state_bytes` the size of the whole state,
    `written_bytes` what the epoch itself added, `records` how many it read, `parallelism` those of its operators.
    `program` and `fingerprint` say which file ran. `new_history` says that the state is not what the epoch before it
    left, but that of `restored_from`. `intact` is None where that was not looked into; `damage` says what is wrong.
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


def list_checkpoints(location: str, *, as_json: bool, verify: bool) -> bool:
    """Print the kept epochs of a job, or the one of a savepoint; return whether none is known to be damaged.

    Raises StateError for a directory that holds neither.
    """
    storage = Storage.existing(location)
    if open_savepoint(storage) is None and ManifestLog.open(storage) is None:
        raise StateError(
            "requires the state directory of a job, or a savepoint",
            who="JOB",
            got=f"{storage.url}, which is neither",
            hint="firesteel jobs DIR lists the jobs below a directory",
        )
    found = find_checkpoints(storage)
    if verify:
        found = [_verified(storage, checkpoint) for checkpoint in found]
    if as_json:
        typer.echo(msgspec.json.format(msgspec.json.encode(found)))
    elif not found:
        typer.echo(f"no epoch has been committed in {storage.url}", err=True)
    else:
        show_table(_COLUMNS, [_row(checkpoint) for checkpoint in found])
        for checkpoint in found:
            if checkpoint.damage is not None:
                typer.echo(f"\nepoch {checkpoint.epoch}: {checkpoint.damage}")
    return not any(checkpoint.intact is False for checkpoint in found)


def find_checkpoints(storage: Storage) -> list[Checkpoint]:
    """Return the kept epochs in order; of one whose manifest is damaged little more than that.

    Each manifest is read once; for the size of the state a few more for each compaction in between.
    """
    reader = ManifestReader(storage)
    try:
        epochs = kept_epochs(reader)
    except StateCorruptedError:  # the last one, which says what is kept: then all there are
        epochs = reader.epochs()
    with ThreadPoolExecutor(_AT_ONCE, "firesteel-checkpoints") as threads:
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
    """What the epoch before it had and it added, unless a compaction came between.

    None where a manifest it needs is damaged.
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


def _verified(storage: Storage, checkpoint: Checkpoint) -> Checkpoint:
    damage = damage_of(storage, checkpoint.epoch)
    said = None if damage is None else str(damage)
    return msgspec.structs.replace(checkpoint, intact=damage is None, damage=said)


def _row(checkpoint: Checkpoint) -> list[str]:
    return [
        str(checkpoint.epoch),
        "" if checkpoint.time is None else local_time(checkpoint.time),
        "" if checkpoint.state_bytes is None else how_large(checkpoint.state_bytes),
        "" if checkpoint.written_bytes is None else how_large(checkpoint.written_bytes),
        "" if checkpoint.records is None else f"{checkpoint.records:,}",
        ", ".join(map(str, checkpoint.parallelism)),
        f"{checkpoint.program} {checkpoint.fingerprint[:_DIGITS]}".strip(),
        checkpoint.firesteel,
        {None: "", True: "yes", False: "damaged"}[checkpoint.intact],
        _note(checkpoint),
    ]


def _note(checkpoint: Checkpoint) -> str:
    notes = []
    if checkpoint.new_history:
        notes.append(f"starts again from {checkpoint.restored_from or 'another state'}")
    if checkpoint.finished:
        notes.append("finished")
    return "; ".join(notes)
