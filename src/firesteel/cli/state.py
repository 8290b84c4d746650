"""`firesteel state`: the contents of a savepoint or a kept epoch, without Spark."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Any, Final

import msgspec
import typer

from firesteel.cli.program import reporting
from firesteel.cli.tables import Column, show_table
from firesteel.common.errors import FiresteelError, StateError
from firesteel.common.typeinfo import Types
from firesteel.control.views import states as views
from firesteel.control.views.found_matches import PartialMatch
from firesteel.control.views.partial_matches import partial_matches
from firesteel.functions.windows import WINDOW_CODEC
from firesteel.graph.uids import id_of_uid
from firesteel.rest.client import state_directory_of
from firesteel.saved.columns import stored_text
from firesteel.saved.entries import StoredRow
from firesteel.saved.inspection import SavedOperator, SavedState
from firesteel.saved.row_columns import RowColumns, RowTypes
from firesteel.state.arrangements.layout import WEIGHT, WRITTEN
from firesteel.state.keys.groups import state_key, user_key
from firesteel.state.values.schemas import Schema

state_app = typer.Typer(name="state", help="Look into a savepoint or a kept epoch.", no_args_is_help=True)

Directory = Annotated[
    str,
    typer.Argument(
        metavar="DIR",
        help="A savepoint or a state directory, path or URL; or http://host:8081/jobs/ID.",
        show_default=False,
    ),
]
Epoch = Annotated[
    int | None, typer.Option("--epoch", help="Which kept epoch (default: the last).", show_default=False)
]
Json = Annotated[bool, typer.Option("--json", help="For programs, not for people.")]
Operator = Annotated[str, typer.Argument(help="Its uid, its name, or the beginning of its id.")]
Key = Annotated[
    str | None,
    typer.Option("--key", help="Only this key: a text, or a Python literal.", show_default=False),
]
Limit = Annotated[int, typer.Option("--limit", min=0, help="The most rows to show; 0: all.")]

_COLUMNS: Final = (
    Column("OPERATOR"),
    Column("ID"),
    Column("STATE"),
    Column("SCOPE"),
    Column("TYPE"),
    Column("ENTRIES", number=True),
    Column("BYTES", number=True),
)
_ANY: Final = Types.PICKLED_BYTE_ARRAY()
_ID_SHOWN: Final = 8
_NUMBERS: Final = ("position", "timestamp", "last_access", "start", "last", WEIGHT, WRITTEN)
"""The columns that are set to the right."""
_JSON_KEYS: Final = (str, int, float, bool, type(None))


@state_app.command("ls")
def list_states(
    directory: Directory,
    epoch: Epoch = None,
    count: Annotated[
        bool, typer.Option("--count/--no-count", help="Count entries, for which all state is read.")
    ] = True,
    json: Json = False,
) -> None:
    """List operators and their states."""
    with reporting():
        saved = SavedState.open(state_directory_of(directory), epoch)
        listing = views.list_states(saved, count)
        if json:
            typer.echo(msgspec.json.format(msgspec.json.encode(listing)))
            return
        typer.echo(
            f"epoch {listing.epoch} of '{listing.job_name}', max parallelism {listing.max_parallelism}, "
            f"{sum(operator.stored_bytes for operator in listing.operators):,} bytes on storage"
        )
        show_table(_COLUMNS, [line for operator in listing.operators for line in _lines(operator)])


@state_app.command("show")
def show_state(
    directory: Directory,
    operator: Operator,
    state: Annotated[str, typer.Argument(help="The state's name; `event` or `processing` for timers.")],
    epoch: Epoch = None,
    key: Key = None,
    limit: Limit = 20,
    json: Json = False,
) -> None:
    """Show the contents of a keyed, window or broadcast state, or the rows of an arrangement."""
    with reporting():
        saved = SavedState.open(state_directory_of(directory), epoch)
        found = saved.operator(operator, id_of_uid(operator))
        if any(arrangement.name == state for arrangement in found.arrangements):
            records = _arranged(saved, found, state, key)
        else:
            records = _records(saved, found, state, key, as_json=json)
        _show(records, key, limit, as_json=json)


@state_app.command("matches")
def show_partial_matches(
    directory: Directory,
    operator: Operator,
    epoch: Epoch = None,
    key: Key = None,
    limit: Limit = 20,
    json: Json = False,
) -> None:
    """Show the partial matches of a pattern: what each waits for, since when, and its events."""
    with reporting():
        saved = SavedState.open(state_directory_of(directory), epoch)
        found = saved.operator(operator, id_of_uid(operator))
        keys = [None] if key is None else [state_key(meaning) for meaning in _meanings(key)]
        matches = (match for each in keys for match in partial_matches(saved, found, each, stored_text))
        _show((_record_of_match(match, as_json=json) for match in matches), key, limit, as_json=json)


def _record_of_match(match: PartialMatch, *, as_json: bool) -> dict[str, Any]:
    of_many = {"pattern", "version"}
    record = {name: value for name, value in vars(match).items() if value is not None or name not in of_many}
    if not as_json:
        record["waits_for"] = "earlier matches" if record.pop("complete") else match.waits_for
        record["events"] = "; ".join(
            f"{step}: {', '.join(map(_cell, events))}" for step, events in match.events.items()
        )
    return record


def _show(records: Iterator[dict[str, Any]], key: str | None, limit: int, *, as_json: bool) -> None:
    shown = list(islice(records, limit)) if limit else list(records)
    if as_json:
        typer.echo(msgspec.json.format(msgspec.json.encode(shown, enc_hook=str)))
        return
    if not shown:
        typer.echo("nothing" if key is None else f"nothing at key {key}")
        return
    show_table(
        [Column(name, name in _NUMBERS) for name in shown[0]],
        [[_cell(value) for value in record.values()] for record in shown],
    )
    if next(records, None) is not None:
        typer.echo(f"these are the first {limit}; --limit 0 shows all", err=True)


def _lines(operator: views.OperatorEntry) -> Iterator[list[str]]:
    """Yield the lines of an operator's states and positions, without empty timer states."""
    place = [operator.name, operator.id[:_ID_SHOWN]]
    for state in operator.states:
        if state.kind != "timers" or state.entries:
            yield [*place, state.name, state.scope, state.type, _number(state.entries), _number(state.bytes)]
    if operator.positions:
        total = sum(operator.positions.values())
        yield [*place, "positions", "source", f"read up to {total:,}", _number(len(operator.positions)), ""]


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _arranged(
    saved: SavedState, operator: SavedOperator, name: str, key: str | None
) -> Iterator[dict[str, Any]]:
    arrangement = operator.arrangement(name)
    if key is not None:
        raise StateError(
            "cannot be searched for a key: its rows are found by columns",
            who=f"arrangement '{name}' of {operator.who}",
            got=f"--key {key}",
            hint="filter the DataFrame of SavepointReader.read_arrangement",
        )
    for groups in arrangement.ranges():
        for batch in arrangement.batches(saved.storage, groups):
            yield from batch.to_pylist()


