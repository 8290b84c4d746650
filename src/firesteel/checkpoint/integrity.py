"""Checks whether all files of an epoch exist and are undamaged."""

from __future__ import annotations

from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.manifest import runs_of, split_runs
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.retention import kept_epochs
from firesteel.checkpoint.runs import check_run
from firesteel.common.errors import StateCorruptedError


def damage_of(storage: Storage, epoch: int) -> StateCorruptedError | None:
    """Return the error in an epoch's manifest or in a run that it needs; None if a job can start from it."""
    try:
        reader = ManifestReader(storage)
        layers = reader.all_layers(0, epoch)
        for run in (*runs_of(layers), *split_runs(reader.read(epoch).sources)):
            check_run(storage, run)
    except StateCorruptedError as error:
        return error
    return None


def newest_intact(storage: Storage, before: int) -> int | None:
    """Return the newest kept epoch before this one from which a job can start, None if there is none."""
    reader = ManifestReader(storage)
    try:
        kept = kept_epochs(reader)
    except StateCorruptedError:  # the last manifest, which names the kept epochs
        kept = reader.epochs()
    for epoch in reversed(kept):
        if epoch < before and damage_of(storage, epoch) is None:
            return epoch
    return None


def advised_error(
    error: StateCorruptedError, storage: Storage, before: int | None = None
) -> StateCorruptedError:
    """Add the newest intact older epoch to an error."""
    epochs = ManifestReader(storage).epochs()
    intact = newest_intact(storage, before if before is not None else max(epochs, default=0) + 1)
    if intact is None:
        error.hint = "no kept epoch is intact: restore the directory from a backup, or start from a savepoint"
    else:
        error.hint = (
            f"restore the file from a backup; or start from epoch {intact}, which is intact, with --from {intact}: "
            "what the epochs after it put out would be put out again"
        )
    return error
