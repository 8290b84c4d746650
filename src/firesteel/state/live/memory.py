"""The memory that the states of one process share.

Contract: a backend joins at the start of each epoch; it is forgotten when it is collected. `share` is how much it may
keep, and `note` says what it does keep, so that others know what is left.
"""

from __future__ import annotations

from typing import ClassVar
from weakref import WeakKeyDictionary

from firesteel.state.live.machine import default_state_memory


class Memory:
    """What several users of memory may keep together: `limit`, in bytes.

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
        """Take a user in, which keeps nothing yet, or what it said last."""
        self._kept.setdefault(user, 0)

    def note(self, user: object, kept: int) -> None:
        """Say how much a user keeps (bytes)."""
        self._kept[user] = kept

    def share(self, user: object) -> int:
        """Return how much a user may keep: what the others leave of the limit, an equal share of it at the least."""
        others = sum(self._kept.values()) - self._kept.get(user, 0)
        return max(self.limit - others, self.limit // max(1, len(self._kept)))


def allow_state_memory(limit: int | None) -> None:
    """Set how many bytes of state this process may keep in memory; None: the default for the worker.

    Jobs that run in the same process one after the other each set their own; of jobs at the same time the last counts.
    """
    Memory.of_process().limit = default_state_memory() if limit is None else limit
