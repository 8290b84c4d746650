"""How an operator subtask reads the state that is committed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol

from firesteel.common.errors import ProgramError


class StateReader(Protocol):
    """The state of the last committed epoch, as it was when the epoch began."""

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a composite key, None if there is none."""

    def get_many(self, keys: list[bytes], /) -> dict[bytes, bytes]:
        """Return the values of those composite keys that have one; sorted keys are found fastest."""

    def scan(self, prefix: bytes, start: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        """Return the entries whose key begins with `prefix` in order, from `start` on."""


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
"""The reader before the first epoch: there is nothing to be read yet."""
