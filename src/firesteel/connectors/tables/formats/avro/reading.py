"""Records of Avro to columns, with the writer's schema and the reader's (Avro 1.12, "Schema Resolution")."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from firesteel.common.logical_types import ArrayType, LogicalType, MapType, MultisetType, RowType
from firesteel.common.logical_types.arrow import to_arrow
from firesteel.connectors.tables.formats.avro.defaults import default_column
from firesteel.connectors.tables.formats.avro.derived import value_of_map
from firesteel.connectors.tables.formats.avro.lanes import Lanes, Malformed, Places
from firesteel.connectors.tables.formats.avro.leaves import Read, leaf, promotes, texts
from firesteel.connectors.tables.formats.avro.schema import MISSING, AvroField, AvroType
from firesteel.connectors.tables.formats.avro.skipping import branches, over_items, skipper, smallest


class Unresolvable(Exception):  # noqa: N818 - what it means depends on where the types stand
    """What was written cannot be read as what is wanted."""


class AvroReader:
    """Reads records that were written with one schema, as rows of a type that has the other schema.

    A record whose schema does not fit is known by what `wrong` says. Not picklable.

    >>> from firesteel.common.logical_types import parse_type
    >>> from firesteel.connectors.tables.formats.avro.schema import parse_schema
    >>> of = '{"type": "record", "name": "r", "fields": [{"name": "n", "type": "%s"}]}'
    >>> row = parse_type("ROW<n BIGINT NOT NULL> NOT NULL")
    >>> reader = AvroReader(parse_schema(of % "int", "t"), parse_schema(of % "long", "t"), row)
    >>> reader.read(pa.array([bytes([2]), bytes([3])])).to_pylist()
    [{'n': 1}, {'n': -2}]
    """

    def __init__(self, written: AvroType, read: AvroType, row: RowType) -> None:
        self._read = _reader(written, read, row)

    def read(self, messages: pa.Array, skipped: int = 0) -> pa.StructArray:
        """Return the rows of messages, after some bytes of each. Raises Malformed if one is none."""
        lanes = Lanes.of(messages, skipped)
        try:
            rows = self._read(lanes)
        except IndexError as error:
            raise Malformed("it ends within a value") from error
        lanes.finish()
        return rows


def _reader(written: AvroType, read: AvroType, kind: LogicalType) -> Read:
    """Return what reads values. Raises Unresolvable if none of what was written can be read."""
    if written.kind == "union":
        return _union(written, read, kind)
    if read.kind == "union":
        return _reader(written, _branch(written, read), kind)
    if written.kind == read.kind == "null":
        return leaf(written, read, kind)
    if isinstance(kind, RowType):
        _require(written.kind == read.kind == "record", written, read)
        return _record(written, read, kind)
    if isinstance(kind, ArrayType):
        _require(written.kind == read.kind == "array", written, read)
        return _array(written, read, kind)
    if isinstance(kind, MapType | MultisetType):
        _require(written.kind == read.kind == "map", written, read)
        return _map(written, read, kind)
    _require(promotes(written, read), written, read)
    return leaf(written, read, kind)


def _require(holds: bool, written: AvroType, read: AvroType) -> None:
    if not holds:
        raise Unresolvable(f"{_shown(written)} was written where {_shown(read)} is read")


def _shown(kind: AvroType) -> str:
    return f"{kind.kind} {kind.name}".strip()


def _branch(written: AvroType, read: AvroType) -> AvroType:
    """Return the branch of a reader's union that a value is of: of its own type, or else the first that it fits."""
    for part in read.parts:
        if part.kind == written.kind and (not part.name or part.short_name == written.short_name):
            return part
    complex_kinds = ("record", "array", "map")
    for part in read.parts:
        if part.kind == written.kind in complex_kinds or promotes(written, part):
            return part
    raise Unresolvable(f"{_shown(written)} was written where {', '.join(map(_shown, read.parts))} are read")


def _union(written: AvroType, read: AvroType, kind: LogicalType) -> Read:
    """Return the reader of a writer's union: what cannot be read matters only where a value is of that branch."""
    readers = [_or_bad(part, read, kind) for part in written.parts]

    def values(lanes: Lanes) -> pa.Array:
        found = branches(lanes, len(readers))
        columns = []
        for number, chosen in found:
            some = lanes.only(chosen)
            columns.append(readers[number](some))
            lanes.merge(chosen, some)
        if len(columns) == 1:
            return columns[0]
        if not columns:
            return pa.nulls(0, to_arrow(kind))
        nulls = next((at for at, (number, _) in enumerate(found) if written.parts[number].kind == "null"), -1)
        if len(columns) == 2 and nulls >= 0:
            return _spread(columns[1 - nulls], found[1 - nulls][1], len(lanes))
        return _interleaved(columns, [chosen for _, chosen in found])

    return values


def _spread(column: pa.Array, chosen: Places, count: int) -> pa.Array:
    """Return a column with NULL in all other places."""
    there = np.zeros(count, np.bool_)
    there[chosen] = True
    return column.take(pa.array(np.cumsum(there) - 1, mask=~there))


