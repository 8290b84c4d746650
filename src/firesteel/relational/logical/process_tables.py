"""The logical node of process table functions."""

from __future__ import annotations

from dataclasses import dataclass, replace

from firesteel.common.logical_types import RowType
from firesteel.functions.columns.process_tables import CalledTable
from firesteel.functions.columns.python_functions import PythonProcessTable
from firesteel.relational.expressions import Expression
from firesteel.relational.logical.nodes import LogicalNode


@dataclass(frozen=True)
class ProcessTable(LogicalNode):
    """What a function gives for tables; `values` are its other arguments by name, `uid` tells the call from others.

    `invocation` is the call as plans show it. Without a table it is called once; its part has one row then.
    """

    function: PythonProcessTable
    parts: tuple[LogicalNode, ...]
    tables: tuple[CalledTable, ...]
    values: tuple[tuple[str, Expression], ...]
    uid: str
    type: RowType
    invocation: str

    def __post_init__(self) -> None:
        assert len(self.parts) == max(1, len(self.tables))

    @property
    def row(self) -> RowType:
        """Return the columns of the tables that stay, those of the function, and the time."""
        return self.type

    @property
    def inputs(self) -> tuple[LogicalNode, ...]:
        """Return the tables."""
        return self.parts

    def with_inputs(self, inputs: tuple[LogicalNode, ...]) -> ProcessTable:
        """Return the same call with other tables."""
        return replace(self, parts=inputs)
