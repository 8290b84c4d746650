"""``ML_PREDICT(TABLE t, MODEL m, DESCRIPTOR(a, b) [, MAP['async', 'true']])`` in FROM.

The columns of the table, and those that a model gives for each of its rows. Source: Flink's SqlMLPredictTableFunction
and MLPredictRuntimeConfigOptions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from firesteel.common.errors import ConfigurationError, ProgramError
from firesteel.common.logical_types.casts import supports_implicit_cast
from firesteel.common.quantities import duration_ms
from firesteel.common.suggestions import suggestion
from firesteel.functions.columns.python_functions import AsyncCalls
from firesteel.functions.predicting import Model
from firesteel.relational.expressions import Expression, InputRef, UserCall
from firesteel.relational.functions import cast, field_of
from firesteel.relational.logical.joins import different_names
from firesteel.relational.logical.nodes import LogicalNode, Project
from firesteel.sql import nodes
from firesteel.sql.binding.catalog import qualified
from firesteel.sql.binding.context import Context, name_parts
from firesteel.sql.binding.functions import materialized
from firesteel.sql.binding.table_arguments import (
    Signature,
    column_argument,
    constant_pairs,
    named_arguments,
    table_argument,
)

PREDICT: Final = "ML_PREDICT"
_SIGNATURE: Final = Signature(PREDICT, ("INPUT", "MODEL", "ARGS"), ("CONFIG",))
_ASYNC: Final = "async"
_MOST: Final = "max-concurrent-operations"
_TIMEOUT: Final = "timeout"
_MODE: Final = "output-mode"
_KEYS: Final = (_ASYNC, _MOST, _MODE, _TIMEOUT)
_MODES: Final = ("ORDERED", "ALLOW_UNORDERED")
_Source = Callable[[exp.Expr, Context], tuple[LogicalNode, tuple[str, ...]]]


def bind_predict(call: nodes.Call, context: Context, source: _Source) -> LogicalNode:
    """Return the plan of ML_PREDICT; `source` makes that of its table.

    Raises SqlValidationError for wrong arguments and for a model that there is not, or that cannot be imported.
    """
    arguments = named_arguments(call, _SIGNATURE, context)
    plan = source(table_argument(arguments["INPUT"], "INPUT", context), context)[0]
    model = _model(arguments["MODEL"], context)
    features = _features(arguments["ARGS"], plan, model, context)
    config = arguments.get("CONFIG")
    try:
        awaited, calls = _config({} if config is None else _pairs(config, context))
        function = model.function(calls, awaited=awaited)
    except ConfigurationError as error:
        raise context.text.located(call if config is None else config, error) from error
    width = len(plan.row.fields)
    kept = [InputRef(field.type, place) for place, field in enumerate(plan.row.fields)]
    names = [*plan.row.field_names, *(field.name for field in model.outputs)]
    predicted = UserCall(function.result, function, tuple(features))
    below = Project(plan, (*kept, predicted), tuple(different_names([*names[:width], "$prediction"])))
    row = InputRef(function.result, width)
    given = [field_of(row, place) for place in range(len(model.outputs))]
    return Project(below, (*kept, *given), tuple(different_names(names)), place=context.text.place(call))


def _model(node: exp.Expr, context: Context) -> Model:
    if not isinstance(node, nodes.ModelArgument):
        raise context.text.wrong(
            node, "requires a model", got=node.sql(), hint="write MODEL before the model's name"
        )
    names = [part.name for part in name_parts(node.this)]
    identifier = qualified(names, context.path)
    found = context.catalog.model(identifier)
    if found is None:
        known = context.catalog.model_names(identifier.catalog, identifier.database)
        raise context.text.wrong(
            node,
            "requires the name of a model",
            got=f"{'.'.join(names)}, which does not exist",
            hint=suggestion(names[-1], known),
        )
    return found


def _features(node: exp.Expr, plan: LogicalNode, model: Model, context: Context) -> list[Expression]:
    """Return the columns that a DESCRIPTOR names, with the types that the model takes."""
    if not isinstance(node, nodes.Call) or node.function.upper() != "DESCRIPTOR":
        raise context.text.wrong(node, "requires DESCRIPTOR with the names of columns as ARGS")
    columns = node.expressions
    if len(columns) != len(model.inputs):
        wanted = ", ".join(f"{field.name} {field.type}" for field in model.inputs)
        raise context.text.wrong(
            node, f"requires a column for each input of the model: {wanted}", got=f"{len(columns)} columns"
        )
    values: list[Expression] = []
    for column, field in zip(columns, model.inputs, strict=True):
        place = column_argument(column, plan, context)
        value = materialized(InputRef(plan.row.fields[place].type, place))
        if not supports_implicit_cast(value.type, field.type):
            raise context.text.wrong(
                column,
                f"requires {field.type} for the input {field.name} of the model",
                got=f"{column.name} {value.type}",
                hint="write a query with a CAST as the table",
            )
        values.append(cast(value, field.type))
    return values


def _pairs(node: exp.Expr, context: Context) -> Mapping[str, str]:
    return {key: value for key, value, _, _ in constant_pairs(node, "config", context)}


def _config(given: Mapping[str, str]) -> tuple[bool | None, AsyncCalls]:
    """Return whether calls are to be awaited (None: as the model is), and how.

    >>> _config({"async": "true", "timeout": "5 s"})
    (True, AsyncCalls(most=10, timeout=5000, retries=3, delay=100))
    """
    for key, value in given.items():
        if key not in _KEYS:
            raise _wrong("requires a key that config has", key, suggestion(key, _KEYS))
        if key == _ASYNC and value.lower() not in ("true", "false"):
            raise _wrong(f"requires true or false for {key!r}", value)
        if key == _MODE and value.upper() not in _MODES:
            raise _wrong(f"requires one of {', '.join(_MODES)} for {key!r}", value)
        if key == _MOST and not (value.isdecimal() and int(value) > 0):
            raise _wrong(f"requires a number of at least 1 for {key!r}", value)
    calls = AsyncCalls(int(given.get(_MOST, "10")), duration_ms(_TIMEOUT, given.get(_TIMEOUT, "3 min")))
    return None if _ASYNC not in given else given[_ASYNC].lower() == "true", calls


def _wrong(requirement: str, got: str, hint: str | None = None) -> ProgramError:
    return ConfigurationError(requirement, who="config", got=repr(got), hint=hint)
