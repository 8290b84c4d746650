"""Which types a field of a message can have as a column (Flink: PbSchemaValidationUtils)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from firesteel.common.errors import ConfigurationError
from firesteel.common.logical_types import ArrayType, LogicalType, LogicalTypeRoot, MapType, RowType

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FieldDescriptor

_R = LogicalTypeRoot
_TEXT: Final = (_R.CHAR, _R.VARCHAR)
_WHOLE: Final = (_R.TINYINT, _R.SMALLINT, _R.INTEGER, _R.BIGINT)
_KINDS: Final = {
    "int32": (_R.INTEGER,),
    "uint32": (_R.INTEGER,),
    "int64": (_R.BIGINT,),
    "uint64": (_R.BIGINT,),
    "double": (_R.DOUBLE,),
    "float": (_R.FLOAT,),
    "bool": (_R.BOOLEAN,),
    "enum": (*_TEXT, *_WHOLE),
    "string": _TEXT,
    "bytes": (_R.BINARY, _R.VARBINARY),
}
_CPP: Final = ("int32", "int64", "uint32", "uint64", "double", "float", "bool", "enum", "string", "message")
"""The kinds of values by their number, less one, among the CPPTYPE_... of descriptors."""


def kind_of(field: FieldDescriptor) -> str:
    """Return the kind of a field's value: 'int32', 'message' and so on; those of bytes are 'bytes'."""
    kind = _CPP[field.cpp_type - 1]
    return "bytes" if kind == "string" and field.type == field.TYPE_BYTES else kind


def is_map(field: FieldDescriptor) -> bool:
    """Return whether a field is a map."""
    return bool(kind_of(field) == "message" and field.message_type.GetOptions().map_entry)


def check_row(message: Descriptor, row: RowType, who: str) -> None:
    """Raise ConfigurationError for a column that the message lacks, or that has another type there."""
    for column in row.fields:
        field = message.fields_by_name.get(column.name)
        if field is None:
            raise ConfigurationError(
                f"requires columns that the message {message.full_name} has",
                who=who,
                got=repr(column.name),
                hint=f"it has {', '.join(message.fields_by_name)}",
            )
        _check(field, column.type, who)


def _check(field: FieldDescriptor, kind: LogicalType, who: str) -> None:
    if is_map(field):
        _require(isinstance(kind, MapType), field, kind, "MAP", who)
        assert isinstance(kind, MapType)
        entry = field.message_type.fields_by_name
        _check_single(entry["key"], kind.key, who)
        _check_single(entry["value"], kind.value, who)
    elif field.is_repeated:
        _require(isinstance(kind, ArrayType), field, kind, "ARRAY", who)
        assert isinstance(kind, ArrayType)
        _check_single(field, kind.element, who)
    else:
        _check_single(field, kind, who)


def _check_single(field: FieldDescriptor, kind: LogicalType, who: str) -> None:
    named = kind_of(field)
    if named == "message":
        _require(isinstance(kind, RowType), field, kind, "ROW", who)
        assert isinstance(kind, RowType)
        check_row(field.message_type, kind, who)
    else:
        roots = _KINDS[named]
        _require(kind.root in roots, field, kind, " or ".join(root.name for root in roots), who)


def _require(holds: bool, field: FieldDescriptor, kind: LogicalType, wanted: str, who: str) -> None:
    if not holds:
        raise ConfigurationError(
            f"requires {wanted} for the field {field.full_name}, of type {kind_of(field)}",
            who=who,
            got=str(kind),
        )
