"""Types as the gateway's JSON has them, and back (Flink: LogicalTypeJsonSerializer, LogicalTypeJsonDeserializer)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import (
    ArrayType,
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    Field,
    FloatType,
    IntervalField,
    IntType,
    LocalZonedTimestampType,
    LogicalType,
    MapType,
    MultisetType,
    NullType,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
    YearMonthIntervalType,
)

Json = Mapping[str, Any]

_PLAIN: Final[tuple[type[LogicalType], ...]] = (
    BooleanType,
    TinyIntType,
    SmallIntType,
    IntType,
    BigIntType,
    FloatType,
    DoubleType,
    DateType,
)
_LENGTHS: Final = (CharType, VarCharType, BinaryType, VarBinaryType)
_PRECISIONS: Final = (TimeType, TimestampType, LocalZonedTimestampType)


def to_type_json(data_type: LogicalType) -> dict[str, Any]:
    """Return a type as JSON. Raises UnsupportedError for types that Flink's gateway has not.

    >>> to_type_json(DecimalType(5, 2, nullable=False))
    {'type': 'DECIMAL', 'nullable': False, 'precision': 5, 'scale': 2}
    """
    if isinstance(data_type, NullType):
        return {"type": "NULL"}
    return {"type": data_type.root.name, "nullable": data_type.nullable, **_parameters(data_type)}


def _parameters(data_type: LogicalType) -> dict[str, Any]:
    match data_type:
        case CharType() | VarCharType() | BinaryType() | VarBinaryType():
            return {"length": data_type.length}
        case DecimalType():
            return {"precision": data_type.precision, "scale": data_type.scale}
        case TimeType() | TimestampType() | LocalZonedTimestampType():
            return {"precision": data_type.precision}
        case ArrayType() | MultisetType():
            return {"elementType": to_type_json(data_type.element)}
        case MapType():
            return {"keyType": to_type_json(data_type.key), "valueType": to_type_json(data_type.value)}
        case RowType():
            return {"fields": [_field_json(field) for field in data_type.fields]}
        case YearMonthIntervalType():
            return {"precision": data_type.year_precision, "resolution": _resolution(data_type)}
        case DayTimeIntervalType():
            return {
                "precision": data_type.day_precision,
                "fractionalPrecision": data_type.fractional_precision,
                "resolution": _resolution(data_type),
            }
    if isinstance(data_type, _PLAIN):
        return {}
    raise UnsupportedError(
        "cannot be sent to clients of the gateway", who=f"type {data_type}", hint="CAST(... AS STRING)"
    )


def _field_json(field: Field) -> dict[str, Any]:
    described = {} if field.description is None else {"description": field.description}
    return {"name": field.name, "fieldType": to_type_json(field.type), **described}


def _resolution(interval: YearMonthIntervalType | DayTimeIntervalType) -> str:
    start, end = interval.start.name, interval.end.name
    return start if interval.is_single_field else f"{start}_TO_{end}"


def of_type_json(json: Json) -> LogicalType:
    """Return the type that `to_type_json` has written. Raises UnsupportedError for a type that is none of these.

    >>> str(of_type_json({"type": "ARRAY", "nullable": True, "elementType": {"type": "INTEGER", "nullable": False}}))
    'ARRAY<INT NOT NULL>'
    """
    made = _READERS.get(json["type"])
    if made is None:
        raise UnsupportedError("is not known here", who=f"type {json['type']} of the gateway")
    return made(json).copy(nullable=bool(json.get("nullable", True)))


def _interval(json: Json) -> LogicalType:
    start, _, end = str(json["resolution"]).partition("_TO_")
    units = IntervalField[start], IntervalField[end or start]
    if json["type"] == YearMonthIntervalType.root.name:
        return YearMonthIntervalType(*units, json["precision"])
    return DayTimeIntervalType(*units, json["precision"], json["fractionalPrecision"])


def _row(json: Json) -> LogicalType:
    return RowType(
        tuple(
            Field(field["name"], of_type_json(field["fieldType"]), field.get("description"))
            for field in json["fields"]
        )
    )


def _plain(kind: type[LogicalType]) -> Callable[[Json], LogicalType]:
    return lambda _: kind()


def _sized(kind: Callable[[int], LogicalType], parameter: str) -> Callable[[Json], LogicalType]:
    return lambda json: kind(json[parameter])


_READERS: Final[dict[str, Callable[[Json], LogicalType]]] = {
    **{kind.root.name: _plain(kind) for kind in _PLAIN},
    NullType.root.name: _plain(NullType),
    **{kind.root.name: _sized(kind, "length") for kind in _LENGTHS},
    **{kind.root.name: _sized(kind, "precision") for kind in _PRECISIONS},
    DecimalType.root.name: lambda json: DecimalType(json["precision"], json["scale"]),
    ArrayType.root.name: lambda json: ArrayType(of_type_json(json["elementType"])),
    MultisetType.root.name: lambda json: MultisetType(of_type_json(json["elementType"])),
    MapType.root.name: lambda json: MapType(of_type_json(json["keyType"]), of_type_json(json["valueType"])),
    RowType.root.name: _row,
    YearMonthIntervalType.root.name: _interval,
    DayTimeIntervalType.root.name: _interval,
}
