"""Calls of functions of your own: scalar ones in expressions, table functions in FROM."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from firesteel.common.errors import ProgramError, SqlError
from firesteel.common.logical_types import LogicalType
from firesteel.common.logical_types.casts import supports_implicit_cast
from firesteel.common.suggestions import did_you_mean
from firesteel.functions.columns.python_functions import (
    CalledFunction,
    PythonAggregate,
    PythonProcessTable,
    PythonTableAggregate,
    PythonTableFunction,
    UserFunction,
)
from firesteel.relational.expressions import Expression, Literal, UserCall
from firesteel.relational.functions import cast
from firesteel.sql import nodes
from firesteel.sql.binding.context import Context
from firesteel.sql.binding.functions import materialized


def user_function(node: nodes.Call, context: Context, *, built_in: bool) -> UserFunction | None:
    """Return the user's function that a call names or is given; None if it names none.

    Raises SqlError if a statement has named one that cannot be imported.
    """
    given: UserFunction | None = node.args.get("given")
    if given is not None:
        return given
    try:
        return context.function([part.name for part in node.args["names"]], built_in=built_in)
    except SqlError:
        raise
    except ProgramError as error:
        raise context.text.located(node, error) from error


def scalar_call(
    function: UserFunction, node: nodes.Call, arguments: Sequence[Expression], context: Context
) -> Expression:
    """Return the value of a function. Raises SqlValidationError for a table function, and for wrong arguments."""
    if isinstance(function, PythonTableFunction):
        raise context.text.wrong(
            node,
            "requires a function with one value",
            got=f"the table function {function.name}",
            hint=f"write it into FROM: LATERAL TABLE({node.function}(...))",
        )
    if isinstance(function, PythonAggregate):
        raise context.text.wrong(
            node, "requires a function with one value", got=f"the aggregate function {function.name}"
        )
    if isinstance(function, PythonTableAggregate):
        raise context.text.wrong(
            node,
            "requires a function with one value",
            got=f"the table aggregate function {function.name}",
            hint="call it in flat_aggregate(...) of the Table API; SQL has no functions of this kind",
        )
    if isinstance(function, PythonProcessTable):
        raise context.text.wrong(
            node,
            "requires a function with one value",
            got=f"the process table function {function.name}",
            hint=f"write it into FROM: {node.function}(TABLE t PARTITION BY k)",
        )
    found = fitting(function, node, arguments, context)
    return UserCall(function.result, function, tuple(found))


def table_function(node: nodes.Call, context: Context) -> PythonTableFunction:
    """Return the table function that a call in FROM names. Raises SqlValidationError if it names none."""
    name = node.function
    found = user_function(node, context, built_in=False)
    if isinstance(found, PythonTableFunction):
        return found
    got = f"{name}, which does not exist" if found is None else f"{name}, which has one value"
    close = did_you_mean(name.rpartition(".")[2], context.function_names()) if found is None else None
    hint = close or "create_temporary_function(...) gives one its name"
    raise context.text.wrong(node, "requires a table function", got=got, hint=hint)


def fitting(
    function: CalledFunction, node: nodes.Call, arguments: Sequence[Expression], context: Context
) -> list[Expression]:
    """Return arguments with the types that a function takes.

    Raises SqlValidationError if there are more or fewer, or if one has a type that is not cast to what is taken.
    """
    values = [materialized(argument) for argument in arguments]
    if function.takes is None:
        return values
    shown = f"{function.name}({', '.join(str(kind.copy(True)) for kind in function.takes)})"
    if len(values) != len(function.takes):
        given = ", ".join(str(value.type) for value in values)
        raise context.text.wrong(
            node, f"requires arguments as in {shown}", got=f"{len(values)} arguments ({given})"
        )
    return [
        _as(value, kind, place, shown, context)
        for value, kind, place in zip(values, function.takes, node.expressions, strict=True)
    ]


def _as(value: Expression, kind: LogicalType, place: exp.Expr, shown: str, context: Context) -> Expression:
    is_null = isinstance(value, Literal) and value.value is None
    if not is_null and not supports_implicit_cast(value.type, kind):
        raise context.text.wrong(
            place,
            f"requires arguments as in {shown}",
            got=str(value.type),
            hint="write a CAST where the types differ",
        )
    return cast(value, kind)
