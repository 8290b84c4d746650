"""What an epoch changed in an arrangement, or what several did."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from firesteel.state.arrangements.drops import Drop, joined
from firesteel.state.arrangements.levels import Level, without


@dataclass(frozen=True)
class Changes:
    """First all that is older loses the rows of `drops`; then the changes of `level` follow, which are sorted."""

    level: Level = ()
    drops: tuple[Drop, ...] = ()

    def __bool__(self) -> bool:
        """Return whether anything changes."""
        return bool(self.level or self.drops)


def in_turn(changes: Iterable[Changes]) -> tuple[list[Level], tuple[Drop, ...]]:
    """Return the levels that changes, oldest first, leave of each other, and all that they delete of what is older."""
    levels: list[Level] = []
    drops: tuple[Drop, ...] = ()
    for change in changes:
        levels = [without(level, change.drops) for level in levels]
        levels.append(change.level)
        drops = joined((*drops, *change.drops))
    return [level for level in levels if level], drops
