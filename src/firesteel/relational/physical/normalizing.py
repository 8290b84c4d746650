"""Sources whose changes are found by key, or may come twice: they become changes of a table first.

Source: Flink's DynamicSourceUtils, StreamPhysicalChangelogNormalize, PushCalcPastChangelogNormalizeRule,
WatermarkAssignerChangelogNormalizeTransposeRule, ChangelogNormalizeRequirementResolver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import RowType
from firesteel.functions.columns.connectors import ChangelogMode
from firesteel.functions.columns.normalizing import Normalization
from firesteel.relational.expressions import Expression, InputRef, references
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.node import Changes, Keys, PhysicalNode, Shown, UnaryNode, Updates
from firesteel.relational.physical.nodes import Calc, Exchange
from firesteel.relational.physical.scans import TableSourceScan
from firesteel.relational.rules.substitution import all_of, conjuncts, is_deterministic, refs
from firesteel.relational.tables import MetadataColumn
from firesteel.relational.translation import program

DUPLICATES: Final = "table.exec.source.cdc-events-duplicate"


@dataclass(frozen=True)
class ChangelogNormalize(UnaryNode):
    """One row for each key, of which every change is known; rows for which the condition is not TRUE are not there."""

    keys: tuple[int, ...]
    condition: Expression | None = None
    time_to_live: int | None = None
    duplicates: bool = False
    """Whether changes may come twice, so that the node is needed even if nothing needs old rows."""

    @property
    def row(self) -> RowType:
        """Return the type of the input's rows."""
        return self.input.row

    @property
    def upsert_keys(self) -> Keys:
        """Return the key, and those of the input."""
        return self.input.upsert_keys | {frozenset(self.keys)}

    @property
    def state(self) -> str:
        """Return what is kept."""
        return "the row of each key"

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the key and the condition."""
        names = self.row.field_names
        yield "key", ", ".join(names[key] for key in self.keys)
        if self.condition is not None:
            yield "condition", shown(self.condition, names)

    def changes(self, given: tuple[Changes, ...]) -> Changes:
        """Return that rows come, change and go."""
        return Changes(update=True, delete=True)

    def needs(self, required: Updates, given: Changes) -> Updates:
        """Require the new rows of updates."""
        return Updates.AFTER if given.update else Updates.NONE

    def inferred(self, given: tuple[Changes, ...], required: Updates) -> PhysicalNode:
        """Return the node with its mode; what it would read, if updates by key are all that is needed."""
        if required is Updates.AFTER and not self._is_needed:
            return self.input.input if isinstance(self.input, Exchange) else self.input
        return super().inferred(given, required)

    @property
    def _is_needed(self) -> bool:
        return self.duplicates or self.condition is not None or _reads_metadata(self.input)

    def operation(self, zone: str) -> Normalization:
        """Return what the operator does."""
        condition = None
        if self.condition is not None:
            condition = program(self.input.row, [self.condition], ["kept"], None, zone)
        return Normalization(self.row, self.keys, condition, self.time_to_live, self.mode.update_before)


def normalized(scan: TableSourceScan, mode: ChangelogMode, options: PlanOptions, who: str) -> PhysicalNode:
    """Return a scan whose source gives changes of `mode`, normalised if it must be.

    Raises ProgramError for a source that cannot be read so.
    """
    table = scan.table
    if options.batch:
        if not mode.append_only:
            raise ProgramError(
                "is read in BATCH mode, in which sources give inserts only",
                who=who,
                got="a source with other changes",
                hint="set 'execution.runtime-mode' to 'streaming'",
            )
        return scan
    upserts = mode.update_after and not mode.update_before
    duplicates = options.duplicates and not mode.append_only and not upserts
    if not upserts and not duplicates:
        return scan
    if table.primary_key is None:
        raise ProgramError(
            "requires a primary key, because it gives the new rows of updates alone"
            if upserts
            else f"requires a primary key, because '{DUPLICATES}' is set and it gives changes",
            who=who,
            got="none",
            hint="declare PRIMARY KEY (...) NOT ENFORCED",
        )
    keys = tuple(map(scan.row.field_names.index, table.primary_key))
    return ChangelogNormalize(
        Exchange(scan, keys), keys, time_to_live=options.state_ttl, duplicates=duplicates
    )


def _reads_metadata(node: PhysicalNode) -> bool:
    if isinstance(node, TableSourceScan):
        read = [node.table.read[place] for place in node.columns]
        return any(isinstance(column, MetadataColumn) for column in read)
    return any(map(_reads_metadata, node.inputs))


def filtered(node: ChangelogNormalize, condition: Expression) -> tuple[ChangelogNormalize, Expression | None]:
    """Return the node with the rows for which a condition is TRUE, and what of the condition is left to ask.

    What is about the key alone is asked before the exchange.
    """
    early: list[Expression] = []
    late: list[Expression] = [] if node.condition is None else [node.condition]
    left: list[Expression] = []
    for part in conjuncts(condition):
        if not is_deterministic(part):
            left.append(part)
        else:
            (early if set(references(part)) <= set(node.keys) else late).append(part)
    below = node.input
    if early:
        assert isinstance(below, Exchange)
        rows = below.input
        kept = Calc(rows, refs(rows.row, range(len(rows.row.fields))), all_of(early), rows.row)
        below = replace(below, input=kept)
    made = replace(node, input=below, condition=all_of(late) if late else None)
    return made, all_of(left) if left else None


def narrowed(node: ChangelogNormalize, used: tuple[int, ...]) -> tuple[ChangelogNormalize, tuple[int, ...]]:
    """Return the node over a scan of some columns and the key, with their places; the node itself if all are read."""
    below, every = node.input, tuple(range(len(node.row.fields)))
    assert isinstance(below, Exchange)
    places = tuple(sorted({*used, *node.keys}))
    scan = below.input.narrowed(places) if isinstance(below.input, TableSourceScan) else None
    if scan is None:
        return node, every
    keys = tuple(map(places.index, node.keys))
    return replace(node, input=Exchange(scan, keys), keys=keys), places


def with_watermarks(
    below: PhysicalNode, assigned: Callable[[PhysicalNode, RowType], PhysicalNode]
) -> PhysicalNode:
    """Return rows with the watermarks that `assigned` gives to rows of a type like theirs.

    They are made of the source's rows, before those are normalised: so every row that comes is seen.
    """
    calc = below if isinstance(below, Calc) and below.condition is None else None
    node = below if calc is None else calc.input
    if not isinstance(node, ChangelogNormalize) or not isinstance(node.input, Exchange):
        return assigned(below, below.row)
    rows = node.input.input
    if calc is None:
        return replace(node, input=Exchange(assigned(rows, rows.row), node.keys))
    names = calc.row.field_names
    passed = {one.index: place for place, one in enumerate(calc.expressions) if isinstance(one, InputRef)}
    missing = [key for key in node.keys if key not in passed]
    passed |= {key: len(names) + place for place, key in enumerate(missing)}
    fields = (*calc.row.fields, *(rows.row.fields[key] for key in missing))
    wide = Calc(rows, (*calc.expressions, *refs(rows.row, missing)), None, RowType(fields, nullable=False))
    keys = tuple(passed[key] for key in node.keys)
    made = assigned(wide, wide.row)
    normal = replace(node, input=Exchange(made, keys), keys=keys)
    if not missing:
        return normal
    kept = RowType(made.row.fields[: len(names)], nullable=False)
    return Calc(normal, refs(made.row, range(len(names))), None, kept)
