"""A store of arrangements in memory, for operators that are tested without a job."""

from __future__ import annotations

from firesteel.state.arrangements.changes import Changes
from firesteel.state.arrangements.drops import narrowed, widened
from firesteel.state.arrangements.hashing import first_hash
from firesteel.state.arrangements.levels import Shelf
from firesteel.state.arrangements.live import ArrangementAddress, Missing
from firesteel.state.live.durable import RunRef, StateAddress


def _hashes(owner: StateAddress) -> tuple[int, int]:
    groups = owner.groups
    return first_hash(groups.start, owner.max_parallelism), first_hash(groups.stop, owner.max_parallelism)


class MemoryStore:
    """Keeps the changes of committed epochs; call `commit` after each epoch with whether it is kept.

    Subtasks may have other key groups from epoch to epoch.
    """

    def __init__(self) -> None:
        self._committed: list[tuple[str, int, tuple[int, int], Changes]] = []
        self._pending: list[tuple[str, int, tuple[int, int], Changes]] = []

    def changes_between(
        self, arrangement: ArrangementAddress, since: int, until: int, run: RunRef | None, shelf: Shelf
    ) -> Missing:
        """Return the changes after epoch `since` up to epoch `until`."""
        mine = _hashes(arrangement.owner)
        found = []
        for name, epoch, hashes, changes in self._committed:
            if name == arrangement.name and since < epoch <= until:
                level = tuple(part for chunk in changes.level if len(part := chunk.between(*mine)))
                found.append(Changes(level, widened(narrowed(changes.drops, *hashes), *mine)))
        return Missing(since + 1, [changes for changes in found if changes])

    def store_changes(
        self, arrangement: ArrangementAddress, epoch: int, attempt: str, changes: Changes
    ) -> RunRef | None:
        """Store the changes of an epoch until `commit`."""
        self._pending.append((arrangement.name, epoch, _hashes(arrangement.owner), changes))
        return None

    def commit(self, keep: bool) -> None:
        """Keep or drop the changes of the last epoch."""
        self._committed += self._pending if keep else []
        self._pending = []
