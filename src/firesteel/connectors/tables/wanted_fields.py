"""Those fields of the rows of a file that are read, of rows within rows, too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.logical_types import LogicalType, RowType

Fields = tuple[int, ...]
"""Places of fields: the first within a column, the next within that field, and so on."""


def type_at(kind: LogicalType, fields: Fields) -> LogicalType:
    """Return the type of a field; that of a row which can be NULL can be NULL, too.

    >>> from firesteel.common.logical_types import parse_type
    >>> type_at(parse_type("ROW<n INT NOT NULL>"), (0,))
    IntType(nullable=True)
    """
    for place in fields:
        assert isinstance(kind, RowType)
        found = kind.fields[place].type
        kind = found.copy(found.nullable or kind.nullable)
    return kind


class WantedFields:
    """What is read of rows of a type for wanted values: each a column by its name, and the fields to go to in it.

    `row` is the type of the rows with no other fields, `columns` are the places in it that are read.

    >>> from firesteel.common.logical_types import parse_type
    >>> row = parse_type("ROW<id INT, bid ROW<price INT, url STRING>>")
    >>> wanted = WantedFields(row, [("bid", (0,))])
    >>> print(wanted.row)
    ROW<`id` INT, `bid` ROW<`price` INT>> NOT NULL
    >>> rows = pa.record_batch({"bid": [{"price": 7}, None]})
    >>> [column.to_pylist() for column in wanted.of(rows)]
    [[7, None]]
    """

    def __init__(self, row: RowType, wanted: Sequence[tuple[str, Fields]]) -> None:
        names = row.field_names
        by_place: dict[int, set[Fields]] = {}
        for name, fields in wanted:
            by_place.setdefault(names.index(name), set()).add(fields)
        self.columns = tuple(dict.fromkeys(names.index(name) for name, _ in wanted))
        self.whole = not any(fields for _, fields in wanted)
        kept = [
            field._replace(type=_pruned(field.type, by_place[place])) if place in by_place else field
            for place, field in enumerate(row.fields)
        ]
        self.row = RowType(tuple(kept), nullable=False)
        self._paths = [
            (self.columns.index(names.index(name)), _names(row.fields[names.index(name)].type, fields))
            for name, fields in wanted
        ]

    def of(self, rows: pa.RecordBatch) -> list[pa.Array]:
        """Return the wanted values of rows that were read."""
        return [
            pc.struct_field(rows.column(place), names) if names else rows.column(place)
            for place, names in self._paths
        ]


def dotted(row: RowType, name: str, fields: Fields) -> str:
    """Return the names that lead to a field of a column, with dots between them.

    >>> from firesteel.common.logical_types import parse_type
    >>> dotted(parse_type("ROW<id INT, bid ROW<price INT, url STRING>>"), "bid", (1,))
    'bid.url'
    """
    return ".".join([name, *_names(row.fields[row.field_names.index(name)].type, fields)])


def _pruned(kind: LogicalType, paths: Iterable[Fields]) -> LogicalType:
    """Return a type with those fields only to which a path leads."""
    below: dict[int, set[Fields]] = {}
    for path in paths:
        if not path:
            return kind
        below.setdefault(path[0], set()).add(path[1:])
    assert isinstance(kind, RowType)
    kept = [
        kind.fields[place]._replace(type=_pruned(kind.fields[place].type, found))
        for place, found in sorted(below.items())
    ]
    return RowType(tuple(kept), nullable=kind.nullable)


def _names(kind: LogicalType, fields: Fields) -> list[str]:
    names = []
    for place in fields:
        assert isinstance(kind, RowType)
        names.append(kind.fields[place].name)
        kind = kind.fields[place].type
    return names
