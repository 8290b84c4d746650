"""Hints: options of a table (OPTIONS), and how long the state of a query lives (STATE_TTL)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from firesteel.common.errors import ConfigurationError
from firesteel.common.quantities import duration_ms
from firesteel.common.suggestions import suggestion
from firesteel.relational.tables import ResolvedTable
from firesteel.sql import nodes
from firesteel.sql.binding.context import Context
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


def state_times_to_live(select: exp.Select, scope: Scope, context: Context) -> dict[str, int]:
    """Return how many milliseconds state lives by the hint STATE_TTL of a SELECT, by the names that it gives.

    Raises SqlValidationError for a name that is not in FROM and for a text that is no duration, SqlUnsupportedError for
    other hints.
    """
    found: dict[str, int] = {}
    hint = select.args.get("hint")
    known = [relation.name[-1] for relation in scope.relations if relation.name]
    for call in hint.expressions if hint is not None else ():
        if call.this.name.upper() != "STATE_TTL":
            raise context.text.unsupported(call, f"the hint {call.this.name}")
        for name, value, node in _options(call, context):
            if name not in known:
                hint_text = suggestion(name, known)
                raise context.text.wrong(
                    node, "requires the name of a table in FROM in STATE_TTL", got=name, hint=hint_text
                )
            try:
                found[name] = duration_ms("STATE_TTL", value)
            except ConfigurationError as error:
                raise context.text.located(node, error) from None
    return found


def _options(call: nodes.HintCall, context: Context) -> Iterator[tuple[str, str, exp.Expr]]:
    for option in call.expressions:
        if not isinstance(option, nodes.HintOption):
            raise context.text.wrong(option, f"requires a key and a value in {call.this.name}")
        yield option.this.name, option.expression.name, option