def _interleaved(columns: Sequence[pa.Array], places: Sequence[npt.NDArray[np.int64]]) -> pa.Array:
    order = np.argsort(np.concatenate(places), kind="stable")
    return pa.concat_arrays(columns).take(pa.array(order))


def _or_bad(written: AvroType, read: AvroType, kind: LogicalType) -> Read:
    if written.kind == "null" and not read.may_be_null:
        return partial(_bad, "it has null where no null is read")
    try:
        return _reader(written, read, kind)
    except Unresolvable as error:
        return partial(_bad, str(error))


def _bad(why: str, lanes: Lanes) -> pa.Array:
    del lanes
    raise Malformed(why)


def _record(written: AvroType, read: AvroType, row: RowType) -> Read:
    """Return the reader of records: fields are found by their names, or else by those that they had."""
    by_name = {field.name: place for place, field in enumerate(written.fields)}
    steps: list[tuple[int | None, Callable[[Lanes], Any]]] = [
        (None, skipper(field.type)) for field in written.fields
    ]
    constants: dict[int, AvroField] = {}
    for place, (field, column) in enumerate(zip(read.fields, row.fields, strict=True)):
        names = [name for name in (field.name, *field.aliases) if name in by_name]
        if names:
            at = by_name[names[0]]
            steps[at] = (place, _named(written.fields[at], field, column.type))
        elif field.default is MISSING:
            raise Unresolvable(
                f"{_shown(written)} has no field {field.name!r}, which cannot be NULL and has no default"
            )
        else:
            constants[place] = field
    return _record_reader(steps, constants, row)


def _record_reader(
    steps: Sequence[tuple[int | None, Callable[[Lanes], Any]]], constants: dict[int, AvroField], row: RowType
) -> Read:
    arrow = list(to_arrow(row))
    defaults = {place: default_column(field, row.fields[place].type) for place, field in constants.items()}

    def values(lanes: Lanes) -> pa.Array:
        found: dict[int, pa.Array] = {}
        for place, step in steps:
            column = step(lanes)
            if place is not None:
                found[place] = column
        for place, default in defaults.items():
            found[place] = default.take(pa.array(np.zeros(len(lanes), np.int64)))
        columns = [found[place] for place in range(len(arrow))]
        return pa.StructArray.from_arrays(columns, fields=arrow) if arrow else pa.array([{}] * len(lanes))

    return values


def _named(written: AvroField, read: AvroField, kind: LogicalType) -> Read:
    try:
        return _reader(written.type, read.type, kind)
    except Unresolvable as error:
        raise Unresolvable(f"field {read.name!r}: {error}") from error


def _array(written: AvroType, read: AvroType, kind: ArrayType) -> Read:
    item = _reader(written.parts[0], read.parts[0], kind.element)
    least, arrow = smallest(written.parts[0]), to_arrow(kind)

    def values(lanes: Lanes) -> pa.Array:
        items: list[pa.Array] = []
        owners: list[Places] = []

        def each(some: Lanes, chosen: Places) -> None:
            items.append(item(some))
            owners.append(chosen)

        over_items(lanes, least, each)
        elements = _interleaved(items, owners) if items else pa.nulls(0, to_arrow(kind.element))
        return pa.ListArray.from_arrays(_offsets(owners, len(lanes)), elements, type=arrow)

    return values


def _map(written: AvroType, read: AvroType, kind: MapType | MultisetType) -> Read:
    """Return the reader of maps. Of a key that comes twice the last value counts."""
    value_type = value_of_map(kind)
    item = _reader(written.parts[0], read.parts[0], value_type)
    least, arrow = smallest(written.parts[0]) + 1, to_arrow(kind)

    def values(lanes: Lanes) -> pa.Array:
        keys: list[pa.Array] = []
        items: list[pa.Array] = []
        owners: list[Places] = []

        def each(some: Lanes, chosen: Places) -> None:
            keys.append(texts(some.values()))
            items.append(item(some))
            owners.append(chosen)

        over_items(lanes, least, each)
        if not items:
            none = pa.array([], pa.string()), pa.nulls(0, to_arrow(value_type))
            return pa.MapArray.from_arrays(_offsets(owners, len(lanes)), *none, type=arrow)
        entries = _interleaved(keys, owners), _interleaved(items, owners), np.sort(np.concatenate(owners))
        return _map_array(*entries, len(lanes), arrow)

    return values


def _map_array(keys: pa.Array, items: pa.Array, owners: Places, count: int, arrow: pa.DataType) -> pa.Array:
    codes = keys.dictionary_encode().indices.to_numpy()
    both = owners * (int(codes.max()) + 1) + codes
    _, last = np.unique(both[::-1], return_index=True)
    kept = np.sort(len(both) - 1 - last)
    if len(kept) < len(both):
        keys, items, owners = keys.take(pa.array(kept)), items.take(pa.array(kept)), owners[kept]
    return pa.MapArray.from_arrays(_offsets([owners], count), keys, items, type=arrow)


def _offsets(owners: Sequence[Places], count: int) -> pa.Array:
    sizes = np.bincount(np.concatenate(owners), minlength=count) if owners else np.zeros(count, np.int64)
    return pa.array(np.append(0, np.cumsum(sizes)).astype(np.int32))
