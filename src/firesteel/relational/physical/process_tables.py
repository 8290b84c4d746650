"""The node of process table functions, which may take changes of tables, and give some.

Source: Flink's StreamPhysicalProcessTableFunction, its rule, and FlinkChangelogModeInferenceProgram.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.common.logical_types import RowType
from firesteel.functions.changelog_mode import ChangelogMode
from firesteel.functions.columns.connectors import ChangelogMode as PlannedMode
from firesteel.functions.columns.process_tables import CalledTable, TableCall
from firesteel.functions.columns.python_functions import PythonProcessTable
from firesteel.functions.process_tables import ArgumentTrait, ChangelogContext
from firesteel.relational.expressions import Expression, Literal
from firesteel.relational.folding import folded
from firesteel.relational.logical import process_tables as logical
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.node import Changes, Keys, PhysicalNode, Shown, Updates, mode_of


@dataclass(frozen=True)
class _Asked(ChangelogContext):
    """A question to a function; `modes` are those of its tables."""

    function: PythonProcessTable
    modes: tuple[PlannedMode, ...]
    required: PlannedMode

    def get_table_changelog_mode(self, pos: int) -> ChangelogMode | None:
        kinds = [*self.function.arguments.values()]
        if not 0 <= pos < len(kinds) or not isinstance(kinds[pos], frozenset):
            return None
        before = sum(isinstance(kind, frozenset) for kind in kinds[:pos])
        return ChangelogMode.of(self.modes[before])

    def get_required_changelog_mode(self) -> ChangelogMode:
        return ChangelogMode.of(self.required)


@dataclass(frozen=True)
class ProcessTable(PhysicalNode):
    """What a function gives for the rows of tables, as the logical node of this name; `values` are constants."""

    function: PythonProcessTable
    parts: tuple[PhysicalNode, ...]
    tables: tuple[CalledTable, ...]
    values: tuple[tuple[str, Any], ...]
    uid: str
    type: RowType
    invocation: str
    lives: tuple[tuple[str, int], ...] = ()
    state_ttl: int | None = None

    @property
    def row(self) -> RowType:
        """Return the columns of the tables that stay, those of the function, and the time."""
        return self.type

    @property
    def name(self) -> str:
        """Return Flink's name."""
        return "ProcessTableFunction"

    @property
    def inputs(self) -> tuple[PhysicalNode, ...]:
        """Return the tables."""
        return self.parts

    def with_inputs(self, inputs: tuple[PhysicalNode, ...]) -> ProcessTable:
        """Return the same call with other tables."""
        return replace(self, parts=inputs)

    @property
    def gives_time(self) -> bool:
        """Whether the last column is the time."""
        return any(table.time is not None for table in self.tables)

    @property
    def in_sets(self) -> bool:
        """Whether the tables are sets of rows."""
        return any(table.keys is not None for table in self.tables)

    @property
    def call(self) -> TableCall:
        """What the operator does."""
        return TableCall(self.function, self.tables, dict(self.values), self.mode, self.lives)

    @property
    def state(self) -> str | None:
        """Return the function's state."""
        if not self.in_sets:
            return None
        waiting = ", and rows behind the watermark" if any(table.order for table in self.tables) else ""
        return f"the state and timers of each set{waiting}"

    @property
    def upsert_keys(self) -> Keys:
        """Return the keys of the first table, by which a function's new rows replace others."""
        if self.function.changes is None or not self.tables or not self.tables[0].keys:
            return frozenset()
        given = tuple(PlannedMode.upserts() for _ in self.tables)
        mode = self._answer(given, PlannedMode.upserts())
        if not mode.update_after or mode.update_before:
            return frozenset()
        return frozenset([frozenset(range(len(self.tables[0].keys)))])

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the call and the columns."""
        yield "invocation", self.invocation
        yield "uid", self.uid if self.in_sets else "null"
        yield "select", ",".join(self.row.field_names)

    def refuses(self, place: int) -> bool:
        """Return whether an argument does not support updates."""
        return bool(self.tables) and not self._has(place, ArgumentTrait.SUPPORT_UPDATES)

    def changes(self, given: tuple[Changes, ...]) -> Changes:
        """Return what the function says, that changes of these kinds come to.

        Raises ProgramError for updates where the call cannot have them.
        """
        mode = self._answer(tuple(mode_of(one, Updates.AFTER) for one in given), PlannedMode.upserts())
        found = Changes(mode.update_after or mode.update_before, mode.delete)
        self._check_changes(given, found)
        return found

    def needs_of(self, place: int, required: Updates, given: tuple[Changes, ...]) -> Updates | None:
        """Require new rows alone of tables partitioned by their upsert key; None if updates are not given so."""
        wanted = tuple(self._wanted(number, one) for number, one in enumerate(given))
        mode = self._answer(
            tuple(mode_of(one, way) for one, way in zip(given, wanted, strict=True)), _required(required)
        )
        if mode.update_after and mode.update_before is not (required is Updates.BOTH):
            return None
        return wanted[place]

    def inferred(self, given: tuple[Changes, ...], required: Updates) -> ProcessTable:
        """Return the node with its mode, which the function says, and those of its tables."""
        modes = tuple(part.mode for part in self.parts)
        tables = tuple(
            replace(table, mode=mode)
            for table, mode in zip(self.tables, modes[: len(self.tables)], strict=True)
        )
        return replace(self, tables=tables, mode=self._answer(modes, _required(required)))

    def _wanted(self, place: int, given: Changes) -> Updates:
        if not given.update:
            return Updates.NONE
        keys = frozenset(self.tables[place].keys or ())
        by_key = bool(keys) and keys in self.parts[place].upsert_keys
        return (
            Updates.AFTER
            if by_key and not self._has(place, ArgumentTrait.REQUIRE_UPDATE_BEFORE)
            else Updates.BOTH
        )

    def _has(self, place: int, trait: ArgumentTrait) -> bool:
        traits = self.function.arguments[self.tables[place].argument]
        return isinstance(traits, frozenset) and trait in traits

    def _answer(self, given: tuple[PlannedMode, ...], required: PlannedMode) -> PlannedMode:
        """Return what the function says of its changes."""
        if self.function.changes is None:
            return PlannedMode()
        said = self.function.changes.get_changelog_mode(_Asked(self.function, given, required))
        if isinstance(said, ChangelogMode):
            return said.planned
        raise ProgramError(
            "requires a ChangelogMode from get_changelog_mode", who=self.call.who, got=repr(said)
        )

    def _check_changes(self, given: tuple[Changes, ...], found: Changes) -> None:
        none = Changes()
        if self.gives_time and any(one != none for one in (*given, found)):
            raise ProgramError(
                "requires inserts for on_time: it is not supported for functions that consume or produce updates",
                who=self.call.who,
                got=f"updates as {'its result' if found != none else 'a table'}",
            )
        if found == none:
            return
        if any(table.passes for table in self.tables):
            raise ProgramError(
                "requires a result without pass-through columns for updating output",
                who=self.call.who,
                got="PASS_COLUMNS_THROUGH",
            )


def process_table(
    node: logical.ProcessTable, parts: tuple[PhysicalNode, ...], options: PlanOptions
) -> ProcessTable:
    """Return the node over planned tables.

    Raises UnsupportedError in BATCH mode, as Flink does, ProgramError for an argument that is no constant.
    """
    function = node.function
    if options.batch:
        raise UnsupportedError(
            "is not supported in BATCH mode, as in Flink", who=f"Process table function {function.name}"
        )
    lives = {name: function.lives.get(name, options.state_ttl) for name in function.state}
    return ProcessTable(
        function,
        parts,
        node.tables,
        tuple((name, _constant(name, value, node, options)) for name, value in node.values),
        node.uid,
        node.type,
        node.invocation,
        tuple((name, life) for name, life in lives.items() if life),
        options.state_ttl,
    )


def _constant(name: str, value: Expression, node: logical.ProcessTable, options: PlanOptions) -> Any:
    found = folded(value, options.zone)
    if isinstance(found, Literal):
        return found.value
    error = ProgramError(
        f"requires a constant as {name}", who=f"function {node.function.name}", got="a value that is computed"
    )
    raise error if node.place is None else node.place.located(error)


def _required(required: Updates) -> PlannedMode:
    return PlannedMode(update_before=required is Updates.BOTH, update_after=True, delete=True)
