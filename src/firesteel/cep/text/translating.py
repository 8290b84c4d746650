"""From expressions to the source of Python expressions, with SQL's three-valued logic.

An expression is asked for in one of three ways: whether it is true, whether it is false (it may be neither: unknown),
or what its value is. So `not (price > 3)` becomes the question whether `price > 3` is false, and a condition needs no
third truth value when it runs. `firesteel.functions.patterns.written` has the functions that the source calls.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

from firesteel.cep.text.faults import Faults
from firesteel.cep.text.nodes import Call, Expression, Literal, Operation, Parameter, Path
from firesteel.common.places import Span
from firesteel.common.suggestions import did_you_mean, suggestion

__all__ = ["Parameters", "Scope", "Translation", "conjuncts", "paths_in"]

_COMPARISONS: Final = {"=": "==", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_ARITHMETIC: Final = {"+": "+", "-": "-", "*": "*", "/": "/", "%": "%"}
_LOGIC: Final = ("and", "or", "not", "is null", "in", "between", "like")
_PLAIN: Final = (bool, int, float, str, type(None))

_SCALAR: Final = {
    "abs": "abs({})",
    "ceil": "ceil({})",
    "floor": "floor({})",
    "length": "len({})",
    "lower": "{}.lower()",
    "round": "round_({})",
    "sqrt": "sqrt({})",
    "trim": "{}.strip()",
    "upper": "{}.upper()",
}
_OF_VALUES: Final = {
    "avg": "avg",
    "count": "len",
    "list": "list_",
    "max": "max_",
    "min": "min_",
    "sum": "sum_",
}
_OF_STEPS: Final = ("first", "last", *_OF_VALUES)


class Parameters:
    """The values that the program gives, and which of them the text names."""

    def __init__(self, values: Mapping[str, Any], faults: Faults) -> None:
        self.values = values
        self.named: set[str] = set()
        self._faults = faults

    def value(self, parameter: Parameter) -> Any:
        """Return the value of a parameter."""
        if parameter.name not in self.values:
            raise self._faults.at(
                parameter.span,
                f"requires a value for :{parameter.name}",
                got="none" if not self.values else f"values for {', '.join(self.values)}",
                hint=f"pass parameters={{{parameter.name!r}: ...}}",
            )
        self.named.add(parameter.name)
        return self.values[parameter.name]


@dataclass(frozen=True)
class Scope:
    """What names stand for: `known` steps have events, `own` is the step whose event is asked about.

    `own` is None where there is no such event: in what is selected. `qualified`: fields are named with their steps, as
    in a `where`. `repeated` steps may have several events. `fields` are those of all events, if they are known.
    """

    steps: Collection[str]
    known: Collection[str]
    repeated: Collection[str]
    own: str | None = None
    qualified: bool = False
    fields: Collection[str] | None = None


@dataclass
class Translation:
    """Translates expressions within one scope; gathers the constants, and whether other events are looked at."""

    scope: Scope
    parameters: Parameters
    faults: Faults
    constants: dict[str, Any] = field(default_factory=dict)
    looks_back: bool = False
    _temporaries: Any = field(default_factory=count)

    def true(self, node: Expression) -> str:
        """Return the source of the question whether an expression is true."""
        return self._truth(node, wanted=True)

    def value(self, node: Expression) -> str:
        """Return the source of the value; None stands for unknown."""
        if isinstance(node, Literal):
            return repr(node.value)
        if isinstance(node, Parameter):
            return self._given(node)
        if isinstance(node, Path):
            return self._path(node)
        if isinstance(node, Call):
            return self._call(node)
        if node.operator == "is null":
            return f"({self.value(node.operands[0])} is None)"
        if node.operator in _COMPARISONS or node.operator in _LOGIC:
            true, false = self._truth(node, wanted=True), self._truth(node, wanted=False)
            return f"(True if {true} else False if {false} else None)"
        return self._arithmetic(node)

    # Truth

    def _truth(self, node: Expression, *, wanted: bool) -> str:
        if not isinstance(node, Operation) or node.operator in _ARITHMETIC:
            return self._truth_of_value(node, wanted=wanted)
        operator, operands = node.operator, node.operands
        if operator == "not":
            return self._truth(operands[0], wanted=not wanted)
        if operator in ("and", "or"):
            word = "and" if (operator == "and") is wanted else "or"
            return f"({f' {word} '.join(self._truth(each, wanted=wanted) for each in operands)})"
        if operator == "is null":
            return f"({self.value(operands[0])} is {'' if wanted else 'not '}None)"
        if operator == "between":
            return self._truth(_between(node), wanted=wanted)
        if operator == "in":
            return self._in(node, wanted=wanted)
        if operator == "like":
            return self._like(node, wanted=wanted)
        if operator in _COMPARISONS:
            return self._compared(node, "{} " + _COMPARISONS[operator] + " {}", wanted=wanted)
        return self._truth_of_value(node, wanted=wanted)

    def _truth_of_value(self, node: Expression, *, wanted: bool) -> str:
        tests, (value,) = self._known([node])
        return self._all([*tests, value if wanted else f"not {value}"])

    def _compared(self, node: Operation, form: str, *, wanted: bool) -> str:
        tests, values = self._known(node.operands)
        question = form.format(*values)
        return self._all([*tests, question if wanted else f"not ({question})"])

    def _in(self, node: Operation, *, wanted: bool) -> str:
        value, *choices = node.operands
        tests, (source,) = self._known([value])
        others, sources = self._known(choices)
        if others:
            equal = tuple(Operation("=", (value, each), node.span) for each in choices)
            return self._truth(Operation("or", equal, node.span), wanted=wanted)
        return self._all([*tests, f"{source} {'' if wanted else 'not '}in ({', '.join(sources)},)"])

    def _like(self, node: Operation, *, wanted: bool) -> str:
        text, pattern = node.operands
        given = self.parameters.value(pattern) if isinstance(pattern, Parameter) else None
        written = pattern.value if isinstance(pattern, Literal) else given
        if not isinstance(written, str):
            raise self.faults.at(pattern.span, "requires a string or a parameter after like")
        name = self._constant(re.compile(_regular(written), re.DOTALL).fullmatch)
        tests, (value,) = self._known([text])
        question = f"{name}({value}) is {'not ' if wanted else ''}None"
        return self._all([*tests, question])

    def _known(self, nodes: Collection[Expression]) -> tuple[list[str], list[str]]:
        """Return the questions whether values are known, and the sources of the values once they are."""
        tests, values = [], []
        for node in nodes:
            source = self.value(node)
            if isinstance(node, Literal | Parameter) and source != "None":
                values.append(source)
                continue
            name = f"t{next(self._temporaries)}"
            tests.append(f"({name} := {source}) is not None")
            values.append(name)
        return tests, values

    @staticmethod
    def _all(questions: list[str]) -> str:
        return f"({' and '.join(questions)})"

    # Values

    def _arithmetic(self, node: Operation) -> str:
        tests, values = self._known(node.operands)
        if node.operator == "minus":
            result = f"-{values[0]}"
        elif node.operator == "||":
            result = " + ".join(f"str_({value})" for value in values)
        else:
            result = f" {_ARITHMETIC[node.operator]} ".join(values)
        return f"({result} if {' and '.join(tests)} else None)" if tests else f"({result})"

    def _given(self, node: Parameter) -> str:
        value = self.parameters.value(node)
        plain = type(value) in _PLAIN and value == value and value not in (float("inf"), -float("inf"))
        return repr(value) if plain else self._constant(value)

    def _constant(self, value: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = value
        return name

    def constant(self, value: Any) -> str:
        """Return the name by which the source has a value."""
        return self._constant(value)

    def _path(self, node: Path) -> str:
        step, *fields = node.names
        if step not in self.scope.steps:
            return self._of_event(node)
        if step == self.scope.own:
            source = "e"
            if fields:
                self._check_field(fields[0], node.span)
                source, fields = f"get(e, {fields[0]!r})", fields[1:]
        else:
            source = f"{'last' if step in self.scope.repeated else 'first'}({self._events(step, node.span)})"
            if fields:
                self._check_field(fields[0], node.span)
        return _nested(source, fields)

    def _of_event(self, node: Path) -> str:
        """Return the source of a field of the event that is asked about."""
        name, *fields = node.names
        if self.scope.own is None or self.scope.qualified:
            raise self.faults.at(
                node.span,
                "requires a step, or a field of one",
                got=repr(".".join(node.names)),
                hint=suggestion(name, self.scope.steps),
            )
        self._check_field(name, node.span)
        return _nested(f"get(e, {name!r})", fields)

    def _check_field(self, name: str, span: Span) -> None:
        known = self.scope.fields
        if known is not None and name not in known:
            hint = suggestion(name, known)
            raise self.faults.at(span, "requires a field of the events", got=repr(name), hint=hint)

    def _events(self, step: str, span: Span) -> str:
        if step not in self.scope.known:
            raise self.faults.at(
                span,
                "requires a step that has events by then",
                got=f"{step!r}, which comes later, or must not come",
                hint=suggestion("", self.scope.known),
            )
        self.looks_back = True
        return f"taken({step!r})"

    # Functions

    def _call(self, node: Call) -> str:
        if node.function in _OF_STEPS:
            return self._of_step(node)
        if node.function == "coalesce" and node.arguments:
            return self._coalesce(node.arguments)
        form = _SCALAR.get(node.function)
        if form is None:
            known = (*_SCALAR, *_OF_STEPS, "coalesce")
            hint = did_you_mean(node.function, known) or f"known are: {', '.join(sorted(known))}"
            raise self.faults.at(node.span, "requires a function", got=repr(node.function), hint=hint)
        if len(node.arguments) != 1:
            raise self._arguments(node, "one argument")
        tests, (value,) = self._known(node.arguments)
        result = form.format(f"({value})")
        return f"({result} if {' and '.join(tests)} else None)" if tests else f"({result})"

    def _coalesce(self, arguments: tuple[Expression, ...]) -> str:
        *earlier, last = arguments
        source = self.value(last)
        for argument in reversed(earlier):
            name = f"t{next(self._temporaries)}"
            source = f"({name} if ({name} := {self.value(argument)}) is not None else {source})"
        return source

    def _of_step(self, node: Call) -> str:
        path = node.arguments[0] if node.arguments else None
        if not isinstance(path, Path) or path.names[0] not in self.scope.steps:
            raise self._arguments(node, "a step, or a field of one")
        step, *fields = path.names
        if fields:
            self._check_field(fields[0], path.span)
        events = self._events_for_function(step, path.span)
        if node.function in ("first", "last"):
            offset = node.arguments[1] if len(node.arguments) == 2 else Literal(0, node.span)
            whole = isinstance(offset, Literal) and type(offset.value) is int
            if not whole or len(node.arguments) > 2:
                raise self._arguments(node, "a step, or a field of one, and a whole number")
            return _nested(f"{node.function}({events}, {self.value(offset)})", fields)
        if len(node.arguments) != 1:
            raise self._arguments(node, "one argument")
        if not fields and node.function not in ("count", "list"):
            raise self._arguments(node, f"a field of a step: {node.function}({step}.field)")
        return f"{_OF_VALUES[node.function]}(values({', '.join([events, *map(repr, fields)])}))"

    def _events_for_function(self, step: str, span: Span) -> str:
        """Return the source of the events of a step: of the own step, those before the event that is asked about."""
        if step == self.scope.own:
            self.looks_back = True
            return f"taken({step!r})"
        return self._events(step, span)

    def _arguments(self, node: Call, wanted: str) -> Exception:
        got = f"{len(node.arguments)} arguments" if len(node.arguments) != 1 else None
        return self.faults.at(node.span, f"requires {wanted} for {node.function}(...)", got=got)


def _nested(source: str, fields: Collection[str]) -> str:
    for name in fields:
        source = f"field({source}, {name!r})"
    return source


def _between(node: Operation) -> Operation:
    value, low, high = node.operands
    bounds = (Operation(">=", (value, low), node.span), Operation("<=", (value, high), node.span))
    return Operation("and", bounds, node.span)


def _regular(pattern: str) -> str:
    """Return the regular expression of a pattern of LIKE."""
    return "".join(".*" if each == "%" else "." if each == "_" else re.escape(each) for each in pattern)


def conjuncts(node: Expression | None) -> list[Expression]:
    """Return the parts of an expression that must all be true."""
    if node is None:
        return []
    if isinstance(node, Operation) and node.operator == "and":
        return [part for operand in node.operands for part in conjuncts(operand)]
    return [node]


def paths_in(node: Expression) -> list[Path]:
    """Return the paths in an expression, in their order."""
    if isinstance(node, Path):
        return [node]
    inner = node.arguments if isinstance(node, Call) else node.operands if isinstance(node, Operation) else ()
    return [path for each in inner for path in paths_in(each)]
