"""`firesteel checkpoints`: the epochs that a job can be started from, and the origin of each."""

from __future__ import annotations

from typing import Final

import msgspec
import typer

from firesteel.checkpoint.log import ManifestLog
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.savepoint import open_savepoint
from firesteel.cli.tables import Column, how_large, local_time, show_table
from firesteel.common.errors import StateError
from firesteel.control.views.checkpoints import Checkpoint, find_checkpoints, verified
from firesteel.rest.client import state_directory_of

_DIGITS: Final = 8
"""The number of characters of a fingerprint that distinguish two versions of a program."""

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


def list_checkpoints(location: str, *, as_json: bool, verify: bool) -> bool:
    """Print the kept epochs of a job, or the one of a savepoint; return whether none is known to be damaged.

    Raises StateError for a directory that is neither.
    """
    storage = Storage.existing(state_directory_of(location))
    if open_savepoint(storage) is None and ManifestLog.open(storage) is None:
        raise StateError(
            "requires the state directory of a job, or a savepoint",
            who="JOB",
            got=f"{storage.url}, which is neither",
            hint="firesteel jobs DIR lists the jobs below a directory",
        )
    found = find_checkpoints(storage)
    if verify:
        found = [verified(storage, checkpoint) for checkpoint in found]
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
