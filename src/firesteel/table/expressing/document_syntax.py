"""Functions of JSON, with the words that SQL has between their arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from sqlglot import exp

from firesteel.sql import nodes
from firesteel.table.expressing.tree import Kind, Tree, Value, Word

_Node = Callable[[Tree], exp.Expr]

_WRAPPERS: Final = {
    "WITHOUT_ARRAY": "WITHOUT WRAPPER",
    "CONDITIONAL_ARRAY": "WITH CONDITIONAL WRAPPER",
    "UNCONDITIONAL_ARRAY": "WITH UNCONDITIONAL WRAPPER",
}
_AGGREGATES: Final = ("JSON_OBJECTAGG", "JSON_ARRAYAGG")


def is_document_call(name: str) -> bool:
    """Return whether a function is one of JSON that SQL writes with words."""
    return name in _CALLS or name.startswith(_AGGREGATES)


def document_call(name: str, arguments: Sequence[Tree], node: _Node) -> exp.Expr:
    """Return the syntax of such a function; `node` makes that of its arguments."""
    if name.startswith(_AGGREGATES):
        return _aggregate(name, arguments, node)
    return _CALLS[name](arguments, node)


def _special(name: str, words: Sequence[str], values: Sequence[exp.Expr], tail: str = "") -> exp.Expr:
    return nodes.SpecialCall(this=name, words=list(words), expressions=list(values), tail=tail or None)


def _aggregate(name: str, arguments: Sequence[Tree], node: _Node) -> exp.Expr:
    function = next(known for known in _AGGREGATES if name.startswith(known))
    words = ("KEY", "VALUE") if function == "JSON_OBJECTAGG" else ("",)
    tail = name.removeprefix(f"{function}_").replace("_", " ")
    return _special(function, words, [node(argument) for argument in arguments], tail)


def _is_json(arguments: Sequence[Tree], node: _Node) -> exp.Expr:
    kind = f"JSON {_word(arguments[1])}" if len(arguments) > 1 else "JSON"
    return nodes.IsKind(this=node(arguments[0]), kind=kind, negated=False)


def _exists(arguments: Sequence[Tree], node: _Node) -> exp.Expr:
    tail = f"{_word(arguments[2])} ON ERROR" if len(arguments) > 2 else ""
    return _special("JSON_EXISTS", ("", ","), [node(argument) for argument in arguments[:2]], tail)


def _value(arguments: Sequence[Tree], node: _Node) -> exp.Expr:
    document, path, kind, *behaviours = arguments
    words, values = ["", ",", "RETURNING"], [node(document), node(path), _type(kind)]
    tail = ""
    for what, default, when in zip(behaviours[::2], behaviours[1::2], ("EMPTY", "ERROR"), strict=True):
        if _word(what) == "DEFAULT":
            words.append(f"{tail} DEFAULT".strip())
            values.append(node(default))
            tail = f"ON {when}"
        else:
            tail = f"{tail} {_word(what)} ON {when}".strip()
    return _special("JSON_VALUE", words, values, tail)


def _query(arguments: Sequence[Tree], node: _Node) -> exp.Expr:
    document, path, kind, wrapper, on_empty, on_error = arguments
    clauses = [
        f"{_word(what).replace('_', ' ')} ON {when}"
        for what, when in ((on_empty, "EMPTY"), (on_error, "ERROR"))
    ]
    tail = " ".join((_WRAPPERS[_word(wrapper)], *clauses))
    return _special("JSON_QUERY", ("", ",", "RETURNING"), [node(document), node(path), _type(kind)], tail)


def _object(arguments: Sequence[Tree], node: _Node) -> exp.Expr:
    on_null, *pairs = arguments
    words = ["KEY" if place == 0 else ", KEY" if place % 2 == 0 else "VALUE" for place in range(len(pairs))]
    return _special("JSON_OBJECT", words, [node(part) for part in pairs], f"{_word(on_null)} ON NULL")


def _array(arguments: Sequence[Tree], node: _Node) -> exp.Expr:
    on_null, *parts = arguments
    words = ["," if place else "" for place in range(len(parts))]
    return _special("JSON_ARRAY", words, [node(part) for part in parts], f"{_word(on_null)} ON NULL")


def _word(tree: Tree) -> str:
    return tree.word if isinstance(tree, Word) else str(tree.value if isinstance(tree, Value) else tree)


def _type(tree: Tree) -> exp.Expr:
    assert isinstance(tree, Kind)
    return nodes.KnownType(kind=tree.type)


_CALLS: Final[dict[str, Callable[[Sequence[Tree], _Node], exp.Expr]]] = {
    "IS_JSON": _is_json,
    "JSON_EXISTS": _exists,
    "JSON_VALUE": _value,
    "JSON_QUERY": _query,
    "JSON_OBJECT": _object,
    "JSON_ARRAY": _array,
}
