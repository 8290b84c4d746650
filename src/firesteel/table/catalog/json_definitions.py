"""Definitions of catalogs as JSON, and back. What a session has made of a definition is left out."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields
from decimal import Decimal
from typing import Any, Final

from firesteel.common.logical_types import parse_type
from firesteel.functions.columns.connectors import TableDistribution
from firesteel.functions.columns.statistics import ColumnStatistics
from firesteel.relational.tables import PhysicalColumn
from firesteel.sql.binding.maintenance import Freshness, Maintenance
from firesteel.table.catalog.definitions import (
    CatalogBaseTable,
    CatalogDatabase,
    CatalogFunction,
    CatalogModel,
    CatalogPartition,
    require_text,
)
from firesteel.table.catalog.memory import Entry, Known, Partition
from firesteel.table.catalog.paths import CatalogPartitionSpec
from firesteel.table.catalog.statistics import CatalogColumnStatistics, CatalogTableStatistics
from firesteel.table.schema import Schema

Json = dict[str, Any]

_BOUNDS: Final[Mapping[str, Callable[[str], object]]] = {
    "Decimal": Decimal,
    "datetime": dt.datetime.fromisoformat,
    "date": dt.date.fromisoformat,
    "time": dt.time.fromisoformat,
}
"""How bounds of columns that JSON does not have are read, by the names of their types."""


def database_text(database: CatalogDatabase) -> Json:
    """Return a database."""
    return {"properties": dict(database.properties), "comment": database.comment}


def database_of(found: Json) -> CatalogDatabase:
    """Return the database of a text."""
    return CatalogDatabase(found["properties"], found["comment"])


def function_text(function: CatalogFunction) -> Json:
    """Return a function."""
    options = dict(function.options)
    return {"class": function.class_name, "language": function.function_language, "options": options}


def function_of(found: Json) -> CatalogFunction:
    """Return the function of a text."""
    return CatalogFunction(found["class"], found["language"], found["options"])


def model_text(model: CatalogModel) -> Json:
    """Return a model."""
    options = dict(model.options)
    columns = {"inputs": _columns_text(model.inputs), "outputs": _columns_text(model.outputs)}
    return {**columns, "options": options, "comment": model.comment}


def model_of(found: Json) -> CatalogModel:
    """Return the model of a text."""
    inputs, outputs = (
        tuple(PhysicalColumn(name, parse_type(kind), comment) for name, kind, comment in found[key])
        for key in ("inputs", "outputs")
    )
    return CatalogModel(inputs, outputs, found["options"], found["comment"])


def _columns_text(columns: Iterable[PhysicalColumn]) -> list[list[str | None]]:
    return [[one.name, one.type.as_serializable_string(), one.comment] for one in columns]


def entry_text(entry: Entry) -> Json:
    """Return a table or a view. Raises UnsupportedError for a view that has no text."""
    table, schema = entry.definition, entry.definition.schema
    if table.is_view:
        require_text(table)
    found: Json = {
        "kind": "VIEW" if table.is_view else "TABLE",
        "columns": list(schema.elements),
        "keys": list(schema.keys),
        "types": {name: kind.as_serializable_string() for name, kind in schema.physical},
        "partition_keys": list(table.partition_keys),
        "options": dict(table.options),
        "comment": table.comment,
    }
    if table.is_view:
        found |= {
            "query": table.original_query,
            "path": None if table.path is None else list(table.path),
            "asterisks": _asterisks_text(table.asterisks),
        }
    if table.distribution is not None:
        found["distribution"] = asdict(table.distribution)
    if table.maintenance is not None:
        found["maintenance"] = _maintenance_text(table.maintenance)
    found |= _known_text(entry.known)
    if entry.partitions:
        found["partitions"] = [
            {"values": spec.get_partition_spec(), **_partition_text(one)}
            for spec, one in entry.partitions.items()
        ]
    return found


def entry_of(found: Json) -> Entry:
    """Return the table or the view of a text."""
    types = tuple((name, parse_type(text)) for name, text in found["types"].items())
    elements = tuple(found["columns"])
    table = CatalogBaseTable(
        Schema(elements, tuple(found["keys"]), types, shown=elements),
        tuple(found["partition_keys"]),
        found["options"],
        found["comment"],
        found.get("query"),
        tuple(found["path"]) if found.get("path") else None,
        _asterisks_of(found),
        _maintenance_of(found["maintenance"]) if "maintenance" in found else None,
        _distribution_of(found["distribution"]) if "distribution" in found else None,
    )
    partitions = {
        CatalogPartitionSpec(one["values"]): Partition(
            CatalogPartition(one["properties"], one["comment"]), _known_of(one)
        )
        for one in found.get("partitions", ())
    }
    return Entry(table, partitions, _known_of(found))


def _distribution_of(found: Json) -> TableDistribution:
    return TableDistribution(found["kind"], tuple(found["keys"]), found["buckets"])


def _asterisks_text(asterisks: Mapping[int, tuple[str, ...]]) -> Json:
    return {str(offset): list(names) for offset, names in asterisks.items()}


def _asterisks_of(found: Json) -> dict[int, tuple[str, ...]]:
    return {int(offset): tuple(names) for offset, names in found.get("asterisks", {}).items()}


def _maintenance_text(maintenance: Maintenance) -> Json:
    found = {field.name: getattr(maintenance, field.name) for field in fields(maintenance)}
    return found | {"asterisks": _asterisks_text(maintenance.asterisks)}


def _maintenance_of(found: Json) -> Maintenance:
    catalog, database = found["path"]
    known: Json = {
        "columns": tuple(found["columns"]),
        "path": (catalog, database),
        "freshness": Freshness(*found["freshness"]),
        "asterisks": _asterisks_of(found),
    }
    return Maintenance(**(found | known))


def _partition_text(partition: Partition) -> Json:
    definition = partition.definition
    text: Json = {"properties": dict(definition.properties), "comment": definition.comment}
    return text | _known_text(partition.known)


def _known_text(known: Known) -> Json:
    found: Json = {}
    if known.rows != CatalogTableStatistics():
        rows = known.rows
        found["rows"] = [rows.row_count, rows.field_count, rows.total_size, rows.raw_data_size]
    columns = known.columns.get_column_statistics_data()
    if columns:
        found["column_statistics"] = {
            name: [one.distinct, _bound_text(one.low), _bound_text(one.high), one.nulls]
            for name, one in columns.items()
        }
    return found


def _known_of(found: Json) -> Known:
    columns = {
        name: ColumnStatistics(distinct, _bound_of(low), _bound_of(high), nulls)
        for name, (distinct, low, high, nulls) in found.get("column_statistics", {}).items()
    }
    rows = CatalogTableStatistics(*found.get("rows", ()))
    return Known(rows, CatalogColumnStatistics(columns or None))


def _bound_text(bound: Any) -> Any:
    """Return a bound as JSON has it; one that it does not have with the name of its type.

    >>> _bound_text(3), _bound_text(dt.date(2024, 1, 2)), _bound_of(_bound_text(dt.date(2024, 1, 2)))
    (3, ['date', '2024-01-02'], datetime.date(2024, 1, 2))
    """
    if bound is None or isinstance(bound, bool | int | float | str):
        return bound
    kind = type(bound).__name__
    if kind not in _BOUNDS:
        return None
    return [kind, str(bound) if isinstance(bound, Decimal) else bound.isoformat()]


def _bound_of(found: Any) -> Any:
    return _BOUNDS[found[0]](found[1]) if isinstance(found, list) else found
