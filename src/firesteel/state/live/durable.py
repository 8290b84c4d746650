"""How a task refers to durable state: its owner, its reader, and the location of a run of changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

import msgspec

from firesteel.common.errors import ProgramError


@dataclass(frozen=True, slots=True)
class StateAddress:
    """The owner of state: one subtask of one operator, in one lineage of a job's history, with its key groups.

    `first_group` and `last_group` are both included; `max_parallelism` is the number of the operator's key groups.
    """

    lineage: str
    operator_id: str
    subtask: int
    first_group: int
    last_group: int
    max_parallelism: int

    @property
    def groups(self) -> range:
        """The key groups."""
        return range(self.first_group, self.last_group + 1)


class RunRef(msgspec.Struct, frozen=True, array_like=True):
    """The location of a run and its expected content.

    `size` is in bytes, `checksum` the xxh3 (64 bits) of the file in hexadecimal. The entries belong to key groups
    `first_group` to `last_group`, both included, and to broadcast state.
    """

    path: str
    entries: int
    size: int
    checksum: str
    epoch: int
    operator: str
    subtask: int
    first_group: int
    last_group: int


@dataclass(frozen=True, slots=True)
class StateVersion:
    """The state of one subtask after an epoch of a lineage; `run` is the epoch's own run (None: it changed nothing)."""

    lineage: str
    subtask: int
    epoch: int
    run: RunRef | None


class StoreUse(NamedTuple):
    """How many keys a task looked for in the working copy of a subtask, with the copy's entries and their bytes (None:
    nobody looked, so it was not opened).
    """

    reads: int
    entries: int | None = None
    bytes: int | None = None


class StateReader(Protocol):
    """The state of the last committed epoch, as it was when the epoch began."""

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a composite key; None if there is none."""

    def get_many(self, keys: list[bytes], /) -> dict[bytes, bytes]:
        """Return the values of those composite keys that have one; sorted keys are found fastest."""

    def scan(self, prefix: bytes, start: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        """Return the entries whose key begins with `prefix`, in order, from `start` on."""


class _NoState:
    def get(self, key: bytes) -> bytes | None:
        raise ProgramError("can be used only after an epoch has begun", who="state", got=repr(key))

    def get_many(self, keys: list[bytes]) -> dict[bytes, bytes]:
        raise ProgramError("can be used only after an epoch has begun", who="state", got=repr(keys[:1]))

    def scan(self, prefix: bytes, start: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        raise ProgramError(
            "can be used only after an epoch has begun", who="state", got=repr(start or prefix)
        )


NO_STATE: Final = _NoState()
"""The reader before the first epoch: every use raises an error."""
