"""The connector 'python': a table whose rows a function of Python finds by keys."""

from __future__ import annotations

import asyncio
import datetime as dt
import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from firesteel.common.errors import ConfigurationError, ConnectorError, ProgramError, TypeMismatchError
from firesteel.common.importing import import_module
from firesteel.common.logical_types import RowType
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.common.logical_types.columns import to_column
from firesteel.common.logical_types.python_values import from_column
from firesteel.common.types import Row
from firesteel.connectors.tables.lookup_options import OF_CACHE, lookup_cache
from firesteel.connectors.tables.options import Options, choice, text
from firesteel.functions.columns.connectors import TableConnector, TableRequest
from firesteel.functions.columns.lookups import LookedUp, LookupCalls, LookupTable, TableLookup
from firesteel.state.arrangements.matching import Hashed

_FUNCTION: Final = text("function", "The function, which may be an `async def`.", "module.name").needed()
_TAKES: Final = choice(
    "function.takes",
    *("key", "keys", "arrow"),
    about="What the function is called with: the values of one key, a list of keys, or an Arrow batch of keys.",
).by_default("key")
Key = tuple[Any, ...]


class PythonConnector(TableConnector):
    """Looks rows up with the function that the option `function` names, as 'module.name'; also an `async def`.

    `function.takes` says how it is called. 'key' (the default): with the values of one key, in the order in which the
    table has these columns; it returns a row, a list of rows, or None. 'keys': with a list of keys, each a tuple of
    such values; it returns a list with what 'key' returns for each. 'arrow': with an Arrow batch of the keys; it
    returns an Arrow batch or table of rows, in any order, with all columns of the table. A row is a dict or a Row with
    the table's columns by name, or a tuple of all of them. If the table has a primary key, a join must have equalities
    for it and for no other columns. `lookup.cache` and its options say what is kept. A coroutine function is called for
    up to `capacity` keys at once, which, with `timeout`, is said by the hint LOOKUP.
    """

    name = "python"
    options = (_FUNCTION, _TAKES, *OF_CACHE)

    def lookup(self, table: TableRequest, keys: tuple[str, ...], calls: LookupCalls) -> LookupTable:
        """Return the lookup by these columns."""
        options = Options(table.options, table.who, self.name)
        function = _imported(options.get(_FUNCTION), table.who)
        form = options.get(_TAKES)
        cache = lookup_cache(options, table.zone, by_key=True)
        options.finish()
        if table.primary_key is not None and {*table.primary_key} != {*keys}:
            raise ProgramError(
                f"requires equalities of its primary key ({', '.join(table.primary_key)}), and of no other column",
                who=table.who,
                got=", ".join(keys),
            )
        awaited = inspect.iscoroutinefunction(function)
        lookup = PythonLookup(function, form, table.row, keys, calls if awaited else None, table.who)
        return LookupTable(lookup, cache, asynchronous=awaited)


