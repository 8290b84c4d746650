"""The connector 'datagen': generated rows, random or in sequence (Flink: DataGenTableSourceFactory)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeVar

import numpy as np
import pyarrow as pa

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import (
    ArrayType,
    BigIntType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LogicalType,
    LogicalTypeFamily,
    LogicalTypeRoot,
    RowType,
    SmallIntType,
    TinyIntType,
    YearMonthIntervalType,
)
from firesteel.common.logical_types.arrow import to_arrow, to_arrow_schema
from firesteel.common.logical_types.strings import MAX_LENGTH, LengthType
from firesteel.connectors.datagen import DataGeneratorSource
from firesteel.connectors.tables.generators import (
    Arrays,
    Generator,
    Nullable,
    PastTime,
    RandomBoolean,
    RandomBytes,
    RandomDecimal,
    RandomFloat,
    RandomWhole,
    Rows,
    Sequence,
    Wanted,
    seed_of,
)
from firesteel.connectors.tables.options import (
    SCAN_PARALLELISM,
    Listed,
    Option,
    Options,
    choice,
    duration,
    fraction,
    number,
    truth,
)
from firesteel.functions.columns.connectors import TableConnector, TableRequest, TableSource
from firesteel.functions.columns.endpoints import ColumnBatches, ColumnSource
from firesteel.functions.columns.statistics import TableStatistics
from firesteel.functions.source import Boundedness, DiscoveryContext, Split

N = TypeVar("N", int, float)

_R = LogicalTypeRoot
_BATCH: Final = 1 << 16
_LENGTH: Final = 100
_MONTHS: Final = 120_000
_WHOLE: Final[dict[type[LogicalType], int]] = {
    TinyIntType: 8,
    SmallIntType: 16,
    IntType: 32,
    BigIntType: 64,
    DayTimeIntervalType: 64,
}
_TIMES: Final = (
    _R.DATE,
    _R.TIME_WITHOUT_TIME_ZONE,
    _R.TIMESTAMP_WITHOUT_TIME_ZONE,
    _R.TIMESTAMP_WITH_LOCAL_TIME_ZONE,
)


_RATE: Final = number(
    "rows-per-second", 1, "How many rows there are in a second, of all subtasks together."
).by_default("10000")
_COUNT: Final = number("number-of-rows", 0, "How many rows there are. Without it the table has no end.")


class _FieldOptions:
    """The options of one column, or of a part of its values, after its name."""

    def __init__(self, key: str) -> None:
        self.kind = choice(
            f"{key}.kind",
            "random",
            "sequence",
            about="Whether values are random, or numbers one after the other.",
        ).by_default("random")
        self.start = number(f"{key}.start", None, "The first number of a sequence, which needs it.")
        self.end = number(f"{key}.end", None, "The last number of a sequence, which ends the table.")
        self.least = number(f"{key}.min", None, "The least random number. The least of the type without it.")
        self.most = number(
            f"{key}.max", None, "The largest random number. The largest of the type without it."
        )
        self.low = fraction(self.least.key)
        self.high = fraction(self.most.key)
        self.past = duration(
            f"{key}.max-past", "How far back random times reach from the present."
        ).by_default("0 s")
        self.length = number(
            f"{key}.length",
            1,
            "How long random texts and bytes are. As long as the type says without it, and 100 for STRING and BYTES.",
        )
        self.elements = number(self.length.key, 0, "How many elements a random array has.").by_default("3")
        self.varies = truth(
            f"{key}.var-len",
            "Whether texts and bytes have up to so many characters or bytes, and not always as many.",
        ).by_default("false")
        self.null_rate = fraction(
            f"{key}.null-rate", "Which share of the values is NULL, from 0 to 1."
        ).by_default("0")

    @property
    def all(self) -> Listed:
        """All of them, those of the same name once."""
        bounds = (self.kind, self.start, self.end, self.least, self.most)
        return (*bounds, self.length, self.varies, self.past, self.null_rate)


class DatagenConnector(TableConnector):
    """Options are Flink's: `rows-per-second`, `number-of-rows`, and `fields.NAME.*` for each column.

    A row is a function of its number, so a range that is read again gives the same rows. Times pass with the number at
    the rate of the rows, from when the job was started.
    """

    name = "datagen"
    options = (_RATE, _COUNT, SCAN_PARALLELISM, *_FieldOptions("fields.#").all)

    def source(self, table: TableRequest) -> TableSource:
        """Return the source; it is bounded if there is a number of rows or a sequence."""
        options = Options(table.options, table.who, self.name)
        rate, count, parallelism = options.get(_RATE), options.get(_COUNT), options.get(SCAN_PARALLELISM)
        fields = _Fields(options, table.who, rate)
        columns = tuple(fields.field(f"fields.{name}", kind) for name, kind, *_ in table.row.fields)
        options.finish()
        ends = [end for end in (count, *fields.lengths) if end is not None]
        schema = to_arrow_schema(table.row)
        source = DatagenSource(columns, schema, min(ends, default=None), rate, parallelism)
        return TableSource(source)


class DatagenSource(ColumnSource):
    """Rows of generated columns; see `DataGeneratorSource` for how they are split and how fast they come."""

    def __init__(
        self,
        columns: tuple[Generator, ...],
        schema: pa.Schema,
        count: int | None,
        rate: float,
        parallelism: int | None = None,
    ) -> None:
        self._columns = columns
        self._schema = schema
        self._numbers = DataGeneratorSource(int, count, rate)
        self.preferred_parallelism = parallelism
        self._arguments = (count, rate, parallelism)

    @property
    def boundedness(self) -> Boundedness:
        """BOUNDED if the number of rows is known."""
        return self._numbers.boundedness

    def discover(self, context: DiscoveryContext) -> Iterable[Split]:
        """Return one split per subtask of the job's first run, each with the time at which the job began."""
        return [_at(split, context.processing_time) for split in self._numbers.discover(context)]

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        """Return one split, for callers that know neither parallelism nor clock."""
        return [_at(split, 0) for split in self._numbers.splits(known)]

    def available(self, split: Split, position: int, now: int) -> int:
        """Return how far the rate allows."""
        numbers, _ = split.payload
        return self._numbers.available(Split(split.id, split.start, split.end, numbers), position, now)

    def read_columns(self, split: Split, start: int, end: int) -> ColumnBatches:
        (first, stride), began = split.payload
        for low in range(start, end, _BATCH):
            high = min(low + _BATCH, end)
            indices = first + stride * np.arange(low, high, dtype=np.int64)
            wanted = Wanted(indices, began)
            columns = [column.column(wanted) for column in self._columns]
            yield pa.RecordBatch.from_arrays(columns, schema=self._schema), None
        return None

    def projected(self, columns: tuple[int, ...]) -> ColumnSource:
        """Return a source of these columns."""
        schema = pa.schema([self._schema.field(place) for place in columns])
        return DatagenSource(tuple(self._columns[place] for place in columns), schema, *self._arguments)

    def statistics(self) -> TableStatistics | None:
        """Return the number of rows, if there is one; rows are stored nowhere."""
        count, *_ = self._arguments
        return None if count is None else TableStatistics(count)


