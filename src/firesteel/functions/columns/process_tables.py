"""Process table functions that a query calls: as data, and as functions of records with keyed state and timers.

Timers with names are kept beside the state by their names, since one timer of the kernel stands for all of a time.
Source: Flink's ProcessSetTableOperator, ProcessRowTableOperator and PassThroughCollectorBase.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from firesteel.common.errors import TypeMismatchError
from firesteel.common.logical_types import ArrayType, LogicalType, MapType, RowType
from firesteel.common.logical_types.type_information import to_type_information
from firesteel.common.time import Time
from firesteel.common.typeinfo import Types
from firesteel.common.types import Row, RowKind, make_row
from firesteel.functions.base import RuntimeContext
from firesteel.functions.changelog_mode import ChangelogMode
from firesteel.functions.columns.connectors import ChangelogMode as PlannedMode
from firesteel.functions.columns.process_table_contexts import RowContext, SetContext, TimerContext
from firesteel.functions.columns.python_functions import PythonProcessTable, rows_of
from firesteel.functions.columns.sorting import SortColumn
from firesteel.functions.process import KeyedProcessFunction, ProcessFunction
from firesteel.functions.process_tables import SortDirection, TableSemantics
from firesteel.functions.user_defined import FunctionContext
from firesteel.state.descriptors import (
    ListStateDescriptor,
    MapStateDescriptor,
    StateDescriptor,
    ValueStateDescriptor,
)
from firesteel.state.ttl import StateTtlConfig

_INSERTS: Final = PlannedMode.inserts()
_UNNAMED: Final = "unnamed timers"
_NAMED: Final = "named timers"
_NESTED: Final = (ArrayType, MapType, RowType)


@dataclass(frozen=True)
class CalledTable(TableSemantics):
    """A table of a call: its argument's name, its columns, its keys (None: rows by themselves), its time, its order."""

    argument: str
    row: RowType
    keys: tuple[int, ...] | None
    time: int | None = None
    passes: bool = False
    order: tuple[SortColumn, ...] = ()
    mode: PlannedMode = _INSERTS

    def partition_by_columns(self) -> list[int]:
        """Return the places of the keys."""
        return [*(self.keys or ())]

    def order_by_columns(self) -> list[int]:
        """Return the places of the columns of the order."""
        return [key.column for key in self.order]

    def order_by_directions(self) -> list[SortDirection]:
        """Return how each column of the order is sorted."""
        return [
            SortDirection[
                f"{'ASC' if key.ascending else 'DESC'}_NULLS_{'FIRST' if key.nulls_first else 'LAST'}"
            ]
            for key in self.order
        ]

    def time_column(self) -> int | None:
        """Return the place of the time."""
        return self.time

    def column_names(self) -> list[str]:
        """Return the names of the columns."""
        return [*self.row.field_names]

    def changelog_mode(self) -> ChangelogMode:
        """Return which kinds of changes come."""
        return ChangelogMode.of(self.mode)


@dataclass(frozen=True)
class TableCall:
    """A call of a function: its tables, its other arguments by name, and which changes it gives.

    `lives` says how long entries of the state live (milliseconds), by name; those that are not there live for ever.
    """

    function: PythonProcessTable
    tables: tuple[CalledTable, ...]
    values: Mapping[str, Any]
    mode: PlannedMode = _INSERTS
    lives: tuple[tuple[str, int], ...] = ()

    @property
    def who(self) -> str:
        """What errors call the function."""
        return f"function {self.function.name}"

    @cached_property
    def _kinds(self) -> frozenset[RowKind]:
        return ChangelogMode.of(self.mode).kinds

    @cached_property
    def _names(self) -> list[str]:
        return [*self.function.result.field_names]

    def given(self, table: CalledTable | None, row: Row | None) -> list[Any]:
        """Return the arguments of a call for a row of a table."""
        return [
            (row if table is not None and name == table.argument else None)
            if isinstance(kind, frozenset)
            else self.values.get(name)
            for name, kind in self.function.arguments.items()
        ]

    def records(self, result: Any, before: tuple[Any, ...]) -> Iterator[Any]:
        """Yield the records of what a call gives, behind the values `before`: tuples, and Rows that are no inserts."""
        for row in rows_of(result):
            values = tuple(row) if isinstance(row, tuple | Row) else (row,)
            if len(values) != len(self._names):
                raise TypeMismatchError(
                    f"requires rows of {len(self._names)} values ({', '.join(self._names)})",
                    who=self.who,
                    got=repr(row),
                )
            if not isinstance(row, Row) or row.get_row_kind() is RowKind.INSERT:
                yield (*before, *values)
            else:
                yield make_row(None, [*before, *values], self._allowed(row))

    def _allowed(self, row: Row) -> RowKind:
        kind = row.get_row_kind()
        if kind in self._kinds:
            return kind
        raise TypeMismatchError(
            f"requires rows of the kinds {', '.join(str(known) for known in RowKind if known in self._kinds)}",
            who=self.who,
            got=f"{kind} {row!r}",
            hint="get_changelog_mode of a ChangelogFunction says which kinds there are",
        )


@dataclass(frozen=True)
class KeyOf:
    """Finds the key of a record, the number of a table with one of its rows: a Row of the values of its keys."""

    tables: tuple[CalledTable, ...]

    def __call__(self, record: tuple[int, Row, Any]) -> Row:
        """Return the key."""
        row = record[1]
        return Row(*(row[place] for place in self.tables[record[0]].keys or ()))


