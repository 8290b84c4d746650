"""The state handle of a list per key, stored as chunks of the elements that each epoch adds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from firesteel.common.sealing import ATOMS
from firesteel.state.api import ListState
from firesteel.state.live.caching import CachedState, LoadingCache, oldest_clean
from firesteel.state.live.place import StatePlace
from firesteel.state.live.weights import ELEMENT, ENTRY, Weight, ends, mean_size
from firesteel.state.values.chunks import LAST_CHUNK, Entry, in_chunks, split_elements
from firesteel.state.values.codecs import ValueCodec


class ListHandle(CachedState, ListState[Any]):
    """A ListState.

    The elements that an epoch adds to a list are stored as separate chunks of up to 512 elements. Chunks are numbered
    downwards, so the first entry of a scan gives the number of the next chunk, and adding never reads the list.
    `_stored` are the elements in the store (once `_cleared` is applied), `_added` those that follow them.
    """

    __slots__ = ("_added", "_cleared", "_emptied", "_stored")

    def __init__(self, place: StatePlace, codec: ValueCodec) -> None:
        super().__init__(place, codec)
        self._stored = LoadingCache(self._load)
        self._added: defaultdict[Any, list[Any]] = defaultdict(list)
        self._cleared: set[Any] = set()
        self._emptied: set[Any] = set()

    def add(self, value: Any) -> None:
        """Add an element to the list of the current key."""
        self._added[self._scope.current].append(self._own(value))

    def add_all(self, values: Iterable[Any]) -> None:
        """Add several elements to the list of the current key."""
        if values := list(map(self._own, values)):
            self._added[self._scope.current].extend(values)

    def hold_all(self, values: list[Any]) -> None:
        """Add elements that nobody else refers to to the list of the current key."""
        if values:
            self._added[self._scope.current].extend(
                values if self._coerce is None else map(self._coerce, values)
            )

    def get(self) -> list[Any]:
        """Return the elements of the current key, as a new list; mutable elements are copied."""
        elements, lend = self._elements(self._scope.current), self._lend
        return elements if lend is None else lent(elements, lend)

    def held(self) -> list[Any]:
        """Return the elements of the current key themselves: pass them to nobody, unless you clear the list next."""
        return self._elements(self._scope.current)

    def update(self, values: Iterable[Any]) -> None:
        """Replace the list of the current key with `values`."""
        values = list(values)
        self.clear()
        self.add_all(values)

    def clear(self) -> None:
        """Remove the list of the current key."""
        self._remove(self._scope.current)

    def merge_namespaces(self, target: Any, sources: Iterable[Any]) -> None:
        """Move the elements of the current key in the source namespaces to the end of the target's list."""
        key = self._scope.current[0]
        moved: list[Any] = []
        for source in sources:
            current = (key, source)
            moved += self._elements(current)
            self._remove(current)
        if moved:
            self._added[(key, target)].extend(moved)

    def begin(self, keep: bool) -> None:
        stored = self._stored
        if keep:
            for current in self._cleared | self._emptied:
                if not stored[current] and current not in self._added:
                    del stored[current]
            for current, values in self._added.items():
                if current in stored:
                    stored[current].extend(values)
        else:
            stored.clear()
        self._added.clear()
        self._cleared.clear()
        self._emptied.clear()

    def changes(self) -> Iterator[Entry]:
        dirty = self._cleared.union(self._added)
        self.store.key_kinds.note(dirty)
        for prefixes, currents in self._in_order(dirty):
            self.store.handover.note(self.state_id, currents, None)
            for prefix, current in zip(prefixes, currents, strict=True):
                yield from self._changes_of(current, prefix)

    def adopt(self, currents: list[Any], values: list[Any] | None) -> None:
        for current in currents:
            self._stored.pop(current, None)

    def clean_entries(self) -> int:
        return len(self._stored)

    def relax(self) -> None:
        for current in oldest_clean(self._stored, self._cleared | self._emptied):
            del self._stored[current]

    def weigh(self) -> Weight:
        scanned = len(self._stored) + len(self._added)
        return Weight(self._weight(self._stored), self._weight(self._added), scanned)

    def _weight(self, lists: dict[Any, list[Any]]) -> int:
        size = ELEMENT + mean_size([elements[-1] for elements in ends(lists) if elements], self._codec.encode)
        return len(lists) * ENTRY + sum(map(len, lists.values())) * size

    def _elements(self, current: Any) -> list[Any]:
        stored: list[Any] = self._stored[current]
        added = self._added.get(current)
        return stored + added if added else stored.copy()

    def _remove(self, current: Any) -> None:
        self._added.pop(current, None)
        if self._stored.get(current) == [] and current not in self._cleared:
            self._emptied.add(current)
        else:
            self._stored[current] = []
            self._cleared.add(current)

    def _load(self, current: Any) -> list[Any]:
        chunks = [data for _, data in self.store.reader.scan(self._compose(current))]
        decode = self._codec.decode
        return [decode(item) for data in reversed(chunks) for item in split_elements(data)]

    def _changes_of(self, current: Any, prefix: bytes) -> Iterator[Entry]:
        scan = self.store.reader.scan(prefix)
        changed: dict[bytes, bytes | None] = {}
        number = LAST_CHUNK
        if current in self._cleared:
            changed = {key: None for key, _ in scan}
        elif (newest := next(iter(scan), None)) is not None:
            number = int.from_bytes(newest[0][len(prefix) :], "big") - 1
        changed.update(in_chunks(prefix, map(self._codec.encode, self._added.get(current, ())), number))
        for key in sorted(changed):
            yield key, changed[key]


def lent(elements: list[Any], lend: Callable[[Any], Any]) -> list[Any]:
    """Return elements as a caller may see them: mutable ones as copies."""
    atoms = ATOMS
    if atoms.issuperset(map(type, elements)):
        return elements
    return [
        element if type(element) is tuple and atoms.issuperset(map(type, element)) else lend(element)
        for element in elements
    ]
