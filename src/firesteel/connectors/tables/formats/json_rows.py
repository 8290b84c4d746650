"""Lines of a few forms to columns, objects within objects to columns of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from firesteel.common.logical_types import ArrayType, LogicalType, RowType
from firesteel.common.logical_types.arrow import to_arrow, to_arrow_schema
from firesteel.connectors.tables.formats.json_forms import Form, Kind, Path
from firesteel.connectors.tables.formats.json_scalars import Spans, check_scalars, scalars
from firesteel.connectors.tables.formats.json_uniform import KnownForms, Places, Uniform, UniformLines
from firesteel.connectors.tables.formats.misfit import Misfit
from firesteel.connectors.tables.formats.plain_texts import Doubtful

_FEW_BYTES: Final = 2_000
"""The bytes of a block for which the fixed costs of that are too much."""

_TRIES: Final = 8
"""Blocks one after the other without such lines after which none is looked at any more."""

Found = TypeVar("Found")
ReadAs = Callable[[LogicalType], pa.DataType]
Finish = Callable[[pa.Array, LogicalType], pa.Array]


class FormLines:
    """Reads those lines of blocks that have one of a few forms, and leaves the others to somebody else.

    Of a value that is no row, `read_as` says as what it is read, a text if it stands in quotes; `finish` returns the
    column of its type for that. Rows with arrays are always left to the other. Not picklable.
    """

    def __init__(self, row: RowType, read_as: ReadAs, finish: Finish) -> None:
        self._finish = finish
        self._schema = to_arrow_schema(row)
        self._parts = _parts(row, (), read_as)
        self._wanted = dict(kind for part in self._parts for kind in part.kinds())
        self._known = KnownForms(self._wanted)
        self._tries = 0 if _has_arrays(row) else _TRIES

    def read(self, block: bytes, others: Callable[[bytes], Found]) -> pa.RecordBatch | Found:
        """Return the rows of a block; `others` reads the lines of no form, or the whole block."""
        if not self._tries or len(block) < _FEW_BYTES:
            return others(block)
        try:
            lines = UniformLines(block)
            groups, odd = self._known.grouped(lines)
            rows = self._rows(lines, groups, odd)
        except (Doubtful, pa.ArrowInvalid, UnicodeDecodeError):
            self._tries -= 1
            return others(block)
        self._tries = _TRIES
        if not len(odd):
            return rows
        found = others(b"".join(lines.line(number) for number in odd.tolist()))
        if isinstance(found, Misfit):
            return replace(found, number=int(odd[found.number]))
        if not isinstance(found, pa.RecordBatch) or found.num_rows != len(odd):
            return others(block)
        places = np.empty(lines.count, np.int64)
        places[np.append(np.setdiff1d(np.arange(lines.count), odd), odd)] = np.arange(lines.count)
        return pa.concat_batches([rows, found]).take(pa.array(places))

    def _rows(self, lines: UniformLines, groups: Sequence[Uniform], odd: Places) -> pa.RecordBatch:
        for group in groups:
            slots = [
                place
                for place, slot in enumerate(group.form.slots)
                if not slot.text and slot.path not in self._wanted
            ]
            if slots:
                check_scalars(group.spans(lines.data, *slots))
        if len(odd):
            kept = np.ones(lines.count, np.int64)
            kept[odd] = 0
            places = np.cumsum(kept) - 1
            groups = [replace(group, lines=places.take(group.lines)) for group in groups]
        columns = _Columns(lines.data, groups, lines.count - len(odd), self._finish)
        return pa.RecordBatch.from_arrays([columns.column(part) for part in self._parts], schema=self._schema)


@dataclass(frozen=True)
class _Part:
    """A field at a path: of type `kind`, which is `arrow`, and is read as another type. A row has parts."""

    path: Path
    kind: LogicalType
    arrow: pa.DataType
    read: pa.DataType | None
    parts: tuple[_Part, ...] = ()

    def kinds(self) -> Iterator[tuple[Path, Kind]]:
        """Yield what the value is, and those in it."""
        if self.read is None:
            yield self.path, Kind.ROW
        else:
            yield self.path, Kind.TEXT if pa.types.is_string(self.read) else Kind.SCALAR
        for part in self.parts:
            yield from part.kinds()


def _parts(row: RowType, path: Path, read_as: ReadAs) -> tuple[_Part, ...]:
    parts: list[_Part] = []
    for field in row.fields:
        below, arrow = (*path, field.name.encode()), to_arrow(field.type)
        if isinstance(field.type, RowType):
            parts.append(_Part(below, field.type, arrow, None, _parts(field.type, below, read_as)))
        else:
            parts.append(_Part(below, field.type, arrow, read_as(field.type)))
    return tuple(parts)


class _Spread:
    """Some rows of a block, those that are marked: gives each its value, and NULL to the others."""

    def __init__(self, marked: npt.NDArray[np.bool_]) -> None:
        self.rows = np.flatnonzero(marked)
        self._marked = marked

    def over(self, values: pa.Array) -> pa.Array:
        """Return a column of all rows; `values` has one value for each that is marked."""
        count = len(self._marked)
        if len(values) == count:
            return values
        if not pa.types.is_string(values.type) or values.null_count:
            return values.take(self._places)
        _, offsets, data = values.buffers()
        ends = np.frombuffer(offsets, np.int32, len(values) + 1, 4 * values.offset).take(self._before)
        return pa.StringArray.from_buffers(count, pa.py_buffer(ends), data, self._bits)

    @cached_property
    def _before(self) -> Places:
        """How many rows that are marked are before each row, and before the end."""
        return np.append(0, np.cumsum(self._marked))

    @cached_property
    def _places(self) -> pa.Array:
        return pa.array(self._before[:-1] * self._marked, mask=~self._marked)

    @cached_property
    def _bits(self) -> pa.Buffer:
        return pa.py_buffer(np.packbits(self._marked, bitorder="little"))


class _Columns:
    def __init__(self, block: pa.Buffer, groups: Sequence[Uniform], count: int, finish: Finish) -> None:
        self._block = block
        self._groups = groups
        self._count = count
        self._finish = finish
        self._spread: dict[tuple[int, ...], _Spread] = {}

    def column(self, part: _Part) -> pa.Array:
        if part.read is None:
            columns = [self.column(within) for within in part.parts]
            absent = ~self._marked(self._having(lambda form: part.path in form.rows))
            mask = pa.array(absent) if absent.any() else None
            return pa.StructArray.from_arrays(columns, fields=list(part.arrow), mask=mask)
        having = self._having(lambda form: part.path in form.places)
        if not having:
            return pa.nulls(self._count, part.arrow)
        spread = self._spread_of(having)
        spans = self._spans(part.path, having, spread.rows)
        texts = pa.types.is_string(part.read)
        return spread.over(self._finish(spans.texts if texts else scalars(spans, part.read), part.kind))

    def _having(self, has: Callable[[Form], bool]) -> tuple[int, ...]:
        return tuple(place for place, group in enumerate(self._groups) if has(group.form))

    def _spans(self, path: Path, having: Sequence[int], rows: Places) -> Spans:
        groups = [self._groups[place] for place in having]
        found = [group.spans(self._block, group.form.places[path]) for group in groups]
        if len(found) == 1:
            return found[0]
        both = np.empty(self._count, np.int64)  # a begin and an end as one number: half the work
        for group, spans in zip(groups, found, strict=True):
            both[group.lines] = np.ascontiguousarray(spans.ends).view(np.int64)[:, 0]
        return Spans(self._block, both.take(rows).view(np.int32).reshape(-1, 2))

    def _spread_of(self, having: tuple[int, ...]) -> _Spread:
        if having not in self._spread:
            self._spread[having] = _Spread(self._marked(having))
        return self._spread[having]

    def _marked(self, having: Sequence[int]) -> npt.NDArray[np.bool_]:
        marked = np.zeros(self._count, np.bool_)
        for place in having:
            marked[self._groups[place].lines] = True
        return marked


def _has_arrays(kind: LogicalType) -> bool:
    if isinstance(kind, RowType):
        return any(_has_arrays(field.type) for field in kind.fields)
    return isinstance(kind, ArrayType)
