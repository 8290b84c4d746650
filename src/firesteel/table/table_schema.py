"""TableSchema: the names and types of columns, in the old way of PyFlink.

>>> from firesteel.table.types import DataTypes
>>> schema = TableSchema.builder().field("id", DataTypes.BIGINT()).field("name", DataTypes.STRING()).build()
>>> print(schema)
root
 |-- id: BIGINT
 |-- name: STRING
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import Field, RowType
from firesteel.datastream.streams.node_settings import call_site
from firesteel.table.types import DataType, logical_type

__all__ = ["TableSchema"]


@dataclass(init=False, frozen=True, repr=False)
class TableSchema:
    """Columns without keys and watermarks; Flink has replaced it by Schema and ResolvedSchema."""

    row: RowType

    def __init__(
        self, field_names: Sequence[str] | None = None, data_types: Sequence[DataType] | None = None
    ) -> None:
        names, kinds = list(field_names or ()), list(data_types or ())
        who = call_site("TableSchema")
        if len(names) != len(kinds):
            raise ProgramError(
                "requires a type for each name", who=who, got=f"{len(names)} names, {len(kinds)} types"
            )
        fields = (Field(name, logical_type(kind, who)) for name, kind in zip(names, kinds, strict=True))
        object.__setattr__(self, "row", RowType(tuple(fields), nullable=False))

    @staticmethod
    def of_row(row: RowType) -> TableSchema:
        """Return the columns of a row."""
        return TableSchema(row.field_names, [DataType(kind) for kind in row.children])

    def copy(self) -> TableSchema:
        """Return the same columns."""
        return TableSchema.of_row(self.row)

    def get_field_data_types(self) -> list[DataType]:
        """Return the types."""
        return [DataType(kind) for kind in self.row.children]

    def get_field_data_type(self, field: int | str) -> DataType | None:
        """Return the type of a column, by its place from 0 or its name; None if there is no such column."""
        if isinstance(field, str):
            place = self.row.field_names.index(field) if field in self.row.field_names else -1
        elif isinstance(field, int):
            place = field
        else:
            raise ProgramError(
                "requires the place or the name of a column",
                who=call_site("get_field_data_type"),
                got=repr(field),
            )
        kinds = self.get_field_data_types()
        return kinds[place] if 0 <= place < len(kinds) else None

    def get_field_count(self) -> int:
        """Return the number of columns."""
        return len(self.row.fields)

    def get_field_names(self) -> list[str]:
        """Return the names."""
        return list(self.row.field_names)

    def get_field_name(self, field_index: int) -> str | None:
        """Return the name of a column, by its place from 0; None if there is no such column."""
        names = self.row.field_names
        return names[field_index] if 0 <= field_index < len(names) else None

    def to_row_data_type(self) -> DataType:
        """Return the type of a row of the columns."""
        return DataType(self.row)

    def __repr__(self) -> str:
        return "".join(("root\n", *(f" |-- {field.name}: {field.type}\n" for field in self.row.fields)))

    @classmethod
    def builder(cls) -> TableSchema.Builder:
        """Return a builder without columns."""
        return TableSchema.Builder()

    class Builder:
        """Collects columns in their order."""

        def __init__(self) -> None:
            self._fields: list[tuple[str, DataType]] = []

        def field(self, name: str, data_type: DataType) -> TableSchema.Builder:
            """Add a column."""
            self._fields.append((name, data_type))
            return self

        def build(self) -> TableSchema:
            """Return the schema."""
            names, kinds = [name for name, _ in self._fields], [kind for _, kind in self._fields]
            return TableSchema(names, kinds)
