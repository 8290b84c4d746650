"""How tables find their connectors: by the option 'connector', in the registry of connectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.common.logical_types import Field, LogicalType, RowType
from firesteel.connectors.tables.registry import connector_names, connector_of
from firesteel.functions.columns.connectors import TableConnector, TableRequest, TableSink, TableSource
from firesteel.functions.columns.lookups import LookupCalls, LookupTable
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.planning import Connections
from firesteel.relational.tables import MetadataColumn, PhysicalColumn, ResolvedTable, shown_name

CONNECTOR: Final = "connector"
IDLE_TIMEOUT: Final = "scan.watermark.idle-timeout"
"""The option of a table that says when a split without rows does not hold the watermark back any more."""

_OF_PLANS: Final = (CONNECTOR, IDLE_TIMEOUT)
_WATERMARKS: Final = "scan.watermark."


def registered(options: PlanOptions) -> Connections:
    """Return the connections by which tables are found in the registry.

    They raise ConfigurationError for an unknown connector and for options that it cannot take, UnsupportedError for
    options of watermarks but for the idle timeout, and ProgramError for metadata that it does not have.
    """

    def source(table: ResolvedTable) -> TableSource:
        if table.source is not None:
            return table.source
        connector = _connector(table)
        return connector.source(_request(table, table.read, connector.readable_metadata, options))

    def sink(table: ResolvedTable) -> TableSink:
        connector = _connector(table)
        _check_buckets(table, connector)
        return connector.sink(_request(table, table.written, connector.writable_metadata, options))

    def lookup(table: ResolvedTable, keys: tuple[str, ...], calls: LookupCalls) -> LookupTable | None:
        if table.source is not None or CONNECTOR not in table.options:
            return None
        connector = _connector(table)
        return connector.lookup(
            _request(table, table.read, connector.readable_metadata, options), keys, calls
        )

    return Connections(source, sink, lookup)


def _check_buckets(table: ResolvedTable, connector: TableConnector) -> None:
    if table.distribution is not None and not connector.buckets:
        raise UnsupportedError(
            f"cannot be written: connector {connector.name!r} has no buckets",
            who=_who(table),
            got=str(table.distribution),
            hint="ALTER TABLE ... DROP DISTRIBUTION",
        )


def truncate(table: ResolvedTable, options: PlanOptions) -> None:
    """Remove all rows of a table. Raises UnsupportedError if its connector cannot, and what `registered` does."""
    connector = _connector(table)
    connector.truncate(_request(table, table.written, connector.writable_metadata, options))


def _who(table: ResolvedTable) -> str:
    return f"table '{shown_name(table)}'"


def _connector(table: ResolvedTable) -> TableConnector:
    name = table.options.get(CONNECTOR)
    if name is None:
        raise ProgramError(
            "requires the option 'connector'",
            who=_who(table),
            got=f"the options {', '.join(map(repr, sorted(table.options))) or 'none'}",
            hint=f"there are {', '.join(connector_names())}",
        )
    return connector_of(name, _who(table))


def _request(
    table: ResolvedTable,
    columns: Sequence[PhysicalColumn | MetadataColumn],
    known: Mapping[str, LogicalType],
    options: PlanOptions,
) -> TableRequest:
    metadata = [column for column in columns if isinstance(column, MetadataColumn)]
    for column in metadata:
        if column.key not in known:
            raise ProgramError(
                f"has no metadata {column.key!r} for column {column.name!r}",
                who=_who(table),
                hint=f"the connector has {', '.join(sorted(known)) or 'none'}",
            )
    for key in table.options:
        if key.startswith(_WATERMARKS) and key not in _OF_PLANS:
            raise UnsupportedError(f"cannot have the option {key!r}", who=_who(table))
    physical = [column for column in columns if isinstance(column, PhysicalColumn)]
    fields = [Field(column.name, column.type) for column in physical]
    fields += [Field(column.name, column.type) for column in metadata]
    return TableRequest(
        who=_who(table),
        name=shown_name(table),
        row=RowType(tuple(fields), nullable=False),
        metadata={column.key: column.type for column in metadata},
        primary_key=table.primary_key,
        partition_keys=table.partition_keys,
        options={key: value for key, value in table.options.items() if key not in _OF_PLANS},
        bounded=options.batch,
        zone=options.zone,
        distribution=table.distribution,
    )
