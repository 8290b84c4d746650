"""Tuples and rows: fixed fields, each with its own type (Flink: TupleTypeInfo, RowTypeInfo)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from firesteel.common.errors import ProgramError, TypeMismatchError
from firesteel.common.typeinfo.information import Convert, GeneratedCode, Part, TypeInformation, mismatch
from firesteel.common.types import Row, RowKind, make_row


def row_names(schema: dict[str, Any]) -> list[str]:
    """Return the field names of a ROW's schema: f0, f1, ... if it has none."""
    return schema["names"] or [f"f{index}" for index in range(len(schema["fields"]))]


def checked(infos: Sequence[TypeInformation], who: str) -> list[TypeInformation]:
    """Return the given types as a list. Raises ProgramError if one of them is not a type."""
    for info in infos:
        if not isinstance(info, TypeInformation):
            raise ProgramError(
                "requires types such as Types.INT()", who=who, got=f"{type(info).__name__}: {info!r}"
            )
    return list(infos)


class _FieldsTypeInfo(TypeInformation):
    """The common part of tuples and rows."""

    _field_types: list[TypeInformation]

    def get_field_types(self) -> list[TypeInformation]:
        """Return the types of the fields."""
        return self._field_types

    def need_conversion(self) -> bool:
        """Return True: tuples and rows are converted."""
        return True

    def _identity(self) -> Any:
        return tuple(self._field_types)

    def _variables(self) -> list[str]:
        return [f"x{index}" for index in range(len(self._field_types))]

    def _unpacking(self, source: str) -> str:
        return f"    {', '.join(self._variables())}, = {source}\n" if self._field_types else ""


class TupleTypeInfo(_FieldsTypeInfo):
    """A tuple with a type for each field.

    A list or a Row with as many fields becomes a tuple; fields beyond the declared ones are dropped, as Flink's Python
    coders do it.

    >>> from firesteel.common import Types
    >>> Types.TUPLE([Types.STRING(), Types.LONG()])
    TupleTypeInfo(String, Long)
    """

    def __init__(self, field_types: Sequence[TypeInformation]) -> None:
        self._field_types = checked(field_types, "Types.TUPLE")

    def to_string(self, value: Any) -> str:
        """Return `(a,1)`."""
        if value is None:
            return "null"
        fields = (info.to_string(item) for info, item in zip(self._field_types, value, strict=True))
        return f"({','.join(fields)})"

    def schema(self) -> dict[str, Any]:
        """Return the schemas of the fields."""
        return {"type": "TUPLE", "fields": [info.schema() for info in self._field_types]}

    def _names(self) -> dict[str, Any]:
        return {name: value for info in self._field_types for name, value in info._names().items()}

    def _conforms(self, variable: str) -> str | None:
        tests = [f"type({variable}) is tuple", f"len({variable}) == {len(self._field_types)}"]
        for index, info in enumerate(self._field_types):
            test = info._conforms(f"{variable}[{index}]")
            if test is None:
                return None
            tests.append(test)
        return " and ".join(tests)

    def _converter(self) -> Convert:
        code = GeneratedCode()
        code.names.update(as_fields=self._as_fields)
        fields = "".join(
            code.coerced(info, variable) + ", "
            for info, variable in zip(self._field_types, self._variables(), strict=True)
        )
        return code.function(
            f"def convert(value):\n{self._unpacking('as_fields(value)')}    return ({fields})\n"
            if self._field_types
            else "def convert(value):\n    as_fields(value)\n    return ()\n"
        )

    def _as_fields(self, value: Any) -> Sequence[Any]:
        count = len(self._field_types)
        if not isinstance(value, (tuple, list, Row)):
            raise mismatch(f"a tuple of {count} fields", value)
        fields = value if type(value) is tuple else tuple(value)
        if len(fields) < count:
            raise mismatch(f"a tuple of {count} fields", value)
        return fields[:count]

    def _parts(self, value: Any) -> Iterator[Part]:
        if isinstance(value, (tuple, list, Row)):
            for index, (info, item) in enumerate(zip(self._field_types, value, strict=False)):
                yield f"[{index}]", info, item

    def _to_wire(self) -> Convert | None:
        converters = [info._to_wire() for info in self._field_types]
        if not any(converters):
            return None
        return lambda value: [
            item if convert is None else convert(item)
            for convert, item in zip(converters, value, strict=True)
        ]

    def _from_wire(self) -> Convert | None:
        converters = [info._from_wire() for info in self._field_types]
        if not any(converters):
            return tuple
        return lambda data: tuple(
            item if convert is None else convert(item) for convert, item in zip(converters, data, strict=True)
        )

    def to_internal_type(self, obj: Any) -> Any:
        """Return the fields as PyFlink passes them to Java."""
        if obj is None:
            return None
        if not isinstance(obj, (list, tuple, Row)):
            raise ValueError(f"Unexpected tuple {obj!r} with TupleTypeInfo")
        return tuple(info.to_internal_type(item) for info, item in zip(self._field_types, obj, strict=False))

    def __repr__(self) -> str:
        return f"TupleTypeInfo({', '.join(map(str, self._field_types))})"


