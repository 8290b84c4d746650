"""Syntax that Flink has and sqlglot has no node for, or has one that loses what is written.

Everything else of a query is sqlglot's own node (`Select`, `Join`, `Column`, `Binary`, ...). A node's `meta` has
`start` and `end`, offsets into the whole text, see `span`.
"""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp

from firesteel.common.places import Source, Span


def span(node: exp.Expr, source: Source) -> Span:
    """Return where a node stands in the text that it was parsed from."""
    return source.span(node.meta["start"], node.meta["end"])


class _Node(exp.Expression):
    _hash_raw_args = True


class Call(_Node, exp.Condition):
    """A function call: `names` is the function's name, a list of identifiers.

    `quantifier` is DISTINCT or ALL. `bare` is true for a function without parentheses (CURRENT_DATE). A `*` among
    the arguments is a `Star`, a named one a `NamedArgument`. `given` is the function itself, where a program names it
    without a catalog.
    """

    arg_types: ClassVar = {
        "names": True,
        "expressions": False,
        "quantifier": False,
        "bare": False,
        "given": False,
    }

    @property
    def function(self) -> str:
        """The name, its parts joined by dots, as it is written."""
        return ".".join(part.name for part in self.args["names"])


class SpecialCall(_Node, exp.Condition):
    """A call whose arguments are separated by words: ``TRIM(BOTH 'x' FROM a)``.

    `this` is the function in upper case; `words` has a word or an empty text before each argument, and `tail` what
    follows the last one. The arguments are in the order they are written in. An argument with a word of its own and
    no value (``BOTH`` in ``TRIM(BOTH FROM a)``) is part of the word before the next one.
    """

    arg_types: ClassVar = {"this": True, "words": True, "expressions": False, "tail": False}


class NamedArgument(_Node):
    """An argument by name: ``size => INTERVAL '1' DAY``."""

    arg_types: ClassVar = {"this": True, "expression": True}


class DefaultArgument(_Node):
    """The word DEFAULT as an argument."""

    arg_types: ClassVar = {}


class TableArgument(_Node):
    """A table as an argument: `this` is a `Table` (``TABLE t``) or a `Subquery`."""

    arg_types: ClassVar = {"this": True, "partition_by": False, "order": False}


class ModelArgument(_Node):
    """A model as an argument: ``MODEL m``."""

    arg_types: ClassVar = {"this": True}


class TableFunction(_Node):
    """A table function in FROM: `this` is a `Call`; `table` is true if it is written ``TABLE(...)``.

    `epoch` is the number in ``AS OF EPOCH``.
    """

    arg_types: ClassVar = {
        "this": True,
        "table": False,
        "lateral": False,
        "epoch": False,
        "alias": False,
        "joins": False,
    }


class UnnestTable(_Node):
    """``[LATERAL] UNNEST(...) [WITH ORDINALITY]`` in FROM."""

    arg_types: ClassVar = {
        "expressions": True,
        "ordinality": False,
        "lateral": False,
        "alias": False,
        "joins": False,
    }


class LateralQuery(_Node):
    """``LATERAL (SELECT ...)`` in FROM."""

    arg_types: ClassVar = {"this": True, "alias": False, "joins": False}


class TypedLiteral(_Node, exp.Condition):
    """A literal with its type: `kind` is DATE, TIME or TIMESTAMP, `this` the text."""

    arg_types: ClassVar = {"this": True, "kind": True}


class IntervalLiteral(_Node, exp.Condition):
    """``INTERVAL [-] '1 10' DAY(2) TO HOUR``: `this` is the text, units are in the singular and in upper case."""

    arg_types: ClassVar = {
        "this": True,
        "negative": False,
        "unit": True,
        "precision": False,
        "end_unit": False,
        "end_precision": False,
    }


class TimeDifference(_Node, exp.Condition):
    """``(a - b) DAY TO SECOND``: the interval from one time to another; `this` is the `Sub`, units as of intervals."""

    arg_types: ClassVar = {
        "this": True,
        "unit": True,
        "precision": False,
        "end_unit": False,
        "end_precision": False,
    }


class Constant(_Node, exp.Condition):
    """A constant that a program gives: `value` is as in `firesteel.relational.expressions.Literal`, `kind` its type.

    `Constant`, `KnownType`, `Plus` and `FieldAt` are of the Table API; the parser makes none.
    """

    arg_types: ClassVar = {"value": False, "kind": True}


