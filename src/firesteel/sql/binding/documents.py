"""Functions of JSON with their words: to operands as `firesteel.relational.functions.documents` has them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from firesteel.common.logical_types import STRING, LogicalType, NullType
from firesteel.relational.expressions import Expression, Literal
from firesteel.relational.functions import symbol
from firesteel.sql import nodes
from firesteel.sql.binding.functions import called
from firesteel.sql.binding.types import type_of

if TYPE_CHECKING:
    from firesteel.sql.binding.expressions import Expressions

_DEFAULT: Final = "DEFAULT ?"
_CLAUSE: Final = re.compile(
    r"(NULL|ERROR|EMPTY ARRAY|EMPTY OBJECT|TRUE|FALSE|UNKNOWN|DEFAULT \?) ON (EMPTY|ERROR)"
)
_NOTHING: Final = Literal(NullType(), None)


def is_document_call(name: str) -> bool:
    """Return whether a call with words is one of JSON that is no aggregate."""
    return name in _CALLS


def document_call(binder: Expressions, node: nodes.SpecialCall) -> Expression:
    """Return the call of a function of JSON; raises SqlValidationError for operands that it does not take."""
    name = str(node.this)
    operands, places = _CALLS[name](binder, node)
    return called(name, operands, node, binder.context.text, places)


_Bound = tuple[list[Expression], list[exp.Expr]]
_Call = Callable[["Expressions", nodes.SpecialCall], _Bound]


def _exists(binder: Expressions, node: nodes.SpecialCall) -> _Bound:
    given, _, clauses, _ = _parts(binder, node)
    return [*given, symbol(clauses.get("ERROR", "FALSE"))], node.expressions


def _value(binder: Expressions, node: nodes.SpecialCall) -> _Bound:
    given, returned, clauses, defaults = _parts(binder, node)
    operands = [*given, Literal(returned, None)]
    for kind in ("EMPTY", "ERROR"):
        clause = clauses.get(kind, "NULL")
        operands += [symbol(clause.removesuffix(" ?")), defaults.get(kind, _NOTHING)]
    return operands, node.expressions[:2]


def _query(binder: Expressions, node: nodes.SpecialCall) -> _Bound:
    given, returned, clauses, _ = _parts(binder, node)
    tail = str(node.args.get("tail") or "")
    wrapper = "NONE"
    if "WITH " in tail:
        wrapper = "OTHER" if "WITH CONDITIONAL" in tail else "ALL"
    behaviours = [symbol(clauses.get(kind, "NULL")) for kind in ("EMPTY", "ERROR")]
    return [*given, Literal(returned, None), symbol(wrapper), *behaviours], node.expressions[:2]


def _written(default: str) -> _Call:
    def bind(binder: Expressions, node: nodes.SpecialCall) -> _Bound:
        operands = [binder.bind(argument) for argument in node.expressions]
        return [symbol(node.args.get("tail") or default), *operands], [node, *node.expressions]

    return bind


def _parts(
    binder: Expressions, node: nodes.SpecialCall
) -> tuple[list[Expression], LogicalType, dict[str, str], dict[str, Expression]]:
    """Return document and path, the type of RETURNING, what is given for nothing and for an error, and defaults."""
    given: list[Expression] = []
    defaults: list[Expression] = []
    returned: LogicalType = STRING
    text = ""
    for word, argument in zip(node.args["words"], node.expressions, strict=True):
        if word == "RETURNING":
            returned = type_of(argument, binder.context.text).copy(nullable=True)
        elif word.endswith("DEFAULT"):
            defaults.append(binder.bind(argument))
            text += f" {word} ?"
        else:
            given.append(binder.bind(argument))
    clauses = {kind: what for what, kind in _CLAUSE.findall(f"{text} {node.args.get('tail') or ''}")}
    with_default = [kind for kind, what in clauses.items() if what == _DEFAULT]
    return given, returned, clauses, dict(zip(with_default, defaults, strict=True))


_CALLS: Final[dict[str, _Call]] = {
    "JSON_EXISTS": _exists,
    "JSON_VALUE": _value,
    "JSON_QUERY": _query,
    "JSON_OBJECT": _written("NULL ON NULL"),
    "JSON_ARRAY": _written("ABSENT ON NULL"),
}
