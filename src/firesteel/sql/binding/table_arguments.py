"""The arguments of table functions: by name or by place, tables, columns."""

from __future__ import annotations

from typing import NamedTuple

from sqlglot import exp

from firesteel.common.suggestions import suggestion
from firesteel.relational.logical.nodes import LogicalNode
from firesteel.sql import nodes
from firesteel.sql.binding.context import Context

Arguments = dict[str, exp.Expr]


class Signature(NamedTuple):
    """The names of a function's arguments, in their order: those that are needed, and those that are not.

    Those of `defaulted` are among the first, and not needed either.
    """

    name: str
    needed: tuple[str, ...]
    optional: tuple[str, ...] = ()
    defaulted: frozenset[str] = frozenset()


def named_arguments(call: nodes.Call, signature: Signature, context: Context) -> Arguments:
    """Return the arguments of a call by name. Raises SqlValidationError for unknown and missing ones."""
    name, needed, optional, defaulted = signature
    known, text = (*needed, *optional), context.text
    found: Arguments = {}
    shown = f"{name}({', '.join(needed)}{''.join(f' [, {key}]' for key in optional)})"
    for place, argument in enumerate(call.expressions):
        if isinstance(argument, nodes.NamedArgument):
            key, value = argument.this.name.upper(), argument.expression
        elif place < len(known):
            key, value = known[place], argument
        else:
            raise text.wrong(argument, f"requires the arguments of {shown}")
        if key not in known or key in found:
            hint = suggestion(key, known)
            raise text.wrong(argument, f"requires each argument of {shown} once", got=key, hint=hint)
        found[key] = value
    missing = [key for key in needed if key not in found and key not in defaulted]
    if missing:
        raise text.wrong(call, f"requires the arguments of {shown}", got=f"no {', '.join(missing)}")
    return found


def table_argument(argument: exp.Expr, name: str, context: Context) -> exp.Expr:
    """Return the table that an argument is. Raises SqlValidationError for anything else."""
    inner = argument.this if isinstance(argument, nodes.TableArgument) else argument
    if isinstance(inner, exp.Table | exp.Subquery | exp.Query):
        return inner
    raise context.text.wrong(
        argument,
        f"requires a table as {name}",
        got=argument.sql(),
        hint="write TABLE before the table's name",
    )


def partition_keys(argument: exp.Expr) -> list[exp.Expr]:
    """Return what a table argument is partitioned by."""
    return argument.args.get("partition_by") or [] if isinstance(argument, nodes.TableArgument) else []


def order_keys(argument: exp.Expr) -> list[exp.Expr]:
    """Return what a table argument is ordered by."""
    order = argument.args.get("order") if isinstance(argument, nodes.TableArgument) else None
    return order.expressions if order is not None else []


def unordered_keys(argument: exp.Expr, context: Context) -> list[exp.Expr]:
    """Return what a table argument is partitioned by. Raises SqlUnsupportedError for ORDER BY."""
    if order_keys(argument):
        raise context.text.unsupported(argument.args["order"], "ORDER BY of the table of a built-in function")
    return partition_keys(argument)


def column_argument(node: exp.Expr, plan: LogicalNode, context: Context) -> int:
    """Return the place of the column that is named. Raises SqlValidationError if there is none."""
    names = plan.row.field_names
    name = column_name(node, context)
    if name not in names:
        raise context.text.wrong(
            node, "requires the name of a column", got=name, hint=suggestion(name, names)
        )
    return names.index(name)


def column_name(node: exp.Expr, context: Context) -> str:
    """Return the name that stands here. Raises SqlValidationError for anything else."""
    plain = (
        isinstance(node, exp.Column) and isinstance(node.this, exp.Identifier) and not node.args.get("table")
    )
    if not plain:
        raise context.text.wrong(node, "requires the name of a column")
    return str(node.name)


def described(node: exp.Expr, name: str, context: Context) -> exp.Expr:
    """Return the one column that a DESCRIPTOR names. Raises SqlValidationError for anything else."""
    columns = described_columns(node, name, context)
    if len(columns) != 1:
        raise context.text.wrong(node, f"requires DESCRIPTOR with the name of one column as {name}")
    return columns[0]


def described_columns(node: exp.Expr, name: str, context: Context) -> list[exp.Expr]:
    """Return the columns that a DESCRIPTOR names, at least one. Raises SqlValidationError for anything else."""
    if not isinstance(node, nodes.Call) or node.function.upper() != "DESCRIPTOR" or not node.expressions:
        raise context.text.wrong(node, f"requires DESCRIPTOR with the name of one column as {name}")
    return [*node.expressions]


def constant_pairs(node: exp.Expr, name: str, context: Context) -> list[tuple[str, str, exp.Expr, exp.Expr]]:
    """Return the pairs of a map of constant texts, with their places. Raises SqlValidationError for anything else."""
    items = node.expressions if isinstance(node, nodes.Constructor) and node.this == "MAP" else []
    texts = [text for item in items if (text := _constant_text(item)) is not None]
    if not items or len(items) % 2 or len(texts) < len(items):
        raise context.text.wrong(node, f"requires a MAP[...] of constant texts as {name}")
    return [*zip(texts[::2], texts[1::2], items[::2], items[1::2], strict=True)]


def _constant_text(node: exp.Expr) -> str | None:
    if isinstance(node, nodes.Constant):
        value = node.args.get("value")
        return value if isinstance(value, str) else None
    return str(node.name) if isinstance(node, exp.Literal) and node.is_string else None
