"""State as a table: ``state_of('job', 'operator', 'state') AS OF EPOCH 12`` in FROM."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from firesteel.functions.columns.connectors import TableSource
from firesteel.queryable.tables import state_source
from firesteel.relational.expressions import Literal
from firesteel.relational.tables import PhysicalColumn, ResolvedTable
from firesteel.sql import nodes
from firesteel.sql.binding.catalog import qualified
from firesteel.sql.binding.context import Context
from firesteel.sql.binding.literals import bind_literal
from firesteel.sql.binding.table_arguments import Signature, named_arguments

STATE_OF: Final = "STATE_OF"
_SIGNATURE: Final = Signature(STATE_OF, ("JOB", "OPERATOR", "STATE"))


def is_state_of(node: nodes.TableFunction) -> bool:
    """Return whether a table function is that of state."""
    return str(node.this.function).upper() == STATE_OF


def refuse_epoch(node: nodes.TableFunction, context: Context) -> None:
    """Raise SqlUnsupportedError if another function's rows are to be of an epoch."""
    if node.args.get("epoch") is not None:
        raise context.text.unsupported(node.args["epoch"], "AS OF EPOCH of anything but state_of")


def state_of(node: nodes.TableFunction, context: Context) -> ResolvedTable:
    """Return the table of a state.

    Raises SqlValidationError for arguments that are no texts, StateError for a state that there is not.
    """
    call = node.this
    arguments = named_arguments(call, _SIGNATURE, context)
    job, operator, state = (_text(arguments[name], name, context) for name in _SIGNATURE.needed)
    epoch = node.args.get("epoch")
    source = state_source(job, operator, state, None if epoch is None else _number(epoch, context))
    columns = tuple(PhysicalColumn(field.name, field.type) for field in source.row.fields)
    name = f"state_of({job}, {operator}, {state})"
    return ResolvedTable(qualified((name,), context.path), columns, source=TableSource(source))


def _text(node: exp.Expr, name: str, context: Context) -> str:
    value = bind_literal(node, context.text)
    if not isinstance(value, Literal) or not isinstance(value.value, str):
        raise context.text.wrong(node, f"requires a text as {name}", got=node.sql())
    return value.value


def _number(node: exp.Expr, context: Context) -> int:
    value = bind_literal(node, context.text)
    if not isinstance(value, Literal) or not isinstance(value.value, int):
        raise context.text.wrong(node, "requires the number of an epoch", got=node.sql())
    return value.value
