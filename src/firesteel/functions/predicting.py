"""Models as functions over columns: how a query asks them, and errors that name the model and the row."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa

from firesteel.common.errors import ConfigurationError, ProgramError
from firesteel.common.importing import import_module
from firesteel.common.logical_types import Field, LogicalType, RowType
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.python_functions import AsyncCalls, PythonFunction
from firesteel.functions.models import AsyncPredictFunction, PredictFunction
from firesteel.functions.user_defined import FunctionContext, ScalarFunction

PROVIDER: Final = "provider"
FUNCTION: Final = "function"
_PYTHON: Final = "python"


@dataclass(frozen=True)
class Model:
    """A model as a query sees it: its name, the columns that it takes and gives, and the options of WITH."""

    name: str
    inputs: tuple[Field, ...]
    outputs: tuple[Field, ...]
    options: Mapping[str, str] = field(default_factory=dict)

    def function(self, calls: AsyncCalls, *, awaited: bool | None) -> PythonFunction:
        """Return the function that a query calls; its result is a row of the columns that the model gives.

        `awaited` is whether it must be asynchronous (None: as it is). Raises ConfigurationError for a model that cannot
        be found.
        """
        kind = self._imported()
        asynchronous = issubclass(kind, AsyncPredictFunction)
        if awaited is not None and awaited is not asynchronous:
            wanted, got = ("AsyncPredictFunction", "PredictFunction")[:: 1 if awaited else -1]
            raise ConfigurationError(
                f"requires a subclass of {wanted} with 'async' = '{str(awaited).lower()}'",
                who=self._who,
                got=got,
            )
        row = RowType(self.outputs, nullable=False)
        takes: tuple[LogicalType, ...] = tuple(one.type for one in self.inputs)
        body = Predictions(self, kind, calls)
        return PythonFunction(self.name, body, takes, row, form="arrow", inserts_only=True)

    @property
    def _who(self) -> str:
        return f"model {self.name}"

    def _imported(self) -> type[PredictFunction | AsyncPredictFunction]:
        provider = self.options.get(PROVIDER)
        if provider != _PYTHON:
            raise ConfigurationError(
                "requires the option 'provider'",
                who=self._who,
                got="none" if provider is None else repr(provider),
                hint=f"the only one is {_PYTHON!r}, with '{FUNCTION}' = 'module:attribute'",
            )
        target = self.options.get(FUNCTION, "")
        module, _, name = target.partition(":")
        try:
            found = getattr(import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            raise ConfigurationError(
                f"requires the option '{FUNCTION}' with 'module:attribute' of a class that can be imported",
                who=self._who,
                got=f"{target!r}: {error}",
                hint="the module must be on the path of the program and of its workers, e.g. by --py-files",
            ) from error
        if inspect.isclass(found) and issubclass(found, PredictFunction | AsyncPredictFunction):
            return found
        raise ConfigurationError(
            f"requires the option '{FUNCTION}' with a subclass of PredictFunction or AsyncPredictFunction",
            who=self._who,
            got=f"{target!r}, {found!r}",
        )


class Predictions(ScalarFunction):
    """Asks a model for the rows of a batch."""

    def __init__(
        self, model: Model, kind: type[PredictFunction | AsyncPredictFunction], calls: AsyncCalls
    ) -> None:
        self.model = model
        self._kind = kind
        self.calls = calls

    def open(self, function_context: FunctionContext) -> None:
        """Make the model and load it."""
        hidden = (PROVIDER, FUNCTION)
        options = {key: value for key, value in self.model.options.items() if key not in hidden}
        self._asked = self._kind(options)
        self._asked.open(function_context)
        self._runner = asyncio.Runner() if isinstance(self._asked, AsyncPredictFunction) else None
        self._schema = to_arrow_schema(RowType(self.model.outputs, nullable=False))

    def close(self) -> None:
        """Close the model."""
        if self._runner is not None:
            self._runner.close()
        self._asked.close()

    def eval(self, *columns: pa.Array) -> pa.Array:
        """Return what the model says, as rows."""
        features = pa.RecordBatch.from_arrays(list(columns), names=[one.name for one in self.model.inputs])
        if isinstance(self._asked, PredictFunction):
            found = self._predicted(self._asked, features)
        else:
            found = self._awaited(self._asked, features)
        return pa.StructArray.from_arrays(found, fields=[*self._schema])

    def _predicted(self, asked: PredictFunction, features: pa.RecordBatch) -> list[pa.Array]:
        try:
            result = asked.predict(features)
        except Exception as error:
            raise self._failed(error, self._culprit(asked, features)) from error
        return self._columns(result, features.num_rows)

    def _culprit(self, asked: PredictFunction, features: pa.RecordBatch) -> pa.RecordBatch:
        """Return the first row that the model fails for alone; all of them if there is none."""
        for place in range(features.num_rows):
            row = features.slice(place, 1)
            try:
                asked.predict(row)
            except Exception:  # it is the one; the first error is the one to show
                return row
        return features

    def _awaited(self, asked: AsyncPredictFunction, features: pa.RecordBatch) -> list[pa.Array]:
        assert self._runner is not None
        rows = list(zip(*(column.to_pylist() for column in features.columns), strict=True))
        found = self._runner.run(self._every(asked, rows, features))
        return self._columns(dict(zip(self._schema.names, zip(*found, strict=True), strict=True)), len(rows))

    async def _every(
        self, asked: AsyncPredictFunction, rows: Sequence[Sequence[Any]], features: pa.RecordBatch
    ) -> list[Sequence[Any]]:
        free = asyncio.Semaphore(self.calls.most)

        async def one(place: int) -> Sequence[Any]:
            async with free:
                try:
                    async with asyncio.timeout(self.calls.timeout / 1000):
                        return await asked.predict(*rows[place])
                except Exception as error:
                    raise self._failed(error, features.slice(place, 1)) from error

        tasks = [asyncio.ensure_future(one(place)) for place in range(len(rows))]
        try:
            return list(await asyncio.gather(*tasks))
        finally:
            for task in tasks:
                task.cancel()

    def _columns(self, result: Any, count: int) -> list[pa.Array]:
        """Return the columns of OUTPUT of what a model returned."""
        names = self._schema.names
        try:
            given = _by_name(result, names)
            columns = [_array(given[field.name], field.type) for field in self._schema]
        except (KeyError, TypeError, ValueError, pa.ArrowException) as error:
            raise self._misfit(f"{type(error).__name__}: {error}") from error
        lengths = {len(column) for column in columns}
        if lengths != {count}:
            raise self._misfit(f"{' and '.join(map(str, sorted(lengths)))} values for {count} rows")
        return columns

    def _misfit(self, got: str) -> ProgramError:
        wanted = ", ".join(f"{one.name} {one.type}" for one in self.model.outputs)
        return ProgramError(
            f"requires a value for each row of {wanted}", who=f"model {self.model.name}", got=got
        )

    def _failed(self, error: Exception, rows: pa.RecordBatch) -> ProgramError:
        (first, *more) = rows.to_pylist()
        shown = ", ".join(f"{name}={value!r}" for name, value in first.items())
        what = f"{type(error).__name__}: {error}".rstrip(": ")
        return ProgramError(
            "cannot predict", who=f"model {self.model.name}", got=f"{what}, for the row ({shown})"
            + (f" and {len(more)} after it" if more else ""),
        )  # fmt: skip


def _by_name(result: Any, names: Sequence[str]) -> Mapping[str, Any]:
    """Return the columns of a result by their names.

    >>> _by_name([1, 2], ["n"])
    {'n': [1, 2]}
    """
    if isinstance(result, pa.RecordBatch | pa.Table):
        return {name: result.column(name) for name in result.schema.names}
    if isinstance(result, Mapping) or hasattr(result, "columns"):
        return {name: result[name] for name in names}
    if len(names) > 1:
        raise TypeError(f"a {type(result).__name__}, which has no columns by name")
    return {names[0]: result}


def _array(values: Any, kind: pa.DataType) -> pa.Array:
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if isinstance(values, tuple):
        values = list(values)
    array = values if isinstance(values, pa.Array) else pa.array(values)
    return array if array.type == kind else array.cast(kind)
