"""From records to state keys and target subtasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from firesteel.common.errors import KeyEncodingError, RecordError, TypeMismatchError
from firesteel.common.typeinfo import TypeInformation
from firesteel.functions.base import RuntimeContext
from firesteel.functions.elements import KeySelector, Partitioner
from firesteel.runtime.batch import RowBatch
from firesteel.runtime.failures import RAISED, summary, user_failure
from firesteel.state.keys.groups import StateKey, key_groups, state_key, subtask_of

_PLAIN: Final = frozenset({str, int})
_MEMO_LIMIT: Final = 1 << 17


class KeyExtractor:
    """Applies a key selector to whole batches.

    `coerce` is the coercer of the declared key type, or None. Raises UserFunctionError if the selector raises, and
    KeyEncodingError if its result cannot be a key; both name the operator and the record.
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
            if len(keys) != len(values):
                raise StopIteration  # raised by the selector; map() would end silently
        except RAISED as error:
            raise user_failure(error, self._who, values, iterator) from error
        if self._coerce is not None:
            keys = self._coerced(keys, values)
        if _PLAIN.issuperset(map(type, keys)):
            return keys
        return self._encoded(keys, values)

    def _coerced(self, keys: list[Any], values: list[Any]) -> list[Any]:
        assert self._coerce is not None
        coerced: list[Any] = []
        try:
            coerced.extend(map(self._coerce, keys))
        except TypeMismatchError as error:
            error.who = self._who
            error.details = f"record: {summary(values[len(coerced)])}"
            raise
        return coerced

    def _encoded(self, keys: list[Any], values: list[Any]) -> list[StateKey]:
        encoded: list[StateKey] = []
        try:
            encoded.extend(map(state_key, keys))
        except KeyEncodingError as error:
            error.who = self._who
            error.details = f"record: {summary(values[len(encoded)])}"
            raise
        return encoded


class KeyByEdge:
    """The functions of a key_by: its selector, and the owner of each key; see `EdgeFunctions` for the contract."""

    def __init__(
        self,
        selector: KeySelector,
        key_type: TypeInformation | None,
        who: str,
        targets: int,
        max_parallelism: int,
    ) -> None:
        self._selector = selector
        self._key_type = key_type
        self._who = who
        self._count = targets
        self._max_parallelism = max_parallelism

    def open(self, runtime_context: RuntimeContext) -> None:
        """Open the selector."""
        self._selector.open(runtime_context)
        coerce = None if self._key_type is None else self._key_type.compile_coercer()
        self._extract = KeyExtractor(self._selector.get_key, coerce, self._who).keys
        self._targets = None if self._count == 1 else Targets(self._count, self._max_parallelism)

    def direct(self, batch: RowBatch) -> tuple[RowBatch, list[int] | None]:
        """Return the batch with its keys, and the owner of each."""
        keys = self._extract(batch.values)
        targets = None if self._targets is None else self._targets.of(keys)
        return RowBatch(batch.values, batch.timestamps, keys), targets

    def close(self) -> None:
        """Close the selector."""
        self._selector.close()


class PartitionEdge:
    """The functions of a partition_custom: the partitioner, which picks a target for a key, and the key selector."""

    def __init__(self, partitioner: Partitioner, selector: KeySelector, who: str, targets: int) -> None:
        self._partitioner = partitioner
        self._selector = selector
        self._who = who
        self._count = targets

    def open(self, runtime_context: RuntimeContext) -> None:
        """Open both functions."""
        self._partitioner.open(runtime_context)
        self._selector.open(runtime_context)

    def direct(self, batch: RowBatch) -> tuple[RowBatch, list[int] | None]:
        """Return the batch and the target of each record."""
        partition, select, count = self._partitioner.partition, self._selector.get_key, self._count
        values = batch.values
        iterator = iter(values)
        try:
            targets = [partition(select(value), count) for value in iterator]
        except RAISED as error:
            raise user_failure(error, self._who, values, iterator) from error
        for value, target in zip(values, targets, strict=True):
            if type(target) is not int or not 0 <= target < count:
                raise RecordError(
                    f"requires its partitioner to return an int in [0, {count})",
                    who=self._who,
                    got=f"{target!r} for the record {value!r:.120}",
                )
        return batch, targets

    def close(self) -> None:
        """Close both functions."""
        self._partitioner.close()
        self._selector.close()


class Targets:
    """Finds the indices of the subtasks that own state keys; its memory of keys is bounded.

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
            pass  # one key is new; all at once cost less than one by one
        targets = list(map(self._owners.__getitem__, key_groups(keys, len(self._owners))))
        if len(memo) > _MEMO_LIMIT - len(keys):
            memo.clear()
        memo.update(zip(keys, targets, strict=True))
        return targets
