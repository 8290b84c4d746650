"""Hints: options of a table (OPTIONS), and how long the state of a query lives (STATE_TTL)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from sqlglot import exp

from firesteel.common.errors import ConfigurationError
from firesteel.common.quantities import duration_ms
from firesteel.common.suggestions import suggestion
from firesteel.relational.logical.temporal_joins import LookupHint
from firesteel.relational.tables import ResolvedTable
from firesteel.sql import nodes
from firesteel.sql.binding.context import Context
from firesteel.sql.binding.lookup_hints import lookup_hint
from firesteel.sql.binding.scope import Scope


def with_hints(table: ResolvedTable, node: exp.Table, context: Context) -> ResolvedTable:
    """Return a table with the options that are written after its name."""
    options: dict[str, str] = {}
    for hint in node.args.get("hints") or ():
        for call in hint.expressions:
            if call.this.name.upper() != "OPTIONS":
                raise context.text.unsupported(call, f"the hint {call.this.name} after a table")
            options.update((key, value) for key, value, _ in _options(call, context))
    return replace(table, options={**table.options, **options}) if options else table


_JOIN_HINTS: Final = ("BROADCAST", "SHUFFLE_HASH", "SHUFFLE_MERGE", "NEST_LOOP", "MULTI_JOIN")
"""Hints that say how a join is made, which is the same for all of them here; they are checked."""

_HINTS: Final = ("STATE_TTL", "LOOKUP", *_JOIN_HINTS)


@dataclass(frozen=True)
class SelectHints:
    """The hints of a SELECT by the names of relations: how long state lives (milliseconds), how rows are looked up."""

    times_to_live: Mapping[str, int] = field(default_factory=dict)
    lookups: Mapping[str, LookupHint] = field(default_factory=dict)


def select_hints(select: exp.Select, scope: Scope, context: Context) -> SelectHints:
    """Return the hints of a SELECT.

    Raises SqlValidationError for an unknown hint, for a name that is not in FROM, and for what a hint cannot say.
    """
    times: dict[str, int] = {}
    lookups: dict[str, LookupHint] = {}
    hint = select.args.get("hint")
    known = [relation.name[-1] for relation in scope.relations if relation.name]
    for call in hint.expressions if hint is not None else ():
        name = call.this.name.upper()
        if name == "STATE_TTL":
            times.update(_times_to_live(call, known, context))
        elif name == "LOOKUP":
            table, found = lookup_hint(call, [*_options(call, context)], context.text)
            lookups[_known(table, table.expression.name, name, known, context)] = found
        elif name in _JOIN_HINTS:
            if not call.expressions:
                raise context.text.wrong(
                    call, f"requires the names of tables in FROM in {name}", hint=suggestion("", known)
                )
            for argument in call.expressions:
                _known(argument, argument.name, name, known, context)
        else:
            raise context.text.wrong(
                call, "requires a hint that exists", got=call.this.name, hint=suggestion(name, _HINTS)
            )
    return SelectHints(times, lookups)


def _times_to_live(call: nodes.HintCall, known: list[str], context: Context) -> Iterator[tuple[str, int]]:
    for name, value, node in _options(call, context):
        _known(node, name, "STATE_TTL", known, context)
        try:
            yield name, duration_ms("STATE_TTL", value)
        except ConfigurationError as error:
            raise context.text.located(node, error) from None


def _known(node: exp.Expr, name: str, hint: str, known: list[str], context: Context) -> str:
    """Return a name that is in FROM."""
    if name not in known:
        raise context.text.wrong(
            node, f"requires the name of a table in FROM in {hint}", got=name, hint=suggestion(name, known)
        )
    return name


def _options(call: nodes.HintCall, context: Context) -> Iterator[tuple[str, str, exp.Expr]]:
    for option in call.expressions:
        if not isinstance(option, nodes.HintOption):
            raise context.text.wrong(option, f"requires a key and a value in {call.this.name}")
        yield option.this.name, option.expression.name, option
