"""What a state and its backend know of each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from firesteel.state.keys.composite import Compose
from firesteel.state.keys.kinds import KeyKinds
from firesteel.state.live.durable import StateReader
from firesteel.state.live.handover import Handover
from firesteel.state.live.weights import Weight
from firesteel.state.values.chunks import Entry


class Scope:
    """What the handles of a scope refer to: a state key, or a pair of state key and namespace; None at first.

    `namespaced`: `current` is such a pair.
    """

    __slots__ = ("current", "name", "namespaced")

    def __init__(self, name: str, *, namespaced: bool = False) -> None:
        self.name = name
        self.namespaced = namespaced
        self.current: Any = None


class StateStore(Protocol):
    """What all states of one operator subtask share.

    `reader` shows the state as it was when the epoch began, and what has been moved out of memory since; it changes
    with each epoch and each spill. `key_kinds` takes the kinds of all keys whose state changes, and `handover` the
    changes.
    """

    reader: StateReader
    key_kinds: KeyKinds
    handover: Handover
    max_parallelism: int


class StatePart(Protocol):
    """One part of a backend: the cache of one state."""

    state_id: int

    def begin(self, keep: bool, /) -> None:
        """Start an epoch: with `keep` the changes are now in the store, otherwise everything cached is invalid."""

    def changes(self) -> Iterator[Entry]:
        """Return the changes of the epoch, sorted; note them in the store's `handover`, unless they are not cached."""

    def adopt(self, currents: list[Any], values: list[Any] | None, /) -> None:
        """Take over what another process changed: new values (None: removed), or which cached entries are outdated."""

    def clean_entries(self) -> int:
        """Return how many cached entries can be read again from the store."""

    def relax(self) -> None:
        """Drop the older half of the clean entries."""

    def weigh(self) -> Weight:
        """Return an estimate, cheap to compute, of the memory that the part takes."""


@dataclass(frozen=True, slots=True)
class StatePlace:
    """Where one state is kept: `compose` returns the composite key (or its prefix) of the scope's `current`."""

    store: StateStore
    state_id: int
    scope: Scope
    compose: Compose