class RowTypeInfo(_FieldsTypeInfo):
    """A Row with a type, and a name, for each field; the names are f0, f1, ... if none are given.

    A Row with names is read by name, one without by position; fields beyond the declared ones are dropped, as Flink's
    Python coders do it. A tuple or list of exactly as many fields, a dict, or an object with attributes of these names
    becomes a row too (as in PyFlink's `from_collection`). Any field may be None. Types with equal field types are
    equal, with any names, as in Flink.

    >>> from firesteel.common import Types
    >>> Types.ROW([Types.INT()]).coerce(Row(1))
    Row(f0=1)
    """

    def __init__(
        self, field_types: Sequence[TypeInformation], field_names: Sequence[str] | None = None
    ) -> None:
        self._field_types = checked(field_types, "Types.ROW")
        self._named = bool(field_names)
        self._field_names = (
            list(field_names) if field_names else [f"f{index}" for index in range(len(self._field_types))]
        )
        if len(self._field_names) != len(self._field_types):
            raise ProgramError(
                "requires as many names as types",
                who="Types.ROW_NAMED",
                got=f"{len(self._field_names)} names and {len(self._field_types)} types",
            )
        if len(set(self._field_names)) != len(self._field_names):
            raise ProgramError(
                "requires different field names", who="Types.ROW_NAMED", got=str(self._field_names)
            )

    def get_field_names(self) -> list[str]:
        """Return the names of the fields."""
        return self._field_names

    def get_field_index(self, field_name: str) -> int:
        """Return the position of a named field; -1 if the type has default names. Raises ValueError for others."""
        return self._field_names.index(field_name) if self._named else -1

    def to_string(self, value: Any) -> str:
        """Return `+I[a, 1]`."""
        if value is None:
            return "null"
        fields = (info.to_string(item) for info, item in zip(self._field_types, value, strict=True))
        return f"{value.get_row_kind()}[{', '.join(fields)}]"

    def to_print_string(self, value: Any) -> str:
        """Return `+I[a,1]`, with the fields as Python shows them (PyFlink: DataStream.print)."""
        return "None" if value is None else f"{value.get_row_kind()}[{','.join(map(str, value))}]"

    def schema(self) -> dict[str, Any]:
        """Return the schemas of the fields, and their names unless these are the default ones."""
        names = self._field_names if self._named else None
        return {"type": "ROW", "names": names, "fields": [info.schema() for info in self._field_types]}

    def _conforms(self, variable: str) -> None:
        return None

    def _converter(self) -> Convert:
        code = GeneratedCode()
        code.names.update(
            Row=Row, new=Row.__new__, names=self._field_names, insert=RowKind.INSERT,
            select=self._select, as_fields=self._as_fields,
        )  # fmt: skip
        fields = ", ".join(
            code.coerced(info, variable, nullable=True)
            for info, variable in zip(self._field_types, self._variables(), strict=True)
        )
        return code.function(
            "def convert(value):\n"
            "    if type(value) is Row:\n"
            "        fields = value._values\n"
            "        kind = value._row_kind\n"
            f"        if len(fields) != {len(self._field_types)} or value._fields is not None"
            " and value._fields is not names and value._fields != names:\n"
            "            fields = select(value)\n"
            "    else:\n"
            "        fields = as_fields(value)\n"
            "        kind = insert\n"
            f"{self._unpacking('fields')}"
            "    row = new(Row)\n"
            "    row._fields = names\n"
            f"    row._values = [{fields}]\n"
            "    row._row_kind = kind\n"
            "    return row\n"
        )

    def _select(self, row: Row) -> list[Any]:
        names, count = row._fields, len(self._field_types)
        if names is not None and not (self._named or set(self._field_names).issubset(names)):
            names = None  # the type has default names: the row's order applies
        values = row._values
        if names is None:
            if len(values) < count:
                raise mismatch(f"a Row of {count} fields", row)
            return values[:count]
        position = names.index
        try:
            return [values[position(name)] for name in self._field_names]
        except ValueError:
            missing = [name for name in self._field_names if name not in names]
            raise mismatch(f"a Row with the fields {', '.join(missing)}", row) from None

    def _as_fields(self, value: Any) -> Sequence[Any]:
        count = len(self._field_types)
        if isinstance(value, Row):
            return self._select(value)
        if isinstance(value, (tuple, list)):
            if len(value) == count:
                return value
        else:
            fields = value if isinstance(value, dict) else getattr(value, "__dict__", {})
            if any(name in fields for name in self._field_names):
                return [fields.get(name) for name in self._field_names]
        raise mismatch(f"a Row of {count} fields", value)

    def _parts(self, value: Any) -> Iterator[Part]:
        try:
            fields = self._as_fields(value)
        except TypeMismatchError:  # a value that is not a row has no fields
            return
        for name, info, item in zip(self._field_names, self._field_types, fields, strict=False):
            if item is not None:
                yield f".{name}", info, item

    def _to_wire(self) -> Convert:
        converters = [info._to_wire() for info in self._field_types]

        def convert(row: Row) -> list[Any]:
            fields = row._values
            if any(converters):
                fields = [
                    item if convert is None or item is None else convert(item)
                    for convert, item in zip(converters, fields, strict=True)
                ]
            return [row._row_kind.value, fields]

        return convert

    def _from_wire(self) -> Convert:
        converters = [info._from_wire() for info in self._field_types]
        names, kinds, plain = self._field_names, tuple(RowKind), not any(converters)

        def convert(data: Any) -> Row:
            kind, fields = data
            if not plain:
                fields = [
                    item if convert is None or item is None else convert(item)
                    for convert, item in zip(converters, fields, strict=True)
                ]
            return make_row(names, fields, kinds[kind])

        return convert

    def to_internal_type(self, obj: Any) -> Any:
        """Return the row's kind and its fields as PyFlink passes them to Java."""
        if obj is None:
            return None
        kind = obj.get_row_kind() if isinstance(obj, Row) else RowKind.INSERT
        fields = zip(self._field_types, self._as_fields(obj), strict=False)
        return (kind.value, *(info.to_internal_type(item) for info, item in fields))

    def __repr__(self) -> str:
        fields = [str(info) for info in self._field_types]
        if self._named:
            fields = [f"{name}: {text}" for name, text in zip(self._field_names, fields, strict=True)]
        return f"RowTypeInfo({', '.join(fields)})"
