"""From a text to its parts.

The parser is imported when the first text is parsed: programs without one do not wait for it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, Final

from firesteel.cep.text.faults import Faults
from firesteel.cep.text.nodes import (
    Call,
    Duration,
    Expression,
    Group,
    Item,
    Literal,
    Name,
    Operation,
    Parameter,
    Path,
    Query,
    Single,
    Skip,
    Step,
    Suffix,
)
from firesteel.common.errors import PatternTextError
from firesteel.common.places import Span

if TYPE_CHECKING:
    from lark import Lark, Token, Tree, UnexpectedInput
    from lark.tree import Meta

_UNITS: Final = {"s": 1_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
_FEW: Final = 6

_SUFFIXES: Final = (
    "exactly", "between", "at_least", "one_or_more", "any_number", "question_mark", "optional", "greedy",
    "consecutive", "combinations", "until", "later", "apart",
)  # fmt: skip


@cache
def _parser() -> Lark:
    from lark import Lark

    grammar = FilePath(__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", start="query", propagate_positions=True, maybe_placeholders=False)


def parsed(faults: Faults) -> Query:
    """Return what the text says. Raises PatternTextError at the first part that does not belong there."""
    from lark import UnexpectedInput

    try:
        query: Query = _Reading(faults).read(_parser().parse(faults.source.text))
    except UnexpectedInput as error:
        raise _unexpected(error, faults) from None
    except RecursionError:
        raise faults.nested(faults.source.span(0, len(faults.source.text))) from None
    return query


def _unexpected(error: UnexpectedInput, faults: Faults) -> PatternTextError:
    from lark import UnexpectedCharacters, UnexpectedToken

    text = faults.source.text
    if isinstance(error, UnexpectedToken):
        token = error.token
        ends = token.type == "$END"
        start: int = len(text.rstrip()) if ends else token.start_pos or 0
        end, expected = start + (1 if ends else len(token)), set(error.expected)
        got = "the end of the text" if ends else repr(str(token))
    else:
        assert isinstance(error, UnexpectedCharacters)
        start = error.pos_in_stream or 0
        end, expected = start + 1, set(error.allowed or ())
        got = "a string without an end" if text[start] == "'" else repr(text[start])
    if expected == {"_EVERY"}:
        hint = "write every before the first step: each event that fits it begins a match"
        return faults.at(faults.source.span(start, end), "requires every", got=got, hint=hint)
    return faults.at(faults.source.span(start, end), f"requires {_choice(expected)}", got=got)


def _choice(expected: set[str]) -> str:
    known = {terminal.name: terminal.pattern for terminal in _parser().terminals}
    shown = set()
    for name in expected:
        pattern = known.get(name)
        if name == "$END":
            shown.add("the end of the text")
        elif name in _KINDS:
            shown.add(_KINDS[name])
        elif pattern is not None:
            shown.add(name.strip("_").lower() if pattern.type == "re" else f"{pattern.value!r}")
    names = sorted(shown, key=lambda each: (each.startswith("'"), each))
    if len(names) > _FEW and "a name" in names:
        # Where an expression may stand, or go on, the list of all ways is of no help.
        return "a name, a value or an expression"
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else "something else"


_KINDS: Final = {
    "NAME": "a name",
    "QUOTED": "a name",
    "WHOLE": "a number",
    "DECIMAL": "a number",
    "STRING": "a string",
    "PARAMETER": "a parameter",
    "UNIT": "a unit of time",
    "COMPARISON": "a comparison",
}


class _Reading:
    """Makes the parts, from the innermost out: a method for each rule of the grammar."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults

    def read(self, tree: Tree[Token]) -> Any:
        """Return the part that a tree stands for."""
        parts = [child if isinstance(child, str) else self.read(child) for child in tree.children]
        if tree.data in _SUFFIXES:
            return Suffix(str(tree.data), tuple(parts), self._span(tree.meta))
        return getattr(self, tree.data)(tree.meta, parts)

    def _span(self, meta: Meta) -> Span:
        return self._faults.source.span(meta.start_pos, meta.end_pos)

    # Expressions

    def name(self, meta: Meta, parts: list[Token]) -> Name:
        text = str(parts[0])
        return Name(text[1:-1].replace("``", "`") if text.startswith("`") else text, self._span(meta))

    def path(self, meta: Meta, parts: list[Name]) -> Path:
        return Path(tuple(part.text for part in parts), self._span(meta))

    def parameter(self, meta: Meta, parts: list[Token]) -> Parameter:
        return Parameter(str(parts[0])[1:], self._span(meta))

    def whole(self, meta: Meta, parts: list[Token]) -> Literal:
        return Literal(int(parts[0]), self._span(meta))

    def decimal(self, meta: Meta, parts: list[Token]) -> Literal:
        return Literal(float(parts[0]), self._span(meta))

    def string(self, meta: Meta, parts: list[Token]) -> Literal:
        return Literal(str(parts[0])[1:-1].replace("''", "'"), self._span(meta))

    def true(self, meta: Meta, parts: list[Token]) -> Literal:
        return Literal(True, self._span(meta))

    def false(self, meta: Meta, parts: list[Token]) -> Literal:
        return Literal(False, self._span(meta))

    def null(self, meta: Meta, parts: list[Token]) -> Literal:
        return Literal(None, self._span(meta))

    def call(self, meta: Meta, parts: list[Any]) -> Call:
        function, *arguments = parts
        return Call(function.text.lower(), tuple(arguments), self._span(meta))

    def operation(self, meta: Meta, parts: list[Any]) -> Operation:
        left, operator, right = parts
        symbol = operator.lower().replace("!=", "<>")
        return Operation(symbol, (left, right), self._span(meta))

    def disjunction(self, meta: Meta, parts: list[Any]) -> Operation:
        return Operation("or", tuple(parts), self._span(meta))

    def conjunction(self, meta: Meta, parts: list[Any]) -> Operation:
        return Operation("and", tuple(parts), self._span(meta))

    def equal(self, meta: Meta, parts: list[Any]) -> Operation:
        return Operation("=", tuple(parts), self._span(meta))

    def negated(self, meta: Meta, parts: list[Any]) -> Operation:
        return Operation("not", (parts[1],), self._span(meta))

    def minus(self, meta: Meta, parts: list[Any]) -> Operation:
        return Operation("minus", (parts[1],), self._span(meta))

    def is_null(self, meta: Meta, parts: list[Any]) -> Operation:
        return Operation("is null", tuple(parts), self._span(meta))

    def is_not_null(self, meta: Meta, parts: list[Any]) -> Operation:
        return Operation("not", (Operation("is null", (parts[0],), self._span(meta)),), self._span(meta))

    def is_in(self, meta: Meta, parts: list[Any]) -> Operation:
        return self._predicate("in", meta, parts)

    def is_like(self, meta: Meta, parts: list[Any]) -> Operation:
        return self._predicate("like", meta, parts)

    def is_between(self, meta: Meta, parts: list[Any]) -> Operation:
        return self._predicate("between", meta, parts)

    def _predicate(self, operator: str, meta: Meta, parts: list[Any]) -> Operation:
        operands: tuple[Expression, ...] = tuple(part for part in parts if not isinstance(part, str))
        predicate = Operation(operator, operands, self._span(meta))
        negates = any(isinstance(part, str) for part in parts)
        return Operation("not", (predicate,), predicate.span) if negates else predicate

    # Steps

    def condition(self, meta: Meta, parts: list[Expression]) -> tuple[Expression, ...]:
        return tuple(parts)

    def step(self, meta: Meta, parts: list[Any]) -> Step:
        names = [part for part in parts if isinstance(part, Name)]
        condition = next((part for part in parts if isinstance(part, tuple)), ())
        return Step(
            names[0] if len(names) > 1 else None,
            names[-1],
            condition[0] if condition else None,
            tuple(part for part in parts if isinstance(part, Suffix)),
            self._span(meta),
        )

    def group(self, meta: Meta, parts: list[Any]) -> Group:
        steps, *suffixes = parts
        return Group(steps, tuple(suffixes), self._span(meta))

    def link(self, meta: Meta, parts: list[Token]) -> str:
        kinds = [part.type for part in parts]
        if "ANY" in kinds and "NOT" in kinds:
            raise self._faults.at(self._span(meta), "requires either any or not", got="both")
        if "NOT" in kinds:
            return "not_next" if "NEXT" in kinds else "not_followed_by"
        return "next" if "NEXT" in kinds else "followed_by_any" if "ANY" in kinds else "followed_by"

    def sequence(self, meta: Meta, parts: list[Any]) -> tuple[Single, ...]:
        first, *rest = parts
        followers = zip(rest[::2], rest[1::2], strict=True)
        return (first, *(replace(single, link=link) for link, single in followers))

    def count(self, meta: Meta, parts: list[Any]) -> Literal | Parameter:
        (count,) = parts
        return count if isinstance(count, Parameter) else Literal(int(count), self._span(meta))

    # The whole

    def duration(self, meta: Meta, parts: list[Any]) -> Duration:
        if isinstance(parts[0], Parameter):
            unit = _millis(parts[1]) if len(parts) > 1 else None
            return Duration(unit, parts[0], self._span(meta))
        amounts = zip(parts[::2], parts[1::2], strict=True)
        return Duration(
            sum(float(number) * _millis(unit) for number, unit in amounts), None, self._span(meta)
        )

    def no_skip(self, meta: Meta, parts: list[Any]) -> Skip:
        return Skip("no_skip", None, False, self._span(meta))

    def to_next(self, meta: Meta, parts: list[Any]) -> Skip:
        return Skip("skip_to_next", None, False, self._span(meta))

    def past_last(self, meta: Meta, parts: list[Any]) -> Skip:
        return Skip("skip_past_last_event", None, False, self._span(meta))

    def to_first(self, meta: Meta, parts: list[Any]) -> Skip:
        return Skip("skip_to_first", parts[0], len(parts) > 1, self._span(meta))

    def to_last(self, meta: Meta, parts: list[Any]) -> Skip:
        return Skip("skip_to_last", parts[0], len(parts) > 1, self._span(meta))

    def within(self, meta: Meta, parts: list[Any]) -> tuple[str, Any, Span]:
        return "within", parts[0], self._span(meta)

    def where(self, meta: Meta, parts: list[Any]) -> tuple[str, Any, Span]:
        return "where", parts[0], self._span(meta)

    def partition(self, meta: Meta, parts: list[Any]) -> tuple[str, Any, Span]:
        return "partition", tuple(parts), self._span(meta)

    def after_match(self, meta: Meta, parts: list[Any]) -> tuple[str, Any, Span]:
        return "skip", parts[0], self._span(meta)

    def fails(self, meta: Meta, parts: list[Any]) -> bool:
        return True

    def everything(self, meta: Meta, parts: list[Any]) -> None:
        return None

    def selection(self, meta: Meta, parts: list[Item]) -> tuple[Item, ...]:
        return tuple(parts)

    def item(self, meta: Meta, parts: list[Any]) -> Item:
        return Item(parts[0], parts[1] if len(parts) > 1 else None)

    def query(self, meta: Meta, parts: list[Any]) -> Query:
        items, steps, *clauses = parts
        said: dict[str, Any] = {"within": None, "where": None, "partition": (), "skip": None}
        for position, (kind, value, span) in enumerate(clauses):
            if kind in [clause[0] for clause in clauses[:position]]:
                raise self._faults.at(span, "requires each clause once", got="a second one")
            said[kind] = value
        return Query(items, steps, **said)


def _millis(unit: Token) -> float:
    """Return how many milliseconds a unit of time has."""
    word = unit.lower()
    if word == "ms" or word.startswith("milli"):
        return 1
    return _UNITS["min" if word.startswith("min") else word[0]]
