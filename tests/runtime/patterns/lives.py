"""Parts of an operator that keep what waits in keyed state, from epoch to epoch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from firesteel.functions.windows import WINDOW_CODEC
from firesteel.state.live.backend import KeyedStateBackend
from tests.runtime.window_harness import DictReader


class _Part(Protocol):
    def begin_epoch(self, number: int) -> None: ...

    def settle(self) -> None: ...


P = TypeVar("P", bound=_Part)


class Life(Generic[P]):
    """A part on state in a dict; each epoch begins a new life."""

    def __init__(self, make: Callable[[KeyedStateBackend], P]) -> None:
        self.entries: dict[bytes, bytes] = {}
        self.schemas: dict[str, dict[str, object]] = {}
        self._make = make
        self._number = 0
        self._begin()

    def _begin(self) -> None:
        self._number += 1
        self.backend = KeyedStateBackend(16, WINDOW_CODEC)
        self.backend.restore_schemas(self.schemas)
        self.part = self._make(self.backend)
        self.backend.begin(DictReader(self.entries), keep=False)
        self.part.begin_epoch(self._number)

    def epoch(self, *, numbered_anew: bool = False) -> None:
        """Commit what has changed, and begin the next epoch; or the first one of a job that takes the state over."""
        self.part.settle()
        for key, value in self.backend.changes():
            if value is None:
                self.entries.pop(key, None)
            else:
                self.entries[key] = value
        self.schemas = self.backend.schemas()
        self._number = 0 if numbered_anew else self._number
        self._begin()
