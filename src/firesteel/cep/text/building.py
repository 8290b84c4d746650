"""From the parts of a text to a pattern, and to what turns matches into rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from firesteel.cep.pattern import Pattern
from firesteel.cep.text.demanding import demand_of, together
from firesteel.cep.text.faults import Faults
from firesteel.cep.text.nodes import (
    Call,
    Expression,
    Group,
    Item,
    Path,
    Query,
    Single,
    Skip,
    Step,
    Suffix,
    steps_within,
)
from firesteel.cep.text.result_types import ResultTypes, fields_of
from firesteel.cep.text.suffixes import Suffixes, duration_of, in_order, repeats
from firesteel.cep.text.translating import Parameters, Scope, Translation, conjuncts, paths_in
from firesteel.common.errors import PatternTextError, ProgramError
from firesteel.common.places import Span
from firesteel.common.suggestions import suggestion
from firesteel.common.typeinfo import TypeInformation
from firesteel.functions.patterns.conditions import IterativeCondition
from firesteel.functions.patterns.demands import Demand
from firesteel.functions.patterns.describing import bracketed
from firesteel.functions.patterns.skipping import AfterMatchSkipStrategy
from firesteel.functions.patterns.written import (
    FieldsOf,
    WrittenCondition,
    WrittenIterativeCondition,
    WrittenSelect,
)
from firesteel.runtime.patterns.compiling import compiled

__all__ = ["Setting", "TextPattern", "built"]

ANY_EVENT: Final = "Event"
_HINTS: Final = {
    "call one_or_more() or times_or_more(n) before it": "write + or {n,} before it",
    "call within(...) on it": "write within and a time at the end",
}
"""What a text says instead of the calls in hints of patterns."""

_NEGATED: Final = ("not_next", "not_followed_by")


@dataclass(frozen=True)
class Setting:
    """What the program says besides the text.

    `types` are the classes of the names of types; `kind` is the field that has the name of an event's type; `event` is
    the type of all events, if it is known. Parameters that are `shared` by several texts need not be named in each.
    """

    parameters: Mapping[str, Any]
    types: Mapping[str, type]
    kind: str | None = None
    event: TypeInformation | None = None
    shared: bool = False

    @property
    def fields(self) -> Collection[str] | None:
        """The fields of all events, None if they are not known."""
        return fields_of(self.event) or None


@dataclass(frozen=True)
class TextPattern:
    """A pattern, what makes a row of a match, the type of the rows if it is known, and what makes the key, if the text
    says it.
    """

    pattern: Pattern
    select: WrittenSelect
    row_type: TypeInformation | None
    key: FieldsOf | None


def built(query: Query, setting: Setting, faults: Faults) -> TextPattern:
    """Return the pattern that a text says. Raises PatternTextError at the part that means nothing."""
    try:
        return _Builder(query, setting, faults).built()
    except RecursionError:
        raise faults.nested(_whole(query.steps)) from None


class _Builder:
    def __init__(self, query: Query, setting: Setting, faults: Faults) -> None:
        self._query = query
        self._setting = setting
        self._faults = faults
        self._parameters = Parameters(setting.parameters, faults)
        self._suffixes = Suffixes(self._parameters, faults)
        self._names = _names_of(query, faults)
        self._repeated = {self._names[id(step)] for step in _repeated(query.steps, within=False)}
        self._takes = [self._names[id(step)] for step in query.all_steps() if step.link not in _NEGATED]
        self._wheres = self._share_out(query.where)

    def built(self) -> TextPattern:
        query = self._query
        pattern = self._chain(query.steps, self._skip(query.skip))
        if query.within is not None:
            pattern.within(duration_of(query.within, self._parameters, self._faults))
        with self._errors_at(_whole(query.steps)):
            compiled(pattern.definition())
        items = self._items(query.items)
        select = self._select(items)
        self._check_parameters()
        types = ResultTypes(
            self._setting.event, self._names_known(), self._repeated, self._setting.parameters
        )
        row = types.row([(name, item.expression) for name, item in items.items()])
        return TextPattern(pattern, select, row, self._key(query.partition))

    def _key(self, paths: tuple[Path, ...]) -> FieldsOf | None:
        fields = self._setting.fields
        for path in paths:
            if fields is not None and path.names[0] not in fields:
                hint = suggestion(path.names[0], fields)
                got = repr(path.names[0])
                raise self._faults.at(path.span, "requires a field of the events", got=got, hint=hint)
        return FieldsOf(tuple(path.names for path in paths)) if paths else None

    def _check_parameters(self) -> None:
        for name in () if self._setting.shared else self._parameters.values:
            if name not in self._parameters.named:
                raise self._faults.at(
                    self._faults.source.span(0, 1),
                    "requires a text that names each parameter",
                    got=f"no :{name}",
                    hint=suggestion(name, sorted(self._parameters.named)),
                )

    @contextmanager
    def _errors_at(self, span: Span) -> Iterator[None]:
        """Make errors of the pattern itself point at the part of the text that it was made of."""
        try:
            yield
        except PatternTextError:
            raise
        except ProgramError as error:
            hint = None if error.hint is None else _HINTS.get(error.hint, error.hint)
            raise self._faults.at(span, error.requirement, got=error.got, hint=hint) from error

    @contextmanager
    def _compiles(self, span: Span) -> Iterator[None]:
        try:
            yield
        except (SyntaxError, RecursionError, MemoryError):
            raise self._faults.nested(span) from None

    # Steps

    def _chain(self, singles: tuple[Single, ...], skip: AfterMatchSkipStrategy | None) -> Pattern:
        pattern: Any = None
        for single in singles:
            what: Any = self._begun(single)
            with self._errors_at(single.span):
                pattern = (
                    Pattern.begin(what, skip) if pattern is None else getattr(pattern, single.link)(what)
                )
                if isinstance(single, Step):
                    self._require(pattern, single)
            for suffix in in_order(single.suffixes):
                with self._errors_at(suffix.span):
                    self._suffixes.add(pattern, single, suffix)
                    if suffix.kind == "until":
                        pattern.until(self._until(single, suffix))
        assert isinstance(pattern, Pattern)
        return pattern

    def _begun(self, single: Single) -> str | Pattern:
        if isinstance(single, Step):
            return self._names[id(single)]
        if single.link in _NEGATED:
            raise self._faults.at(single.span, "requires a single step after not", got="a group")
        return self._chain(single.steps, None)

    def _require(self, pattern: Pattern, step: Step) -> None:
        name = self._names[id(step)]
        questions = [*conjuncts(step.condition), *self._wheres.get(name, ())]
        condition = self._condition(step, questions, self._is_of_type(step))
        if condition is not None:
            pattern.where(condition)

    def _condition(
        self, step: Step, questions: list[Expression], of_type: Callable[[Translation], str] | None = None
    ) -> IterativeCondition | None:
        """Return the condition that all questions are true: first those of the event alone."""
        where = self._wheres.get(self._names[id(step)], ())
        translation = Translation(self._scope(step), self._parameters, self._faults)
        alone = [] if of_type is None else [of_type(translation)]
        texts = [] if of_type is None else [f"is {step.type.text}"]
        others: list[str] = []
        demands = [] if of_type is None else [self._demand_of_type(step)]
        for question in questions:
            qualified = any(question is each for each in where)
            translation.scope = replace(translation.scope, qualified=qualified)
            translation.looks_back = False
            source = translation.true(question)
            (others if translation.looks_back else alone).append(source)
            demands.append(demand_of(question, translation.scope, self._parameters))
            texts.append(self._faults.source.text[question.span.start : question.span.end])
        if not alone and not others:
            return None
        source = " and ".join([*alone, *others])
        with self._compiles(step.span):
            text = " and ".join(bracketed(" ".join(each.split()), "and") for each in texts)
            if others:
                return WrittenIterativeCondition(source, translation.constants, text)
            return WrittenCondition(source, translation.constants, text, together(demands))

    def _demand_of_type(self, step: Step) -> Demand | None:
        """Return what `_is_of_type` demands."""
        kind, name = self._setting.kind, step.type.text
        return None if kind is None or name in self._setting.types else Demand.of(kind, "in", (name,))

    def _until(self, single: Single, suffix: Suffix) -> IterativeCondition | None:
        if isinstance(single, Group):
            raise self._faults.at(suffix.span, "requires a single step", got="a group")
        return self._condition(single, [suffix.arguments[0]])

    def _scope(self, step: Step) -> Scope:
        name = self._names[id(step)]
        earlier = []
        for other in self._query.all_steps():
            if other is step:
                break
            if other.link not in _NEGATED:
                earlier.append(self._names[id(other)])
        # In a group that repeats, later steps of it have events, too.
        earlier.extend(later for later in self._around(step) if later not in earlier and later != name)
        return Scope(self._names_known(), earlier, self._repeated, name, fields=self._setting.fields)

    def _around(self, step: Step) -> list[str]:
        return [
            self._names[id(other)]
            for group in _groups(self._query.steps)
            if repeats(group) and any(inner is step for inner in steps_within(group.steps))
            for other in steps_within(group.steps)
            if other.link not in _NEGATED
        ]

    def _names_known(self) -> list[str]:
        return [self._names[id(step)] for step in self._query.all_steps()]

    def _is_of_type(self, step: Step) -> Callable[[Translation], str] | None:
        """Return what makes the source of the question whether an event has the step's type; None if any has."""
        name, types, kind = step.type.text, self._setting.types, self._setting.kind
        if name in types:
            return lambda translation: f"isinstance(e, {translation.constant(types[name])})"
        if name == ANY_EVENT:
            return None
        if kind is not None:
            return lambda _: f"get(e, {kind!r}) == {name!r}"
        hint = f"write {ANY_EVENT} for any event, or pass types={{{name!r}: its class}}, or kind= the field that has it"
        if types:
            hint = suggestion(name, [*types, ANY_EVENT]) or hint
        raise self._faults.at(step.type.span, "requires a type of events", got=repr(name), hint=hint)

    # The whole

    def _share_out(self, where: Expression | None) -> dict[str, list[Expression]]:
        """Return for each step the parts of `where` that are decided with its event: it is the last that they name."""
        shares: dict[str, list[Expression]] = {}
        order = self._names_known()
        for part in conjuncts(where):
            paths = paths_in(part)
            unknown = next((path for path in paths if path.names[0] not in order), None)
            if unknown is not None or not paths:
                raise self._faults.at(
                    part.span if unknown is None else unknown.span,
                    "requires a step, or a field of one",
                    got="a condition without" if unknown is None else repr(".".join(unknown.names)),
                    hint=suggestion("" if unknown is None else unknown.names[0], order),
                )
            last = max((path.names[0] for path in paths), key=order.index)
            shares.setdefault(last, []).append(part)
        return shares

    def _skip(self, skip: Skip | None) -> AfterMatchSkipStrategy | None:
        if skip is None:
            return None
        make: Any = getattr(AfterMatchSkipStrategy, skip.kind)
        strategy: AfterMatchSkipStrategy = make() if skip.name is None else make(skip.name.text)
        return strategy.throw_exception_on_miss() if skip.fails else strategy

    def _items(self, items: tuple[Item, ...] | None) -> dict[str, Item]:
        """Return what is selected, by the names of the columns."""
        named = items if items is not None else [self._whole(step) for step in self._query.all_steps()]
        columns: dict[str, Item] = {}
        for item in filter(None, named):
            name = item.name.text if item.name is not None else self._column(item.expression)
            if name in columns:
                hint = f"write as and another name, e.g. as {name}{len(columns) + 1}"
                raise self._faults.at(
                    item.expression.span, "requires a name of its own", got=repr(name), hint=hint
                )
            columns[name] = item
        return columns

    def _select(self, items: Mapping[str, Item]) -> WrittenSelect:
        scope = Scope(self._names_known(), self._takes, self._repeated, fields=self._setting.fields)
        translation = Translation(scope, self._parameters, self._faults)
        sources = [self._selected(translation, item.expression) for item in items.values()]
        with self._compiles(_whole(self._query.steps)):
            constants = {**translation.constants, "columns": tuple(items)}
            return WrittenSelect(f"({', '.join(sources)},)", constants)

    def _whole(self, step: Step) -> Item | None:
        if step.link in _NEGATED or step.name is None:
            return None
        return Item(Path((step.name.text,), step.name.span), step.name)

    def _selected(self, translation: Translation, node: Expression) -> str:
        if isinstance(node, Path) and len(node.names) == 1 and node.names[0] in self._repeated:
            # All events of a step that may occur several times.
            return translation.value(Call("list", (node,), node.span))
        return translation.value(node)

    def _column(self, node: Expression) -> str:
        if isinstance(node, Path):
            return node.names[-1]
        raise self._faults.at(node.span, "requires a name", got="an expression", hint="write as and a name")


def _names_of(query: Query, faults: Faults) -> dict[int, str]:
    """Return the name of each step; one without a name is called by its place."""
    names: dict[int, str] = {}
    for place, step in enumerate(query.all_steps(), 1):
        name = f"step {place}" if step.name is None else step.name.text
        if name in names.values():
            assert step.name is not None
            raise faults.at(
                step.name.span, "requires a name of its own for each step", got=f"{name!r} a second time"
            )
        names[id(step)] = name
    return names


def _repeated(singles: tuple[Single, ...], *, within: bool) -> Iterator[Step]:
    """Yield the steps that may have several events."""
    for single in singles:
        several = within or repeats(single)
        if isinstance(single, Group):
            yield from _repeated(single.steps, within=several)
        elif several:
            yield single


def _groups(singles: tuple[Single, ...]) -> Iterator[Group]:
    for single in singles:
        if isinstance(single, Group):
            yield single
            yield from _groups(single.steps)


def _whole(singles: tuple[Single, ...]) -> Span:
    first, last = singles[0].span, singles[-1].span
    return Span(first.start, last.end, first.line, first.column)