class PythonLookup(TableLookup):
    """Calls a function for keys; one that is awaited is called as `calls` say, for several keys at once."""

    def __init__(
        self,
        function: Callable[..., Any],
        form: str,
        row: RowType,
        keys: Sequence[str],
        calls: LookupCalls | None,
        who: str,
    ) -> None:
        self._function = function
        self._form = form
        self._row = row
        self._keys = tuple(keys)
        self._calls = calls
        self._who = who

    def open(self) -> None:
        """Make the loop in which coroutines run, the same for all calls."""
        self._runner = None if self._calls is None else asyncio.Runner()

    def close(self) -> None:
        """End the loop."""
        if self._runner is not None:
            self._runner.close()

    def look_up(self, keys: pa.RecordBatch) -> LookedUp:
        """Return what the function returns."""
        if self._form == "arrow":
            (found,) = self._called([(keys,)])
            return self._of_arrow(keys, found)
        types = {field.name: field.type for field in self._row.fields}
        columns = [
            from_column(column, types[name], dt.UTC)
            for column, name in zip(keys.columns, self._keys, strict=True)
        ]
        values: list[Key] = [*zip(*columns, strict=True)]
        if self._form == "key":
            return self._looked_up(self._called(values))
        (given,) = self._called([(values,)])
        return self._looked_up(self._one_for_each(values, given))

    def _called(self, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Return what the function returns for each of some arguments."""
        if self._runner is None:
            return [self._function(*some) for some in arguments]
        return self._runner.run(self._awaited(arguments))

    async def _awaited(self, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        assert self._calls is not None
        calls, free = self._calls, asyncio.Semaphore(self._calls.capacity)

        async def one(some: tuple[Any, ...]) -> Any:
            async with free:
                answer: Awaitable[Any] = self._function(*some)
                try:
                    async with asyncio.timeout(calls.timeout / 1000) as limit:
                        return await answer
                except TimeoutError as error:
                    if not limit.expired():
                        raise
                    raise ConnectorError(
                        f"requires an answer within {calls.timeout} ms",
                        who=self._who,
                        got=f"none for {some!r}",
                        hint="say how long a call may take by the hint LOOKUP(..., 'timeout'='10 min')",
                    ) from error

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(some)) for some in arguments]
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None  # the first one, which the others have been cancelled for
        return [task.result() for task in tasks]

    def _one_for_each(self, keys: Sequence[Key], given: Any) -> Sequence[Any]:
        if not isinstance(given, list | tuple) or len(given) != len(keys):
            shown = (
                f"{len(given)} answers" if isinstance(given, list | tuple) else f"a {type(given).__name__}"
            )
            raise self._mismatch(f"a list of {len(keys)} answers, one for each key", shown)
        return given

    def _looked_up(self, answers: Sequence[Any]) -> LookedUp:
        numbers: list[int] = []
        rows: list[tuple[Any, ...]] = []
        for number, answer in enumerate(answers):
            for row in self._rows_of(answer):
                numbers.append(number)
                rows.append(row)
        columns = zip(*rows, strict=True) if rows else ([] for _ in self._row.fields)
        arrays = [
            to_column([*values], field.type, field.name)
            for values, field in zip(columns, self._row.fields, strict=True)
        ]
        batch = pa.RecordBatch.from_arrays(arrays, schema=to_arrow_schema(self._row))
        return LookedUp(np.array(numbers, np.int64), batch)

    def _rows_of(self, answer: Any) -> Iterator[tuple[Any, ...]]:
        if answer is None:
            return
        for row in answer if isinstance(answer, list) else [answer]:
            yield self._values_of(row)

    def _values_of(self, row: Any) -> tuple[Any, ...]:
        names = self._row.field_names
        if isinstance(row, Mapping) and names_are(row, names):
            return tuple(row[name] for name in names)
        if isinstance(row, Row) and row._fields is not None:
            return tuple(row.get_fields_by_names(names))
        if isinstance(row, tuple) and len(row) == len(names):
            return row
        raise self._mismatch(f"rows with the columns {', '.join(names)}: dicts, Rows or tuples", repr(row))

    def _of_arrow(self, keys: pa.RecordBatch, found: Any) -> LookedUp:
        names = self._row.field_names
        if not isinstance(found, pa.RecordBatch | pa.Table) or {*names} - {*found.schema.names}:
            raise self._mismatch(
                f"an Arrow batch or table with the columns {', '.join(names)}", type(found).__name__
            )
        table = found if isinstance(found, pa.Table) else pa.Table.from_batches([found])
        schema = to_arrow_schema(self._row)
        try:
            (rows,) = table.select(names).cast(schema).combine_chunks().to_batches() or [schema.empty_table()]
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise self._mismatch("values of the table's types", str(error)) from error
        mine, places = Hashed.of(rows.select(self._keys)).matches(keys)
        return LookedUp(mine, rows.take(pa.array(places)))

    def _mismatch(self, requirement: str, got: str) -> TypeMismatchError:
        return TypeMismatchError(f"requires that its function returns {requirement}", who=self._who, got=got)


def names_are(row: Mapping[str, Any], names: Sequence[str]) -> bool:
    """Return whether a row has these names and no others."""
    return len(row) == len(names) and all(name in row for name in names)


def _imported(path: str, who: str) -> Callable[..., Any]:
    """Return the function of a module. Raises ConfigurationError if it cannot be imported, or is none."""
    module, _, name = path.rpartition(".")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigurationError(
            "requires 'module.name' of a function that can be imported as the option 'function'",
            who=who,
            got=f"{path!r}: {error}",
        ) from error
    if not callable(found):
        raise ConfigurationError(
            "requires a function as the option 'function'", who=who, got=f"{path!r}, a {type(found).__name__}"
        )
    checked: Callable[..., Any] = found
    return checked
