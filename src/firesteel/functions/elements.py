"""Functions of one record (or two records of one type) that see neither time nor timers.

In place of a class with one method you can pass a plain function or lambda with the same arguments.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from firesteel.functions.base import Function

__all__ = [
    "AggregateFunction",
    "CoFlatMapFunction",
    "CoMapFunction",
    "FilterFunction",
    "FlatMapFunction",
    "KeySelector",
    "MapFunction",
    "NullByteKeySelector",
    "Partitioner",
    "ReduceFunction",
]


class MapFunction(Function):
    """Turns each record into exactly one record.

    >>> class Double(MapFunction):
    ...     def map(self, value):
    ...         return 2 * value
    >>> Double().map(21)
    42
    """

    @abstractmethod
    def map(self, value: Any) -> Any:
        """Return the record that replaces `value`."""


class FlatMapFunction(Function):
    """Turns each record into zero or more records.

    >>> class Words(FlatMapFunction):
    ...     def flat_map(self, value):
    ...         yield from value.split()
    >>> list(Words().flat_map("to be"))
    ['to', 'be']
    """

    @abstractmethod
    def flat_map(self, value: Any) -> Any:
        """Yield the records, or return an iterable of them, or None for no record."""


class FilterFunction(Function):
    """Decides whether to keep a record; it must not change the record."""

    @abstractmethod
    def filter(self, value: Any) -> Any:
        """Return a true value to keep `value`, a false one to drop it."""


class CoMapFunction(Function):
    """Maps the records of two connected streams; both methods share the object and its state."""

    @abstractmethod
    def map1(self, value: Any) -> Any:
        """Return the record that replaces `value` from the first stream."""

    @abstractmethod
    def map2(self, value: Any) -> Any:
        """Return the record that replaces `value` from the second stream."""


class CoFlatMapFunction(Function):
    """Flat-maps the records of two connected streams; both methods share the object and its state."""

    @abstractmethod
    def flat_map1(self, value: Any) -> Any:
        """Yield the records that `value` from the first stream becomes."""

    @abstractmethod
    def flat_map2(self, value: Any) -> Any:
        """Yield the records that `value` from the second stream becomes."""


class ReduceFunction(Function):
    """Combines two values of a type into one of the same type; it must be associative.

    The first argument is the result so far, the second the value that arrived.
    """

    @abstractmethod
    def reduce(self, value1: Any, value2: Any) -> Any:
        """Return the combination of both values."""


class AggregateFunction(Function):
    """Aggregates values in an accumulator, whose type may differ from that of the values and of the result.

    The function itself holds no data: each key (and window) has its own accumulator.

    >>> class Average(AggregateFunction):
    ...     def create_accumulator(self):
    ...         return 0, 0
    ...     def add(self, value, accumulator):
    ...         return accumulator[0] + value, accumulator[1] + 1
    ...     def get_result(self, accumulator):
    ...         return accumulator[0] / accumulator[1]
    ...     def merge(self, acc_a, acc_b):
    ...         return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]
    >>> average = Average()
    >>> average.get_result(average.add(4, average.add(1, average.create_accumulator())))
    2.5
    """

    @abstractmethod
    def create_accumulator(self) -> Any:
        """Return the accumulator of no values."""

    @abstractmethod
    def add(self, value: Any, accumulator: Any) -> Any:
        """Return the accumulator with `value` added. It may be the same object, changed in place."""

    @abstractmethod
    def get_result(self, accumulator: Any) -> Any:
        """Return the aggregate of the values in `accumulator`, without changing it."""

    @abstractmethod
    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        """Return an accumulator of the values of both, which are not used afterwards. Session windows need it."""


class KeySelector(Function):
    """Extracts the key of a record. The same record must always have the same key."""

    @abstractmethod
    def get_key(self, value: Any) -> Any:
        """Return the key of `value`."""


class NullByteKeySelector(KeySelector):
    """Gives every record the key 0, so that a keyed operator works on a stream without keys."""

    def get_key(self, value: Any) -> int:
        """Return 0."""
        return 0


class Partitioner(Function):
    """Chooses the subtask that receives a record."""

    @abstractmethod
    def partition(self, key: Any, num_partitions: int) -> int:
        """Return a number from 0 to `num_partitions` - 1."""
