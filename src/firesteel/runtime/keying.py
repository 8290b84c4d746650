"""From records to state keys and target subtasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import cloudpickle

from firesteel.common.errors import KeyEncodingError
from firesteel.functions.base import Function, RuntimeContext
from firesteel.runtime.failures import summary, user_failure
from firesteel.runtime.plan import Distribution, EdgeSpec
from firesteel.state.keys.groups import StateKey, key_groups, state_key, subtask_of

_PLAIN: Final = frozenset({str, int})
_MEMO_LIMIT: Final = 1 << 17


class KeyExtractor:
    """Applies a key selector to whole batches.

    `coerce` is the coercer of the declared key type, or None. Raises UserFunctionError when the selector
    raises and KeyEncodingError when it returns what cannot be a key; both name the operator and the record.
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
        encoded: list[StateKey] = []
        try:
            encoded.extend(map(state_key, keys))
        except KeyEncodingError as error:
            error.who = self._who
            error.details = f"record: {summary(values[len(encoded)])}"
            raise
        return encoded


class EdgeFunctions:
    """The user's functions of one edge, opened: a key selector, or a partitioner and its selector."""

    def __init__(self, edge: EdgeSpec, runtime_context: RuntimeContext) -> None:
        assert edge.functions is not None
        first, second = cloudpickle.loads(edge.functions)
        self._opened: list[Function] = []
        self.who = edge.who
        if edge.distribution is Distribution.CUSTOM:
            self._open(first, runtime_context)
            self._open(second, runtime_context)
            self.partition, self.select = first.partition, second.get_key
        else:
            self._open(first, runtime_context)
            coerce = None if second is None else second.compile_coercer()
            self.extractor = KeyExtractor(first.get_key, coerce, edge.who)

    def close(self) -> None:
        """Close the functions."""
        for function in self._opened:
            function.close()

    def _open(self, function: Function, runtime_context: RuntimeContext) -> None:
        function.open(runtime_context)
        self._opened.append(function)


class Targets:
    """State keys -> indices of the subtasks that own them; remembers up to a bound, so memory does not grow with keys.

    >>> Targets(2, 128).of([1, 2, 3, 1])
    [0, 0, 1, 0]
    """

    __slots__ = ("_memo", "_owners")

    def __init__(self, parallelism: int, max_parallelism: int) -> None:
        self._owners = [subtask_of(group, parallelism, max_parallelism) for group in range(max_parallelism)]
        self._memo: dict[StateKey, int] = {}

    def of(self, keys: list[StateKey]) -> list[int]:
        """Return the subtask that owns each key."""
        memo = self._memo
        try:
            return list(map(memo.__getitem__, keys))
        except KeyError:
            pass  # one of them is new; in bulk they cost less than one by one
        targets = list(map(self._owners.__getitem__, key_groups(keys, len(self._owners))))
        if len(memo) > _MEMO_LIMIT - len(keys):
            memo.clear()
        memo.update(zip(keys, targets, strict=True))
        return targets
