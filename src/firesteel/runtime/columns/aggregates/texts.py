"""The part of an accumulator for texts that are joined."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.runtime.columns.aggregates.parts import Columns, Given, Part
from firesteel.runtime.columns.aggregates.segments import Segments


@dataclass(frozen=True)
class Joined(Part):
    """The texts that are not NULL, with a delimiter between them; `delimiter` is the place of its column (None: ",").

    A delimiter is a literal in SQL, so that the whole column has one value. It is kept with the text.
    """

    delimiter: int | None = None

    @property
    def label(self) -> str:
        """Return what it is."""
        return "texts"

    @property
    def types(self) -> tuple[pa.DataType, ...]:
        """Return the types of the text (NULL: none yet) and of the delimiter."""
        return pa.string(), pa.string()

    @property
    def ordered(self) -> bool:
        """Texts stay in their order."""
        return True

    def lift(self, given: Given) -> list[pa.Array]:
        """Return the texts, NULL for rows that do not count."""
        assert self.argument is not None
        column = given.rows.column(self.argument)
        mask = given.counted(self.condition, ())
        text = column if mask is None else pc.if_else(pa.array(mask), column, None)
        if self.delimiter is None:
            return [text, pa.repeat(",", len(text))]
        return [text, given.rows.column(self.delimiter)]

    def combine(self, columns: Columns, groups: Segments) -> list[pa.Array]:
        """Join the texts of each group."""
        texts, delimiters = (column.take(pa.array(groups.order)) for column in columns)
        lists = lists_of(texts, groups)
        known = delimiters.drop_null()
        delimiter = known[0] if len(known) else pa.scalar(",")
        some = pc.greater(pc.list_value_length(lists), 0)
        joined = pc.if_else(some, pc.binary_join(lists, delimiter), None)
        return [joined, pa.repeat(delimiter, len(groups))]

    def merge(self, earlier: Columns, later: Columns) -> list[pa.Array]:
        """Join two texts."""
        (one, _), (two, delimiter) = earlier, later
        both = pc.binary_join_element_wise(one, two, delimiter)
        return [pc.coalesce(both, one, two), delimiter]


def lists_of(ordered: pa.Array, groups: Segments) -> pa.ListArray:
    """Return for each group the list of its values that are not NULL; `ordered` are the rows, group by group."""
    valid = np.asarray(ordered.is_valid())
    ends = np.concatenate(([0], np.cumsum(valid)))
    offsets = ends[np.append(groups.starts, len(ordered))]
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), ordered.drop_null())
