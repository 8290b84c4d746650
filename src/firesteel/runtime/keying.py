"""From records to state keys and target subtasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from firesteel.common.errors import KeyEncodingError
from firesteel.runtime.failures import user_failure
from firesteel.state.keys import StateKey, key_group, state_key, subtask_of

_PLAIN: Final = frozenset({str, int})
_MEMO_LIMIT: Final = 1 << 17


class KeyExtractor:
    """Applies a key selector to whole batches.

    `coerce` is the coercer of the declared key type, or None. Raises UserFunctionError when the selector raises and
    KeyEncodingError when it returns what cannot be a key; both name the operator and the record.
    """

    __slots__ = ("_coerce", "_select", "_who")

    def __init__(self, select: Callable[[Any], Any], coerce: Callable[[Any], Any] | None, who: str) -> None:
        self._select = select
        self._coerce = coerce
        self._who = who

    def keys(self, values: list[Any]) -> list[StateKey]:
        """Return the state key of each value."""
        iterator = iter(values)
        try:
            keys = list(map(self._select, iterator))
        except Exception as error:
            raise user_failure(error, self._who, values, iterator) from error
        if self._coerce is not None:
            keys = list(map(self._coerce, keys))
        if _PLAIN.issuperset(map(type, keys)):
            return keys
        return self._encoded(keys, values)

    def _encoded(self, keys: list[Any], values: list[Any]) -> list[StateKey]:
        position = 0
        encoded = []
        try:
            for position, key in enumerate(keys):
                encoded.append(state_key(key))
        except KeyEncodingError as error:
            error.who = self._who
            error.hint = f"{error.hint or 'return a string, a number or a tuple of them'} (record: {values[position]!r:.120})"
            raise
        return encoded


class TargetMemo(dict[StateKey, int]):
    """State key -> index of the subtask that owns it; remembers up to a bound, so memory does not grow with keys."""

    def __init__(self, parallelism: int, max_parallelism: int) -> None:
        super().__init__()
        self._parallelism = parallelism
        self._max_parallelism = max_parallelism

    def __missing__(self, key: StateKey) -> int:
        target = subtask_of(key_group(key, self._max_parallelism), self._parallelism, self._max_parallelism)
        if len(self) >= _MEMO_LIMIT:
            self.clear()
        self[key] = target
        return target
