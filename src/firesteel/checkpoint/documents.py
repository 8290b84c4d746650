"""The small files of a state directory: JSON documents, with or without a checksum, and the published epoch.

They all raise the same error if they are damaged; so do runs and manifests.
"""

from __future__ import annotations

from typing import Final, Protocol, Self, TypeVar

import msgspec

from firesteel.checkpoint.objects import NotFound, Storage
from firesteel.common.decoders import json_decoder
from firesteel.common.errors import StateCorruptedError, StateMismatchError

RESTORE: Final = "the file was damaged or removed after it was written; restore it from a backup"

_PUBLISHED: Final = "published"


class Signed(Protocol):
    """A struct with the version of its layout and a checksum over its other fields."""

    @property
    def format(self) -> int: ...
    @property
    def checksum(self) -> str: ...
    def signed(self) -> Self:
        """Return a copy with the correct checksum."""
        ...


S = TypeVar("S")
D = TypeVar("D", bound=Signed)


def damaged_error(
    storage: Storage,
    path: str,
    got: str,
    *,
    requirement: str = "must be as it was written",
    hint: str | None = RESTORE,
) -> StateCorruptedError:
    """Return the error for a damaged or missing file."""
    return StateCorruptedError(requirement, who=storage.location(path), got=got, hint=hint)


def read_document(storage: Storage, path: str, kind: type[S], hint: str | None = RESTORE) -> S | None:
    """Return the contents of a JSON file, None if there is none. Raises StateCorruptedError if it cannot be read."""
    try:
        data = storage.get(path)
    except NotFound:
        return None
    try:
        return json_decoder(kind).decode(data)
    except msgspec.DecodeError as error:
        raise damaged_error(storage, path, str(error), hint=hint) from error


def read_signed(storage: Storage, path: str, kind: type[D], known: int, what: str) -> D | None:
    """Return the contents of a JSON file with a checksum, None if there is none.

    Raises StateCorruptedError if it is damaged, StateMismatchError if its format is not `known`: then a newer or older
    Firesteel wrote it. `what` ("savepoints") names the files in the message.
    """
    found = read_document(storage, path, kind)
    if found is None:
        return None
    if found.signed() != found:
        raise damaged_error(storage, path, f"checksum {found.checksum!r}")
    if found.format != known:
        newer = found.format > known
        raise StateMismatchError(
            f"requires a Firesteel that knows format {found.format} of {what}",
            who=storage.url,
            got=f"one that knows format {known}",
            hint="use the version of Firesteel that wrote it, or a newer one"
            if newer
            else "use the version of Firesteel that wrote it; with this one, use another directory",
        )
    return found


def published_epoch(storage: Storage) -> int:
    """Return the last epoch whose committables are committed, as recorded in a state directory; 0 before the first.

    Raises StateCorruptedError if the record is not a number.
    """
    try:
        data = storage.get(_PUBLISHED)
    except NotFound:
        return 0
    if not data.isdigit():
        raise damaged_error(
            storage, _PUBLISHED, repr(data[:40]), requirement="must be the number of an epoch"
        )
    return int(data)


def record_published(storage: Storage, epoch: int) -> None:
    """Record that the committables of all epochs up to this one are committed."""
    storage.put(_PUBLISHED, str(epoch).encode())


def write_document(storage: Storage, path: str, content: msgspec.Struct) -> None:
    """Write a readable JSON file; replace an existing one."""
    storage.put(path, as_document(content))


def as_document(content: msgspec.Struct) -> bytes:
    """Return the bytes of a readable JSON file."""
    return msgspec.json.format(msgspec.json.encode(content))
