"""The table functions between changes and rows that say what has changed.

Source: Flink's ToChangelogFunction and FromChangelogFunction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from firesteel.common.logical_types import RowType
from firesteel.functions.columns import changelogs
from firesteel.functions.columns.connectors import ChangelogMode
from firesteel.relational.physical.node import Changes, PhysicalNode, Shown, UnaryNode, Updates

_SHOWN: Final = "ProcessTableFunction"


@dataclass(frozen=True)
class ToChangelog(UnaryNode):
    """A row for each change."""

    spec: changelogs.ToChangelog

    @property
    def row(self) -> RowType:
        """Return the column of the code and the input's columns."""
        return self.spec.output

    @property
    def name(self) -> str:
        """Return Flink's name."""
        return _SHOWN

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the function and the codes."""
        codes = ", ".join(f"{kind.name}={code}" for kind, code in self.spec.codes)
        yield "invocation", f"TO_CHANGELOG({codes})"
        yield "select", ",".join(self.row.field_names)

    def changes(self, given: tuple[Changes, ...]) -> Changes:
        """Return that rows are only added."""
        return Changes()

    def needs(self, required: Updates, given: Changes) -> Updates:
        """Require both rows of updates: what comes out says what there was."""
        return Updates.BOTH if given.update else Updates.NONE


@dataclass(frozen=True)
class FromChangelog(UnaryNode):
    """A change for each row."""

    spec: changelogs.FromChangelog

    @property
    def row(self) -> RowType:
        """Return the columns without the code."""
        fields, op = self.spec.input.fields, self.spec.op
        return RowType(fields[:op] + fields[op + 1 :], nullable=False)

    @property
    def name(self) -> str:
        """Return Flink's name."""
        return _SHOWN

    @property
    def inserts_only(self) -> bool:
        """Whether the input must have inserts only: it must."""
        return True

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the function and the codes."""
        codes = ", ".join(f"{code}={kind.name}" for code, kind in self.spec.codes)
        yield "invocation", f"FROM_CHANGELOG({codes})"
        yield "select", ",".join(self.row.field_names)

    def changes(self, given: tuple[Changes, ...]) -> Changes:
        """Return that rows come, change and go, as for Flink whatever the codes are."""
        return Changes(update=True, delete=True)

    def needs(self, required: Updates, given: Changes) -> Updates | None:
        """Give both rows of an update, or none."""
        return None if required is Updates.AFTER else Updates.NONE

    def inferred(self, given: tuple[Changes, ...], required: Updates) -> PhysicalNode:
        """Return the node with its mode."""
        return replace(self, mode=ChangelogMode.all())