class KnownType(_Node):
    """A data type that a program gives: `kind` is a logical type."""

    arg_types: ClassVar = {"kind": True}


class Plus(_Node, exp.Condition):
    """A sum, or one text after another, as the Table API's plus is."""

    arg_types: ClassVar = {"this": True, "expression": True}


class FieldAt(_Node, exp.Condition):
    """The field of a row at a place, from 0."""

    arg_types: ClassVar = {"this": True, "place": True}


class Unknown(_Node, exp.Condition):
    """The literal UNKNOWN: a BOOLEAN that is NULL."""

    arg_types: ClassVar = {}


class IsKind(_Node, exp.Condition):
    """A test after IS that is neither of NULL nor of a truth value: `kind` is for example JSON OBJECT."""

    arg_types: ClassVar = {"this": True, "kind": True, "negated": False}


class Constructor(_Node, exp.Condition):
    """``ARRAY[...]``, ``MAP[...]`` (keys and values in turn) or ``MULTISET[...]``.

    With `query`, ``ARRAY(SELECT ...)``.
    """

    arg_types: ClassVar = {"this": True, "expressions": False, "query": False}


class Measured(_Node, exp.Condition):
    """``RUNNING f(...)`` or ``FINAL f(...)`` among the measures of MATCH_RECOGNIZE."""

    arg_types: ClassVar = {"this": True, "kind": True}


class NullTreatment(_Node, exp.Condition):
    """``f(...) IGNORE NULLS`` or ``f(...) RESPECT NULLS``."""

    arg_types: ClassVar = {"this": True, "kind": True}


class TypeName(_Node):
    """A data type as it is written: `this` is its name in upper case.

    `parameters` are numbers (precision, scale, length), `arguments` strings (RAW, STRUCTURED), `elements` types (of
    ARRAY, MAP, MULTISET), `fields` the `TypeField`s of ROW or STRUCTURED. `nullable` is None where nothing is
    written.
    """

    arg_types: ClassVar = {
        "this": True,
        "parameters": False,
        "arguments": False,
        "elements": False,
        "fields": False,
        "nullable": False,
    }


class TypeField(_Node):
    """A field of a ROW or of a STRUCTURED type."""

    arg_types: ClassVar = {"this": True, "kind": True, "comment": False}


class HintCall(_Node):
    """One hint: ``STATE_TTL('o' = '1d')``; `expressions` are identifiers, literals or `HintOption`s."""

    arg_types: ClassVar = {"this": True, "expressions": False, "parentheses": False}


class HintOption(_Node):
    """A key and its value within a hint."""

    arg_types: ClassVar = {"this": True, "expression": True}


class RowPattern(_Node):
    """``table MATCH_RECOGNIZE (...)``; `measures` and `define` are `Alias`es, `within` is an interval."""

    arg_types: ClassVar = {
        "this": True,
        "partition_by": False,
        "order": False,
        "measures": False,
        "rows": False,
        "timed_out": False,
        "after": False,
        "pattern": True,
        "anchored_start": False,
        "anchored_end": False,
        "within": False,
        "subsets": False,
        "define": True,
        "alias": False,
        "joins": False,
    }


class PatternSubset(_Node):
    """``SUBSET name = (A, B)``."""

    arg_types: ClassVar = {"this": True, "expressions": True}


class PatternSequence(_Node):
    """Patterns after each other."""

    arg_types: ClassVar = {"expressions": True}


class PatternChoice(_Node):
    """Patterns of which one has to match."""

    arg_types: ClassVar = {"expressions": True}


class PatternPermutation(_Node):
    """Patterns in any order."""

    arg_types: ClassVar = {"expressions": True}


class PatternExclusion(_Node):
    """``{- pattern -}``: matched, but not part of the output."""

    arg_types: ClassVar = {"this": True}


class PatternGroup(_Node):
    """A pattern in parentheses."""

    arg_types: ClassVar = {"this": True}


class PatternRepeat(_Node):
    """A pattern with a quantifier: from `low` to `high` times (None: any number).

    `reluctant` if ``?`` follows.
    """

    arg_types: ClassVar = {"this": True, "low": False, "high": False, "reluctant": False}
