"""Lines of JSON to columns.

There are four ways, each slower than the one before and taking more. Lines of a few forms need no parser. Arrow's
reader makes columns of a block whose values all have the JSON kind of their column. msgspec decodes a block into
objects with a slot for each column, as strict but for more types. Lines that it refuses are read the exact way, one by
one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import chain
from operator import attrgetter
from typing import Any, Final

import msgspec
import pyarrow as pa

from firesteel.common.java_numbers import fitted
from firesteel.common.logical_types import (
    ArrayType,
    DateType,
    DecimalType,
    LogicalType,
    LogicalTypeRoot,
    MapType,
    RowType,
)
from firesteel.common.logical_types.arrow import to_arrow, to_arrow_schema
from firesteel.common.logical_types.temporal import LocalZonedTimestampType, TimestampType
from firesteel.connectors.files.lines import feed_lines
from firesteel.connectors.tables.formats.json_arrow import ArrowLines, arrow_reads
from firesteel.connectors.tables.formats.json_exact import JsonRules, rows_reader
from firesteel.connectors.tables.formats.misfit import Misfit
from firesteel.connectors.tables.formats.numbered import Numbered
from firesteel.connectors.tables.formats.plain_texts import Doubtful, plain_dates, plain_timestamps
from firesteel.connectors.tables.formats.stored import list_offsets, stored_column

_R = LogicalTypeRoot
_KINDS: Final[dict[LogicalTypeRoot, Any]] = {
    **dict.fromkeys((_R.TINYINT, _R.SMALLINT, _R.INTEGER, _R.BIGINT), int),
    **dict.fromkeys((_R.INTERVAL_YEAR_MONTH, _R.INTERVAL_DAY_TIME), int),
    **dict.fromkeys((_R.FLOAT, _R.DOUBLE), float),
    **dict.fromkeys((_R.CHAR, _R.VARCHAR, _R.DATE), str),
    **dict.fromkeys((_R.TIMESTAMP_WITHOUT_TIME_ZONE, _R.TIMESTAMP_WITH_LOCAL_TIME_ZONE), str),
    **dict.fromkeys((_R.BINARY, _R.VARBINARY), bytes),
    _R.BOOLEAN: bool,
    _R.DECIMAL: Decimal,
}
"""By type, the class that the quick way decodes; other types are read the exact way."""

_NEGATIVE_ZERO: Final = re.compile(rb"[:\[,]\s*-0(?:\.0*)?\s*[,}\]]")
_GROUPED: Final = re.compile(rb'"\s*[+-]?[\d.]*_')
_REFUSED: Final = (
    Doubtful,
    msgspec.DecodeError,
    pa.ArrowInvalid,
    pa.ArrowTypeError,
    OverflowError,
    UnicodeDecodeError,
    RecursionError,
)


class JsonColumns:
    """Reads blocks of whole lines as rows of a type; empty lines are left out. Not picklable.

    >>> from firesteel.common.logical_types import parse_type
    >>> columns = JsonColumns(parse_type("ROW<n INT, s STRING>"), JsonRules())
    >>> columns.read(b'{"n": 1, "s": "a"}\\n{"n": "2"}\\n').to_pylist()
    [{'n': 1, 's': 'a'}, {'n': 2, 's': None}]
    """

    def __init__(self, row: RowType, rules: JsonRules) -> None:
        self._row = row
        self._lenient = rules.lenient
        self._schema = to_arrow_schema(row)
        self._exact = rows_reader(row, rules)
        self._arrow = ArrowLines(row, rules) if arrow_reads(row, rules) else None
        self._reader = _QuickReader(row, rules) if row.fields and _is_quick(row) else None

    def read(self, block: bytes) -> pa.RecordBatch | Misfit:
        """Return the rows of a block, or its first line that does not fit, unless such lines are skipped."""
        found = self.numbered(block)
        return found.rows if isinstance(found, Numbered) else found

    def numbered(self, block: bytes) -> pa.RecordBatch | Numbered | Misfit:
        """Return the rows of a block as `read` does, with their lines unless each line has one row."""
        return (
            self._read_others(block) if self._arrow is None else self._arrow.read_or(block, self._read_others)
        )

    def _read_others(self, block: bytes) -> pa.RecordBatch | Numbered | Misfit:
        for attempt in (self._read_by_arrow, self._read_by_msgspec):
            try:
                return attempt(block)
            except _REFUSED:
                continue
        return self._read_lines(block)

    def _read_by_arrow(self, block: bytes) -> pa.RecordBatch:
        if self._arrow is None:
            raise Doubtful
        return self._arrow.parse(block)

    def _read_by_msgspec(self, block: bytes) -> pa.RecordBatch:
        if self._reader is None:
            raise Doubtful
        return pa.RecordBatch.from_arrays(self._reader.columns(block), schema=self._schema)

    def _read_lines(self, block: bytes) -> pa.RecordBatch | Numbered | Misfit:
        """Read the lines that the quick way takes together, and the others one by one."""
        plain: list[bytes] = []
        plain_places: list[int] = []
        exact: list[tuple[Any, ...]] = []
        exact_places: list[int] = []
        lines = feed_lines(block)
        for number, line in enumerate(lines):
            if not line:
                continue
            if self._reader is not None and self._reader.takes(line):
                plain.append(line)
                plain_places.append(number)
                continue
            text = line.decode("utf-8", "replace")
            try:
                rows = self._exact(text)
                exact += rows
                exact_places += [number] * len(rows)
            except (ValueError, ArithmeticError, RecursionError) as error:
                if not self._lenient:
                    return Misfit(number, text, str(error))
        parts = [self._stored(exact)]
        if plain and self._reader is not None:
            parts.insert(0, self._read_by_msgspec(b"\n".join(plain)))
        together = pa.concat_batches(parts)
        places = plain_places + exact_places
        if len(parts) > 1 and exact:
            order = sorted(range(len(places)), key=places.__getitem__)
            together, places = together.take(pa.array(order)), sorted(places)
        return together if places == list(range(len(lines))) else Numbered(together, places)

    def _stored(self, rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
        whole = stored_column(rows, self._row.copy(nullable=False))
        return pa.RecordBatch.from_arrays(whole.flatten(), schema=self._schema)


def _is_quick(data_type: LogicalType) -> bool:
    if isinstance(data_type, RowType):
        return bool(data_type.fields) and all(_is_quick(field.type) for field in data_type.fields)
    if isinstance(data_type, ArrayType):
        return _is_quick(data_type.element)
    if isinstance(data_type, MapType):
        return data_type.key.root in (_R.CHAR, _R.VARCHAR) and _is_quick(data_type.value)
    return data_type.root in _KINDS


Build = Callable[[list[Any]], pa.Array]


class _QuickReader:
    """Decodes with msgspec; raises one of `_REFUSED` for what is not plain."""

    def __init__(self, row: RowType, rules: JsonRules) -> None:
        self._rules = rules
        self._slots = [attrgetter(f"f{place}") for place in range(len(row.fields))]
        self._builds = [self._build(field.type) for field in row.fields]
        self._decoder = msgspec.json.Decoder(self._struct(row))
        roots = set(_roots(row))
        self._has_floats = bool(roots & {_R.FLOAT, _R.DOUBLE})
        self._has_decimals = _R.DECIMAL in roots

    def columns(self, block: bytes) -> list[pa.Array]:
        """Return the columns of a block of lines."""
        rows = self._decoder.decode_lines(block)
        if len(rows) != block.count(b"\n") + (not block.endswith(b"\n")):
            raise Doubtful
        self._check(block)
        return [build(list(map(slot, rows))) for slot, build in zip(self._slots, self._builds, strict=True)]

    def takes(self, line: bytes) -> bool:
        """Return whether the quick way reads this line."""
        try:
            self._check(line)
            row = self._decoder.decode(line)
            for slot, build in zip(self._slots, self._builds, strict=True):
                build([slot(row)])
        except _REFUSED:
            return False
        return True

    def _check(self, block: bytes) -> None:
        """Raise Doubtful for what msgspec reads in another way than Java."""
        if self._has_floats and _NEGATIVE_ZERO.search(block):
            raise Doubtful
        if self._has_decimals and b"_" in block and _GROUPED.search(block):
            raise Doubtful

    def _struct(self, row: RowType) -> type[msgspec.Struct]:
        fields: list[Any] = []
        for place, field in enumerate(row.fields):
            kind = self._kind(field.type) | None
            fields.append((f"f{place}", kind) if self._rules.strict else (f"f{place}", kind, None))
        names = {f"f{place}": field.name for place, field in enumerate(row.fields)}
        return msgspec.defstruct("Line", fields, rename=names, gc=False)

    def _kind(self, data_type: LogicalType) -> Any:
        if isinstance(data_type, RowType):
            return self._struct(data_type)
        if isinstance(data_type, ArrayType):
            return list[self._kind(data_type.element) | None]  # type: ignore[misc]
        if isinstance(data_type, MapType):
            return dict[str, self._kind(data_type.value) | None]  # type: ignore[misc]
        return _KINDS[data_type.root]

    def _build(self, data_type: LogicalType) -> Build:
        """Return what makes a column of decoded values."""
        arrow = to_arrow(data_type)
        if isinstance(data_type, RowType):
            return self._build_rows(data_type)
        if isinstance(data_type, ArrayType):
            return self._build_arrays(data_type)
        if isinstance(data_type, MapType):
            return self._build_maps(data_type)
        if isinstance(data_type, DecimalType):
            return lambda values: _decimals(values, data_type)
        if isinstance(data_type, TimestampType | LocalZonedTimestampType):
            zulu = isinstance(data_type, LocalZonedTimestampType)
            separator, precision = "T" if self._rules.iso else " ", data_type.precision
            return lambda values: plain_timestamps(
                pa.array(values, pa.string()), precision, arrow, separator, zulu
            )
        if isinstance(data_type, DateType):
            return lambda values: plain_dates(pa.array(values, pa.string()))
        if pa.types.is_temporal(arrow):
            return lambda values: pa.array(values, pa.int64()).view(arrow)
        return lambda values: pa.array(values, arrow)

    def _build_rows(self, row: RowType) -> Build:
        slots = [attrgetter(f"f{place}") for place in range(len(row.fields))]
        builds = [self._build(field.type) for field in row.fields]
        fields = list(to_arrow(row))

        def build(values: list[Any]) -> pa.Array:
            columns = [
                build([None if value is None else slot(value) for value in values])
                for slot, build in zip(slots, builds, strict=True)
            ]
            absent = pa.array([value is None for value in values], pa.bool_())
            return pa.StructArray.from_arrays(columns, fields=fields, mask=absent)

        return build

    def _build_arrays(self, data_type: ArrayType) -> Build:
        element = self._build(data_type.element)
        arrow = to_arrow(data_type)

        def build(values: list[Any]) -> pa.Array:
            elements = element(list(chain.from_iterable(filter(None, values))))
            return pa.ListArray.from_arrays(list_offsets(values), elements, type=arrow)

        return build

    def _build_maps(self, data_type: MapType) -> Build:
        item = self._build(data_type.value)
        arrow = to_arrow(data_type)

        def build(values: list[Any]) -> pa.Array:
            present = [value for value in values if value]
            keys = pa.array(list(chain.from_iterable(present)), pa.string())
            items = item([found for value in present for found in value.values()])
            return pa.MapArray.from_arrays(list_offsets(values), keys, items, type=arrow)

        return build


def _roots(data_type: LogicalType) -> list[LogicalTypeRoot]:
    parts = (
        [field.type for field in data_type.fields] if isinstance(data_type, RowType) else data_type.children
    )
    return [data_type.root, *(root for part in parts for root in _roots(part))]


def _decimals(values: list[Any], data_type: DecimalType) -> pa.Array:
    arrow = to_arrow(data_type)
    try:
        return pa.array(values, arrow)
    except pa.ArrowInvalid:
        if any(value is not None and not value.is_finite() for value in values):
            raise
        precision, scale = data_type.precision, data_type.scale
        return pa.array(
            [None if value is None else fitted(value, precision, scale) for value in values], arrow
        )
