"""Entries that belong to a key group rather than to one of its keys."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

from firesteel.state.keys.groups import key_group, key_groups


class GroupKeys:
    """A key of each key group: what is stored under it goes where the group goes."""

    def __init__(self, max_parallelism: int) -> None:
        self._groups = max_parallelism
        self._keys = count()
        self._of_groups: dict[int, int] = {}

    def of(self, group: int) -> int:
        """Return the key of a group, which is always the same."""
        keys = self._of_groups
        while group not in keys:
            key = next(self._keys)
            keys.setdefault(key_group(key, self._groups), key)
        return keys[group]

    def places(self, keys: Sequence[Any]) -> dict[int, list[int]]:
        """Return the places of keys in their sequence, by the key of their group."""
        found: dict[int, list[int]] = {}
        for place, group in enumerate(key_groups(keys, self._groups)):
            found.setdefault(group, []).append(place)
        return {self.of(group): places for group, places in found.items()}
