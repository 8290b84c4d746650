"""Looking up rows of a table by keys: what connectors offer, and what a lookup join does, as data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from firesteel.common.logical_types import RowType
from firesteel.functions.columns.joins import Join
from firesteel.functions.columns.program import Program


class LookedUp(NamedTuple):
    """Rows that were found: row `i` belongs to key number `keys[i]` of those that were asked for."""

    keys: npt.NDArray[np.int64]
    rows: pa.RecordBatch


class TableLookup(ABC):
    """Finds the rows of a table that have some keys.

    Contract: it is made on the driver and pickled; in a worker `open` comes once, then `look_up`, or `rows` of one that
    has them, any number of times, then `close`. What it finds is not repeatable: when an epoch is tried again, rows are
    looked up again.
    """

    def open(self) -> None:
        """Connect."""

    @abstractmethod
    def look_up(self, keys: pa.RecordBatch) -> LookedUp:
        """Return the rows that have some keys, each of which is there once and has no NULL.

        `keys` has the columns by which the lookup was made, in their order; rows have the table's columns, physical
        ones before metadata, in Arrow's form of their types.
        """

    def close(self) -> None:
        """Disconnect."""


class ScannableLookup(TableLookup):
    """A lookup in a table that can be read whole, as a `FullCache` needs it."""

    @abstractmethod
    def rows(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows of the table."""


@dataclass(frozen=True)
class PartialCache:
    """Keeps what was looked up, for at most `max_keys` keys (None: any number), those that were used last.

    What is kept goes some milliseconds after it was looked up, or after it was last used (None: never). With `missing`,
    it is also kept that there is no row of a key.
    """

    max_keys: int | None = None
    after_write: int | None = None
    after_access: int | None = None
    missing: bool = True


@dataclass(frozen=True)
class FullCache:
    """Keeps all rows, and reads them again every `interval` milliseconds (None: never).

    With `at` (milliseconds since midnight) it does so at this time of the day in `zone`, every `days` days.
    """

    interval: int | None = None
    at: int | None = None
    days: int = 1
    zone: str = "UTC"


Cache = PartialCache | FullCache | None


@dataclass(frozen=True)
class LookupTable:
    """How a connector looks rows up, and what is kept of them; `asynchronous` is whether it waits for many at once."""

    lookup: TableLookup
    cache: Cache = None
    asynchronous: bool = False

    def __post_init__(self) -> None:
        assert isinstance(self.lookup, ScannableLookup) or not isinstance(self.cache, FullCache)


@dataclass(frozen=True)
class LookupCalls:
    """What the hint LOOKUP asks of a connector: asynchronous calls, how many at once, how long one may take (ms)."""

    asynchronous: bool | None = None
    capacity: int = 100
    timeout: int = 180_000


@dataclass(frozen=True)
class Retry:
    """Keys without a row are looked up again, after `delay` milliseconds, at most `attempts` times."""

    delay: int
    attempts: int


@dataclass(frozen=True)
class LookupJoin:
    """Left rows with the rows of a table that have their keys.

    `join`, INNER or LEFT and without keys, has the condition of pairs. `keys` has for each key column of `key_row` the
    place of a column of the left rows, or a column with one constant. `program`, over the table's columns and the
    number of the key, gives the right columns and that number (None: they are the same).
    """

    join: Join
    table: LookupTable
    key_row: RowType
    keys: tuple[int | pa.Array, ...]
    program: Program | None = None
    retry: Retry | None = None

    def __post_init__(self) -> None:
        assert len(self.keys) == len(self.key_row.fields) > 0
        assert self.join.kind in ("INNER", "LEFT")