def _records(
    saved: SavedState, operator: SavedOperator, name: str, key: str | None, *, as_json: bool
) -> Iterator[dict[str, Any]]:
    schema = operator.state(name)
    types = RowTypes(_ANY) if as_json else RowTypes(_ANY, _ANY, _ANY)
    columns = RowColumns(schema, types, f"state '{name}' of {operator.who}")
    for row in _rows(saved, operator, schema, key):
        yield _record(columns, row)


def _rows(saved: SavedState, operator: SavedOperator, schema: Schema, key: str | None) -> Iterator[StoredRow]:
    if key is None or schema["scope"] == "broadcast":
        yield from saved.rows(operator, schema, WINDOW_CODEC)
        return
    for candidate in _meanings(key):
        yield from saved.rows(operator, schema, WINDOW_CODEC, key=state_key(candidate))


def _meanings(text: str) -> list[Any]:
    """Return the possible meanings of a key on the command line: the text, and its value as a literal."""
    try:
        value = ast.literal_eval(text)
        state_key(value)
    except (ValueError, SyntaxError, FiresteelError):
        return [text]
    return [text, value] if value != text else [text]


def _record(columns: RowColumns, row: StoredRow) -> dict[str, Any]:
    record = columns.record(row)
    if row.key is not None:
        key = user_key(row.key)
        atoms = key if isinstance(key, tuple) else (key,)
        if all(isinstance(atom, _JSON_KEYS) for atom in atoms):
            record["key"] = key
    namespace = record.pop("namespace", None)
    if namespace is None:
        return record
    return {"key": record.pop("key"), "window": namespace["text"], **record}


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)
