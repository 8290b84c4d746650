"""Values of groups that are kept, for functions that need more than a sum of each group.

Contract of a store: it adds the columns of its values and a weight to partial results. Rows with equal keys and values
can be added up before, unless `ordered`. The values are in an arrangement of `layout`. Stores of distinct values that
differ in their condition alone are in one arrangement, with a number of occurrences for each of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.runtime.columns.aggregates.parts import Given
from firesteel.state.arrangements.columns import Numbers
from firesteel.state.arrangements.hashing import Words, first_hash, hash_columns, key_groups
from firesteel.state.arrangements.layout import Kind, Layout

COUNT: Final = pa.field("occurrences", pa.int64(), nullable=False)
ORDER: Final = pa.field("order", pa.int64(), nullable=False)


@dataclass(frozen=True, slots=True)
class StoredFields:
    """What an arrangement of stores is made of: `keys` and `values`, for `life` milliseconds (None: for ever).

    There are so many key `groups`, and `count` stores in the arrangement.
    """

    keys: Sequence[pa.Field]
    values: Sequence[pa.Field]
    life: int | None
    groups: int
    count: int = 1


@dataclass(frozen=True)
class Store(ABC):
    """Values of `arguments` for which `condition` is TRUE; `nulls`: also those with a NULL among them."""

    arguments: tuple[int, ...]
    condition: int | None
    nulls: bool = False

    ordered: ClassVar[bool] = False
    added: ClassVar[tuple[pa.Field, ...]] = ()
    """What the arrangement has of a value besides itself, in a multiset."""

    @property
    @abstractmethod
    def label(self) -> str:
        """Return the first word of its name."""

    def layout(self, of: StoredFields) -> Layout:
        """Return the layout of the arrangement, a multiset."""
        names = tuple(field.name for field in of.keys)
        schema = pa.schema([*of.keys, *of.values, *self.added])
        return Layout(schema, names, Kind.MULTISET, time_to_live=of.life)

    def together_with(self) -> Store:
        """Return what stores have in common that are in one arrangement."""
        return self

    def weights(self, given: Given) -> Numbers:
        """Return the weight of each row: 0 for rows that do not count."""
        return given.weights(self.condition, () if self.nulls else self.arguments)


@dataclass(frozen=True)
class Distinct(Store):
    """Each value once, with how often it is there."""

    @property
    def label(self) -> str:
        """Return what it is."""
        return "distinct"

    def layout(self, of: StoredFields) -> Layout:
        """Return a table with the numbers of occurrences of each value."""
        fields = (*of.keys, *of.values)
        names = tuple(field.name for field in fields)
        hashed = partial(hashed_within, keys=len(of.keys), groups=of.groups)
        more = [COUNT.with_name(f"{COUNT.name}_{number}") for number in range(2, of.count + 1)]
        return Layout(pa.schema([*fields, COUNT, *more]), names, time_to_live=of.life, hashed=hashed)

    def together_with(self) -> Store:
        """Return the values without a condition."""
        return replace(self, condition=None)


@dataclass(frozen=True)
class Bag(Store):
    """All values, each with how often it is there."""

    @property
    def label(self) -> str:
        """Return what it is."""
        return "values"


@dataclass(frozen=True)
class Log(Store):
    """All values in the order in which they came."""

    ordered: ClassVar[bool] = True
    added: ClassVar[tuple[pa.Field, ...]] = (ORDER,)

    @property
    def label(self) -> str:
        """Return what it is."""
        return "log"


def lifted(stores: Sequence[Store], given: Given) -> list[pa.Array]:
    """Return the values of each row for stores of one arrangement, and its weight in each.

    Values that count in none of them are NULL.
    """
    weights = [store.weights(given) for store in stores]
    columns: list[pa.Array] = [given.rows.column(place) for place in stores[0].arguments]
    counts = np.any([each != 0 for each in weights], axis=0)
    if not counts.all():
        columns = [pc.if_else(pa.array(counts), column, None) for column in columns]
    return [*columns, *map(pa.array, weights)]


def hashed_within(columns: Sequence[pa.Array], keys: int, groups: int) -> Words:
    """Return a hash of some columns that is in the key group of the first `keys` of them.

    So a value of a group can be looked up by one word, and yet is where the group is.

    >>> columns = [pa.array([1, 1]), pa.array([7, 8])]
    >>> words = hashed_within(columns, 1, 128)
    >>> words[0] != words[1], (key_groups(words, 128) == key_groups(hash_columns(columns[:1]), 128)).all()
    (np.True_, np.True_)
    """
    of_keys = hash_columns(columns[:keys])
    group = key_groups(of_keys, groups)
    edges = np.array([first_hash(number, groups) >> 32 for number in range(groups + 1)], np.uint64)
    first, size = edges[group], np.diff(edges)[group]
    words = hash_columns(columns[keys:], of_keys)
    half = np.uint64(32)
    within: Words = (words >> half) * size + ((words & np.uint64(0xFFFFFFFF)) * size >> half)
    within += first << half
    return within
