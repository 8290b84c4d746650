"""Savepoints: one epoch's state in a separate, self-contained directory, which can be moved.

Layout, all paths relative::

    savepoint.json            marks the savepoint as complete, and describes it; written last
    manifests/000000000042    the epoch's manifest, with all of its layers
    runs/...                  copies of their runs

Except for savepoint.json, a savepoint has the layout of a state directory, and is read in the same way. It has no
committables, because the output of its epoch is visible. The write can be stopped at any point. The incomplete
directory is not a savepoint and can be removed; use another directory for the next one.
"""

from __future__ import annotations

import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import msgspec
from xxhash import xxh3_64_hexdigest

from firesteel.checkpoint.documents import read_signed, write_document
from firesteel.checkpoint.log import ManifestReader, write_manifest
from firesteel.checkpoint.manifest import FORMAT, Manifest, stored_runs
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.runs import copy_run
from firesteel.common.errors import StateError
from firesteel.state.live.durable import RunRef

_FILE: Final = "savepoint.json"
_COPIES: Final = 8


class SavepointFile(msgspec.Struct, frozen=True):
    """The contents of savepoint.json: the job and epoch (times in milliseconds); `checksum` covers the rest."""

    job_id: str
    job_name: str
    epoch: int
    max_parallelism: int
    created_at: int
    runs: int
    size: int
    format: int = FORMAT
    checksum: str = ""

    def signed(self) -> SavepointFile:
        """Return a copy with the correct checksum."""
        plain = msgspec.structs.replace(self, checksum="")
        return msgspec.structs.replace(self, checksum=xxh3_64_hexdigest(msgspec.json.encode(plain)))


def self_contained(reader: ManifestReader, epoch: int) -> Manifest:
    """Return an epoch's manifest with all layers of its state, and without unpublished committables."""
    manifest = reader.read(epoch)
    operators = {
        operator: msgspec.structs.replace(snapshot, runs=[])
        for operator, snapshot in manifest.operators.items()
    }
    return msgspec.structs.replace(
        manifest,
        operators=operators,
        layers=reader.all_layers(0, epoch),
        compacted=epoch,
        committables={},
        span=1,
        history={},
    )


def write_savepoint(source: Storage, epoch: int, target: Storage) -> SavepointFile:
    """Write a savepoint of a state directory's epoch, whose output is visible, into an empty directory.

    Each run is checked as it is copied. Raises StateCorruptedError for a damaged run, StateError if the directory
    already has a savepoint or other manifests.
    """
    require_empty(target)
    return store_savepoint(source, self_contained(ManifestReader(source), epoch), target)


def require_empty(target: Storage) -> None:
    """Raise StateError if a directory already contains a savepoint or other manifests."""
    if open_savepoint(target) is not None or target.list("manifests"):
        raise StateError(
            "requires an empty directory",
            who="a savepoint",
            got=target.url,
            hint="use another directory, or remove its contents",
        )


def new_savepoint(source: Storage, epoch: int, parent: str | None) -> str:
    """Write a savepoint as `write_savepoint` does into a new directory below `parent` (None: ``savepoints`` in the
    state directory) and return its URL.
    """
    below = (parent or source.location("savepoints")).rstrip("/")
    target = Storage.of(f"{below}/savepoint-{epoch:06d}-{uuid.uuid4().hex[:8]}")
    write_savepoint(source, epoch, target)
    return target.url


def store_savepoint(source: Storage, manifest: Manifest, target: Storage) -> SavepointFile:
    """Copy the runs of a self-contained manifest, then write it, then mark the savepoint as complete."""
    copy_runs(source, stored_runs(manifest), target)
    return complete_savepoint(manifest, target)


def complete_savepoint(manifest: Manifest, target: Storage) -> SavepointFile:
    """Write a manifest whose runs exist, then mark the savepoint as complete."""
    runs = stored_runs(manifest)
    write_manifest(target, manifest)
    file = SavepointFile(
        job_id=manifest.job_id,
        job_name=manifest.job_name,
        epoch=manifest.epoch,
        max_parallelism=manifest.max_parallelism,
        created_at=int(time.time() * 1000),
        runs=len(runs),
        size=sum(run.size for run in runs),
    ).signed()
    write_document(target, _FILE, file)
    return file


def open_savepoint(storage: Storage) -> SavepointFile | None:
    """Return the contents of a directory's savepoint.json, None if there is none.

    Raises StateCorruptedError if it is damaged, StateMismatchError if a newer Firesteel wrote it.
    """
    return read_signed(storage, _FILE, SavepointFile, FORMAT, "savepoints")


def copy_runs(source: Storage, runs: list[RunRef], target: Storage) -> None:
    """Copy and check runs, several at a time."""
    with ThreadPoolExecutor(_COPIES) as pool:
        for _ in pool.map(lambda run: copy_run(source, run, target), runs):
            pass