@dataclass(frozen=True)
class Numbered:
    """Puts the number of a table before its rows, and no watermark behind them."""

    number: int

    def __call__(self, row: Row) -> tuple[int, Row, None]:
        """Return the record."""
        return self.number, row, None


class RowProcess(ProcessFunction):
    """Calls a function for rows of a table, each by itself; without a table for one row, which it does not get."""

    def __init__(self, call: TableCall) -> None:
        self.call = call

    def open(self, runtime_context: RuntimeContext) -> None:
        """Open the function."""
        self.call.function.body.open(FunctionContext(runtime_context))

    def close(self) -> None:
        """Close the function."""
        self.call.function.body.close()

    def process_element(self, value: Row, ctx: ProcessFunction.Context) -> Iterator[Any]:
        """Yield what the function gives for a row."""
        table = self.call.tables[0] if self.call.tables else None
        result = self.call.function.body.eval(
            RowContext(self.call, ctx, table), *self.call.given(table, value)
        )
        yield from self.call.records(result, tuple(value) if table is not None and table.passes else ())


class TableProcess(KeyedProcessFunction):
    """Calls a function for records of sets, as `KeyOf` takes them."""

    def __init__(self, call: TableCall) -> None:
        self.call = call

    def open(self, runtime_context: RuntimeContext) -> None:
        """Open the function, and get its state."""
        function, lives = self.call.function, dict(self.call.lives)
        self.states: dict[str, Any] = {}
        self._nested: set[str] = set()
        for name, kind in function.state.items():
            self.states[name] = _handle(runtime_context, name, kind, lives.get(name))
            if any(isinstance(child, _NESTED) for child in kind.children):
                self._nested.add(name)
        named = MapStateDescriptor(_NAMED, Types.STRING(), Types.LONG())
        unnamed = MapStateDescriptor(_UNNAMED, Types.LONG(), Types.BOOLEAN())
        self.named = runtime_context.get_map_state(named)
        self.unnamed = runtime_context.get_map_state(unnamed)
        function.body.open(FunctionContext(runtime_context))

    def close(self) -> None:
        """Close the function."""
        self.call.function.body.close()

    def process_element(
        self, value: tuple[int, Row, int | None], ctx: KeyedProcessFunction.Context
    ) -> Iterator[Any]:
        """Yield what the function gives for a row, with the watermark of its table if that is known."""
        number, row, watermark = value
        table = self.call.tables[number]
        context = SetContext(self, ctx, table, watermark)
        before = tuple(row) if table.passes else self._keys(ctx)
        yield from self._called(self.call.function.body.eval, context, before, self.call.given(table, row))

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterator[Any]:
        """Yield what the function gives for the timers of a time: first the one without a name."""
        due: list[str | None] = [None] if self.unnamed.contains(timestamp) else []
        due += sorted(name for name, time in self.named.items() if time == timestamp)
        for name in due:
            if name is None:
                self.unnamed.remove(timestamp)
            elif self.named.get(name) == timestamp:
                self.named.remove(name)
            else:
                continue  # a timer before it has replaced or deleted it
            context = TimerContext(self, ctx, name)
            yield from self._called(self.call.function.body.on_timer, context, self._keys(ctx), ())

    def _keys(self, ctx: KeyedProcessFunction.Context) -> tuple[Any, ...]:
        return tuple(ctx.get_current_key()) * len(self.call.tables)

    def _called(
        self, method: Any, context: SetContext, before: tuple[Any, ...], given: Iterable[Any]
    ) -> Iterator[Any]:
        entries = {name: self._entry(name) for name in self.states}
        rows = {name: entry for name, entry in entries.items() if isinstance(entry, Row)}
        # Fields that are lists or maps may change within; only a row that has changed lives longer.
        old = {name: [*deepcopy(row)] if name in self._nested else [*row] for name, row in rows.items()}
        yield from self.call.records(method(context, *entries.values(), *given), before)
        for name, row in rows.items():
            if name not in context.cleared and [*row] != old[name]:
                self.states[name].update(row if any(value is not None for value in row) else None)

    def _entry(self, name: str) -> Any:
        kind, state = self.call.function.state[name], self.states[name]
        if not isinstance(kind, RowType):
            return state
        found = state.value()
        row = Row(*(found if found is not None else [None] * len(kind.fields)))
        row.set_field_names([*kind.field_names])
        return row


def limit_life(descriptor: StateDescriptor, time_to_live: int | None) -> None:
    """Let the state of a descriptor live so long since it was written (milliseconds; None: for ever)."""
    if time_to_live is not None:
        descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.milliseconds(time_to_live)).build())


def _handle(context: RuntimeContext, name: str, kind: LogicalType, time_to_live: int | None) -> Any:
    match kind:
        case ArrayType():
            elements = ListStateDescriptor(name, to_type_information(kind.element))
            limit_life(elements, time_to_live)
            return context.get_list_state(elements)
        case MapType():
            entries = MapStateDescriptor(name, to_type_information(kind.key), to_type_information(kind.value))
            limit_life(entries, time_to_live)
            return context.get_map_state(entries)
    value = ValueStateDescriptor(name, to_type_information(kind))
    limit_life(value, time_to_live)
    return context.get_state(value)
