"""The memory that the states of one process share.

Contract: a backend joins at the start of each epoch; it leaves when it is garbage collected. `share` returns how much
it may keep, and `note` records how much it does keep, so that the others know how much is left.
"""

from __future__ import annotations

from typing import ClassVar
from weakref import WeakKeyDictionary

from firesteel.state.live.machine import default_state_memory


class Memory:
    """The `limit`, in bytes, of the memory that several users keep together.

    >>> class User: pass
    >>> memory, one, other = Memory(100), User(), User()
    >>> memory.join(one); memory.join(other); memory.note(one, 20)
    >>> memory.share(other), memory.share(one)
    (80, 100)
    """

    _of_process: ClassVar[Memory | None] = None

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._kept: WeakKeyDictionary[object, int] = WeakKeyDictionary()

    @classmethod
    def of_process(cls) -> Memory:
        """Return the memory that all states of this process share; its limit is `default_state_memory` until set."""
        if Memory._of_process is None:
            Memory._of_process = Memory(default_state_memory())
        return Memory._of_process

    def join(self, user: object) -> None:
        """Add a user; until its next `note` it counts with its last one, or with nothing."""
        self._kept.setdefault(user, 0)

    def note(self, user: object, kept: int) -> None:
        """Record how much a user keeps (bytes)."""
        self._kept[user] = kept

    @property
    def kept(self) -> int:
        """What all users keep (bytes)."""
        return sum(self._kept.values())

    def kept_by(self, user: object) -> int:
        """Return what a user has noted last."""
        return self._kept.get(user, 0)

    def share(self, user: object) -> int:
        """Return how much a user may keep: the part of the limit that others leave free, at least an equal share."""
        others = self.kept - self.kept_by(user)
        return max(self.limit - others, self.limit // max(1, len(self._kept)))


def allow_state_memory(limit: int | None) -> None:
    """Set how many bytes of state this process may keep in memory; None: the default for the worker.

    Jobs that run one after the other in the same process each set their own limit. If jobs run at the same time, the
    last one set applies.
    """
    Memory.of_process().limit = default_state_memory() if limit is None else limit
