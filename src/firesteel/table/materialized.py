"""The connector 'materialized': a materialised table, whose rows are the state of the job that maintains it."""

from __future__ import annotations

from typing import Final

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import Field, RowType
from firesteel.connectors.tables.options import Options, duration, text
from firesteel.connectors.tables.registry import register
from firesteel.functions.columns.connectors import (
    ChangelogMode,
    TableConnector,
    TableRequest,
    TableSink,
    TableSource,
)
from firesteel.functions.columns.keeping import KeptRows
from firesteel.relational.tables import ResolvedTable
from firesteel.saved.kept_rows import KeptRowsSource

MATERIALIZED: Final = "materialized"
_PATH: Final = text("path", "The directory of the table. The statement that makes it chooses one.").needed()
_HOLD: Final = duration(
    "scan.hold", "How long a query that reads the table may take; the epoch that it reads is kept so long."
).by_default("10 min")


class MaterializedConnector(TableConnector):
    """Reads all rows of a materialised table once, as of the last epoch that its job has committed.

    CREATE MATERIALIZED TABLE makes such tables. A table with this connector and the `path` of one reads it without the
    catalog that it is in; the columns must be the same.
    """

    name = MATERIALIZED
    options = (_PATH, _HOLD)

    def source(self, table: TableRequest) -> TableSource:
        """Return the source of the rows that there are when the job of the query begins."""
        options = Options(table.options, table.who, self.name)
        path, hold = options.get(_PATH), options.get(_HOLD)
        options.finish()
        return TableSource(KeptRowsSource(path, table.row, table.who, hold))

    def sink(self, table: TableRequest) -> TableSink:
        """Refuse: nobody writes to such a table but its own job."""
        raise UnsupportedError(
            "cannot be written: it is a materialized table, which its query fills",
            who=table.who,
            hint="ALTER MATERIALIZED TABLE ... AS query changes what it has",
        )


def kept_rows(table: ResolvedTable) -> TableSink:
    """Return the sink of the job that maintains a table."""
    names = [column.name for column in table.written]
    row = RowType(tuple(Field(column.name, column.type) for column in table.written), nullable=False)
    key = tuple(names.index(name) for name in table.primary_key or ())
    mode = ChangelogMode.upserts() if key else ChangelogMode.all()
    return TableSink(KeptRows(row, key), mode, distribution=table.primary_key or tuple(names))


register(MaterializedConnector())
