"""Process table functions for queries, with the names of Flink's Java API; PyFlink has none.

>>> from firesteel.table import EnvironmentSettings, TableEnvironment
>>> class Greeting(ProcessTableFunction):
...     def eval(self, ctx, seen, person):
...         seen["times"] = (seen["times"] or 0) + 1
...         yield f"Hello {person['name']}, your {seen['times']}. time"
>>> greeting = udptf(
...     Greeting(),
...     arguments={"person": ArgumentTrait.SET_SEMANTIC_TABLE},
...     state={"seen": "ROW<times BIGINT>"},
...     result_type="STRING",
... )
>>> environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
>>> people = environment.from_elements([("Bob",), ("Bob",)], ["name"])
>>> environment.create_temporary_view("people", people)
>>> environment.create_temporary_function("greeting", greeting)
>>> found = environment.sql_query("SELECT * FROM greeting(person => TABLE people PARTITION BY name)")
>>> found.to_pandas()["EXPR$0"].tolist()
['Hello Bob, your 1. time', 'Hello Bob, your 2. time']
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from firesteel.common.errors import ConfigurationError, ProgramError
from firesteel.common.logical_types import ArrayType, Field, LogicalType, MapType, RowType
from firesteel.common.quantities import duration_ms
from firesteel.datastream.streams.node_settings import call_site
from firesteel.functions.columns.python_functions import PythonProcessTable
from firesteel.functions.process_tables import (
    ArgumentTrait,
    ChangelogContext,
    ChangelogFunction,
    OnTimerContext,
    ProcessTableContext,
    ProcessTableFunction,
    SortDirection,
    TableSemantics,
    TimeContext,
)
from firesteel.table.types import DataType, logical_type
from firesteel.table.user_functions import UserDefinedFunctionWrapper

__all__ = [
    "ArgumentHint",
    "ArgumentTrait",
    "ChangelogContext",
    "ChangelogFunction",
    "OnTimerContext",
    "ProcessTableContext",
    "ProcessTableFunction",
    "SortDirection",
    "StateHint",
    "TableSemantics",
    "TimeContext",
    "udptf",
]


@dataclass(frozen=True)
class ArgumentHint:
    """What a call gives for an argument: the type of a value; one that is optional is None in calls without it."""

    type: DataType | str
    is_optional: bool = False


@dataclass(frozen=True)
class StateHint:
    """An entry of the state: its type, and how long it lives since it was written, as in ``"1 day"``.

    None is the session's 'table.exec.state.ttl', ``"0"`` for ever. Elements and entries live each by themselves.
    """

    type: DataType | str
    ttl: str | None = None


Argument = ArgumentTrait | Iterable[ArgumentTrait] | ArgumentHint | DataType | str
"""The traits of a table, or the type of a value."""

_IMPLICIT: Final = frozenset({"on_time", "uid"})
_SCALAR_RESULT: Final = "EXPR$0"
_ROOTS: Final = frozenset({ArgumentTrait.ROW_SEMANTIC_TABLE, ArgumentTrait.SET_SEMANTIC_TABLE})
_NEEDS: Final = {
    ArgumentTrait.OPTIONAL_PARTITION_BY: ArgumentTrait.SET_SEMANTIC_TABLE,
    ArgumentTrait.REQUIRE_UPDATE_BEFORE: ArgumentTrait.SUPPORT_UPDATES,
    ArgumentTrait.REQUIRE_FULL_DELETE: ArgumentTrait.SUPPORT_UPDATES,
}


class UserDefinedProcessTableFunctionWrapper(UserDefinedFunctionWrapper):
    """A process table function."""

    def __init__(self, signature: PythonProcessTable) -> None:
        self.signature = signature


def udptf(
    f: ProcessTableFunction,
    arguments: Mapping[str, Argument],
    result_type: DataType | str,
    state: Mapping[str, DataType | str | StateHint] | None = None,
    name: str | None = None,
) -> UserDefinedProcessTableFunctionWrapper:
    """Return a process table function for queries: an object of a class that extends ProcessTableFunction.

    `arguments` are those of calls, in their order: traits of tables, and types of values, which are constants. `state`
    are the entries that each set of rows has: of type ROW, ARRAY (a list) or MAP, whose elements and entries are read
    one by one. `result_type` is that of the rows, a ROW, or the type of the only column, EXPR$0. A call takes
    ``on_time`` and ``uid``, too. Raises ProgramError for anything else.
    """
    who = call_site("udptf")
    if not isinstance(f, ProcessTableFunction):
        raise ProgramError(
            "requires an object of a class that extends ProcessTableFunction", who=who, got=type(f).__name__
        )
    taken = {key: _argument(key, given, who) for key, given in arguments.items()}
    hints = {key: _hint(given) for key, given in (state or {}).items()}
    entries = {key: _entry(key, hint.type, who) for key, hint in hints.items()}
    _check([kind for kind in taken.values() if isinstance(kind, frozenset)], entries, who)
    kind = logical_type(result_type, who)
    row = kind if isinstance(kind, RowType) else RowType((Field(_SCALAR_RESULT, kind),))
    return UserDefinedProcessTableFunctionWrapper(
        PythonProcessTable(
            name or type(f).__name__,
            f,
            taken,
            entries,
            RowType(row.fields, nullable=False),
            f.is_deterministic(),
            optional=frozenset(
                key
                for key, given in arguments.items()
                if isinstance(given, ArgumentHint) and given.is_optional
            ),
            lives={key: _life(key, hint.ttl, who) for key, hint in hints.items() if hint.ttl is not None},
        )
    )


def _argument(name: str, given: Argument, who: str) -> frozenset[ArgumentTrait] | LogicalType:
    if not name.isidentifier() or name in _IMPLICIT:
        raise ProgramError("requires another name for an argument", who=who, got=repr(name))
    if isinstance(given, ArgumentHint):
        return _value(name, given, who)
    if isinstance(given, ArgumentTrait):
        given = [given]
    if isinstance(given, DataType | str):
        return logical_type(given, who)
    traits = frozenset(given)
    shown = ", ".join(sorted(str(getattr(trait, "name", trait)) for trait in traits))
    if len(traits & _ROOTS) != 1:
        raise ProgramError(
            f"requires either ROW_SEMANTIC_TABLE or SET_SEMANTIC_TABLE for the argument {name}, or the type of a value",
            who=who,
            got=shown,
        )
    missing = next(
        (needed for trait, needed in _NEEDS.items() if trait in traits and needed not in traits), None
    )
    if missing is not None:
        raise ProgramError(f"requires {missing.name} for the argument {name}", who=who, got=shown)
    return traits


def _value(name: str, hint: ArgumentHint, who: str) -> LogicalType:
    kind = logical_type(hint.type, who)
    if hint.is_optional and not kind.nullable:
        raise ProgramError(
            f"requires a type with NULL for the optional argument {name}", who=who, got=str(kind)
        )
    return kind


def _hint(given: DataType | str | StateHint) -> StateHint:
    return given if isinstance(given, StateHint) else StateHint(given)


def _entry(name: str, given: DataType | str, who: str) -> RowType | ArrayType | MapType:
    kind = logical_type(given, who)
    if isinstance(kind, RowType | ArrayType | MapType):
        return kind
    raise ProgramError(f"requires a ROW, an ARRAY or a MAP for the state {name}", who=who, got=str(kind))


def _life(name: str, text: str, who: str) -> int:
    try:
        return duration_ms("ttl", text)
    except ConfigurationError as error:
        raise ProgramError(
            f"requires a duration as the ttl of the state {name}", who=who, got=repr(text), hint="e.g. 1 day"
        ) from error


def _check(tables: list[frozenset[ArgumentTrait]], state: Mapping[str, object], who: str) -> None:
    as_sets = [ArgumentTrait.SET_SEMANTIC_TABLE in traits for traits in tables]
    if (state or len(tables) > 1) and not (as_sets and all(as_sets)):
        raise ProgramError(
            "requires SET_SEMANTIC_TABLE for state and for several tables",
            who=who,
            got="ROW_SEMANTIC_TABLE" if tables else "no table",
        )
    if not any(ArgumentTrait.PASS_COLUMNS_THROUGH in traits for traits in tables):
        return
    if len(tables) > 1:
        raise ProgramError("requires one table for PASS_COLUMNS_THROUGH", who=who, got=str(len(tables)))
    if ArgumentTrait.SUPPORT_UPDATES in tables[0]:
        raise ProgramError(
            "requires a table of inserts for PASS_COLUMNS_THROUGH", who=who, got="SUPPORT_UPDATES"
        )
