"""The connector 'print': a sink that prints changes on the driver's standard output or error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa

from firesteel.common.logical_types import RowType
from firesteel.common.logical_types.text import printed_rows
from firesteel.common.types import RowKind
from firesteel.connectors.print_sink import PrintCommitter, PrintedLines, line_prefix
from firesteel.connectors.tables.options import PARALLELISM, Options, text, truth
from firesteel.functions.columns.connectors import ChangelogMode, TableConnector, TableRequest, TableSink
from firesteel.functions.columns.endpoints import ColumnSink, ColumnWriter, Kinds
from firesteel.functions.sink import Committer, DeliveryGuarantee, WriterContext

_SHOWN: Final = tuple(map(str, RowKind))


_IDENTIFIER: Final = text("print-identifier", "What each line begins with.").by_default("")
_TO_STDERR: Final = truth(
    "standard-error", "Whether lines go to standard error, and not to standard output."
).by_default("false")


class PrintConnector(TableConnector):
    """Prints each change on a line, in Flink's notation: `+I[1, a]`.

    Lines begin with the number of the subtask if there are several.
    """

    name = "print"
    options = (_IDENTIFIER, _TO_STDERR, PARALLELISM)

    def sink(self, table: TableRequest) -> TableSink:
        """Return the sink."""
        options = Options(table.options, table.who, self.name)
        identifier = options.get(_IDENTIFIER)
        to_stderr = options.get(_TO_STDERR)
        parallelism = options.get(PARALLELISM)
        options.finish()
        sink = PrintTableSink(table.row, identifier, to_stderr)
        return TableSink(sink, ChangelogMode.all(), adapts=True, parallelism=parallelism)


class PrintTableSink(ColumnSink):
    """Prints the rows of a type when their epoch commits; the guarantee is at-least-once."""

    guarantee = DeliveryGuarantee.AT_LEAST_ONCE

    def __init__(self, row: RowType, identifier: str = "", to_stderr: bool = False) -> None:
        self._row = row
        self._identifier = identifier
        self._to_stderr = to_stderr

    def create_writer(self, context: WriterContext) -> ColumnWriter:
        name = f"{context.operator_id}/{context.subtask}/{context.attempt}"
        return _Writer(self._row, line_prefix(self._identifier, context), name)

    def create_committer(self) -> Committer:
        return PrintCommitter(self._to_stderr)


class _Writer(ColumnWriter):
    def __init__(self, row: RowType, prefix: str, name: str) -> None:
        self._row = row
        self._prefix = prefix
        self._name = name
        self._texts: list[str] = []

    def write_columns(self, rows: pa.RecordBatch, kinds: Kinds | None) -> None:
        """Turn the changes into lines."""
        column = rows.to_struct_array()
        names = [_SHOWN[0]] * len(column) if kinds is None else [_SHOWN[kind] for kind in kinds.tolist()]
        lines = printed_rows(column, self._row, names)
        self._texts.append("".join([f"{self._prefix}{line}\n" for line in lines]))

    def prepare_commit(self) -> Sequence[PrintedLines]:
        return [PrintedLines(self._name, number, lines) for number, lines in enumerate(self._texts)]
