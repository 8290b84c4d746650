"""The windows of a key that may still merge, and the location of their contents (Flink: MergingWindowSet).

When windows merge, contents are not rewritten under the new window: one of the merged windows stays the **state
window**, which holds the contents, and only the contents of the others move to it. The mapping from each window in
flight to its state window is itself keyed state, so it survives an epoch and a failure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from firesteel.functions.assigners import MergingWindowAssigner
from firesteel.state.live.handles import ValueHandle

Merge = Callable[[Any, list[Any], Any, list[Any]], None]
"""Called on a merge with: the resulting window, the merged ones, the result's state window, the other state windows."""


class MergingWindowSet:
    """The merging windows of the current key.

    Contract: the scope of `state` is set to the key during every call; every change is in `state` when a call returns.
    """

    __slots__ = ("_assigner", "_state")

    def __init__(self, assigner: MergingWindowAssigner[Any, Any], state: ValueHandle) -> None:
        self._assigner = assigner
        self._state = state

    def mapping(self) -> dict[Any, Any]:
        """Return the windows in flight, each with its state window; `keep` stores changes."""
        return self._state.held() or {}

    def keep(self, mapping: dict[Any, Any]) -> None:
        """Store `mapping` as the windows in flight."""
        self._state.hold(mapping or None)

    def state_window(self, window: Any) -> Any:
        """Return the state window of `window`; None if it is not in flight."""
        mapping: dict[Any, Any] | None = self._state.held()
        return None if mapping is None else mapping.get(window)

    def retire(self, window: Any) -> None:
        """Forget a window that has expired or that came too late."""
        mapping = self.mapping()
        mapping.pop(window, None)
        self.keep(mapping)

    def add(self, window: Any, merge: Merge) -> Any:
        """Add a window, merge the windows that it touches, and return the window in flight that now contains it.

        A window that is already in flight stays unchanged, with its contents.
        """
        mapping = self.mapping()
        if window in mapping:
            return window
        groups = _Groups()
        if mapping:
            self._assigner.merge_windows([*mapping, window], groups)
        result, placed = window, False
        for merged, group in groups.found:
            if window in group:
                result, placed = merged, True
            self._merge(mapping, merged, [member for member in mapping if member in group], merge)
        if not placed:
            mapping[window] = window
        self._state.hold(mapping)
        return result

    @staticmethod
    def _merge(mapping: dict[Any, Any], merged: Any, members: list[Any], merge: Merge) -> None:
        if not members:
            mapping[merged] = merged
            return
        target, *sources = [mapping.pop(member) for member in members]
        mapping[merged] = target
        if members != [merged]:
            merge(merged, members, target, sources)


class _Groups(MergingWindowAssigner.MergeCallback[Any]):
    """Collects the merges that an assigner requests."""

    def __init__(self) -> None:
        self.found: list[tuple[Any, frozenset[Any]]] = []

    def merge(self, to_be_merged: Iterable[Any], merge_result: Any) -> None:
        self.found.append((merge_result, frozenset(to_be_merged)))
