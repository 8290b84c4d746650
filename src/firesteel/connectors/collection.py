"""A source of values in the program."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from firesteel.common import pickles
from firesteel.common.errors import SerializationError
from firesteel.functions.source import RecordBatches, Source, Split

if TYPE_CHECKING:
    from firesteel.common.typeinfo import TypeInformation

T = TypeVar("T")

_CHUNK = 1000


class CollectionSource(Source[T]):
    """The values of a collection, in order, read by one subtask.

    Positions are indices. As in Flink, the values are serialised at once: later changes in the program have no effect,
    and each read returns new objects. Raises SerializationError for a value that cannot be
    pickled.

    >>> source = CollectionSource(["a", "b", "c"])
    >>> [split] = source.splits(frozenset())
    >>> list(source.read(split, 1, 3))
    [['b', 'c']]
    """

    preferred_parallelism = 1

    def __init__(self, values: Iterable[T], type_info: TypeInformation | None = None) -> None:
        self.produced_type = type_info
        self._chunks: list[bytes] = []
        self._size = 0
        rest = iter(values)
        while chunk := list(islice(rest, _CHUNK)):
            self._chunks.append(_serialised(chunk, self._size))
            self._size += len(chunk)

    def __len__(self) -> int:
        return self._size

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        return [] if known else [Split("collection", 0, self._size)]

    def read(self, split: Split, start: int, end: int) -> RecordBatches[T]:
        for number in range(start // _CHUNK, -(-end // _CHUNK)):
            first = number * _CHUNK
            chunk: list[T] = pickle.loads(self._chunks[number])
            yield chunk[max(start - first, 0) : end - first]
        return None


def _serialised(chunk: list[Any], first: int) -> bytes:
    try:
        return pickles.dumps(chunk)
    except Exception as error:
        raise SerializationError(
            "requires values that can be serialised",
            who="CollectionSource",
            got=_offender(chunk, first, error),
            hint="open connections, locks and files in a function's open(), not in the data",
        ) from error


def _offender(chunk: list[Any], first: int, error: Exception) -> str:
    for index, value in enumerate(chunk):
        try:
            pickles.dumps(value)
        except Exception as own:
            return f"{type(value).__name__} at index {first + index} ({own})"
    return str(error)