def _at(split: Split, began: int) -> Split:
    return Split(split.id, split.start, split.end, (split.payload, began))


class _Fields:
    """Makes the generators of columns from options; `lengths` are those of the sequences."""

    def __init__(self, options: Options, who: str, rate: float) -> None:
        self._options = options
        self._who = who
        self._rate = rate
        self.lengths: list[int] = []

    def field(self, key: str, kind: LogicalType) -> Generator:
        """Return the generator of the field whose options begin with `key`."""
        if self._options.get(_FieldOptions(key).kind) == "sequence":
            return self._sequence(key, kind)
        return self._random(key, kind)

    def _sequence(self, key: str, kind: LogicalType) -> Generator:
        known = _FieldOptions(key)
        start, end = self._options.required(known.start), self._options.required(known.end)
        if end < start:
            raise self._options.wrong(known.end.key, f"a number of at least {start}")
        arrow = to_arrow(kind)
        numeric = kind.root.families & {LogicalTypeFamily.NUMERIC, LogicalTypeFamily.CHARACTER_STRING}
        if not numeric:
            raise UnsupportedError(
                "cannot be a sequence of datagen", who=f"{self._who}, {key}", got=f"the type {kind}"
            )
        self.lengths.append(end - start + 1)
        return Sequence(start, arrow)

    def _random(self, key: str, kind: LogicalType) -> Generator:
        values = self._values(key, kind)
        null_rate = _FieldOptions(key).null_rate
        rate = self._options.get(null_rate)
        if not 0 <= rate <= 1:
            raise self._options.wrong(null_rate.key, "a number from 0 to 1")
        return Nullable(seed_of(key), rate, values) if rate else values

    def _values(self, key: str, kind: LogicalType) -> Generator:
        if isinstance(kind, RowType):
            fields = tuple(self._random(f"{key}.{name}", part) for name, part, *_ in kind.fields)
            return Rows(fields, to_arrow(kind))
        if isinstance(kind, ArrayType):
            length = self._options.get(_FieldOptions(key).elements)
            return Arrays(self._random(f"{key}.element", kind.element), length, to_arrow(kind))
        if isinstance(kind, LengthType):
            return self._text(key, kind)
        if kind.root in _TIMES:
            past = self._options.get(_FieldOptions(key).past)
            return PastTime(seed_of(key), self._rate, past, to_arrow(kind))
        if kind.root is _R.BOOLEAN:
            return RandomBoolean(seed_of(key))
        return self._number(key, kind)

    def _text(self, key: str, kind: LengthType) -> Generator:
        known, fixed = _FieldOptions(key), kind.root in (_R.CHAR, _R.BINARY)
        length = kind.length
        if not fixed:
            default = _LENGTH if length >= MAX_LENGTH else length
            length = self._options.get(known.length, default)
            if length > kind.length:
                raise self._options.wrong(known.length.key, f"a length of at most {kind.length}")
        varies = not fixed and self._options.get(known.varies)
        return RandomBytes(seed_of(key), length, varies, kind.root in (_R.CHAR, _R.VARCHAR))

    def _number(self, key: str, kind: LogicalType) -> Generator:
        known, arrow = _FieldOptions(key), to_arrow(kind)
        if type(kind) in _WHOLE:
            half = 1 << _WHOLE[type(kind)] - 1
            least, most = self._bounds(known.least, known.most, -half, half - 1)
            return RandomWhole(seed_of(key), max(least, -half), min(most, half - 1), arrow)
        if isinstance(kind, YearMonthIntervalType):
            least, most = self._bounds(known.least, known.most, 0, _MONTHS)
            return RandomWhole(seed_of(key), least, most, arrow)
        smallest, largest = _LIMITS.get(type(kind), (0.0, 0.0))
        if isinstance(kind, DecimalType):
            smallest, largest = 0.0, 10.0 ** (kind.precision - kind.scale)
        elif not largest:
            raise UnsupportedError("cannot be generated", who=f"{self._who}, {key}", got=f"the type {kind}")
        low, high = self._bounds(known.low, known.high, smallest, largest)
        if isinstance(kind, DecimalType):
            return RandomDecimal(seed_of(key), low, high, arrow)
        return RandomFloat(seed_of(key), low, high, arrow)

    def _bounds(self, low: Option[N], high: Option[N], least: N, most: N) -> tuple[N, N]:
        first, last = self._options.get(low, least), self._options.get(high, most)
        if last < first:
            raise self._options.wrong(high.key, f"a number of at least {first}")
        return first, last


_LIMITS: Final[dict[type[LogicalType], tuple[float, float]]] = {
    FloatType: (float(np.finfo(np.float32).smallest_subnormal), float(np.finfo(np.float32).max)),
    DoubleType: (float(np.finfo(np.float64).smallest_subnormal), float(np.finfo(np.float64).max)),
}
