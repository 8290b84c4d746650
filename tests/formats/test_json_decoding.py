"""JSON that is read straight into rows is read as `from_json` reads it, which knows nothing of that way."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.common.errors import TypeMismatchError
from firesteel.common.typeinfo import RowTypeInfo, TypeInformation, Types
from firesteel.common.types import Row
from firesteel.datastream.formats.json import JsonRowDeserializationSchema, JsonRowSerializationSchema
from firesteel.formats.json import from_json
from firesteel.formats.json_decoding import NO_JSON, JsonDecoder, is_exact

INNER = Types.ROW_NAMED(["n", "a name"], [Types.SHORT(), Types.STRING()])
KINDS: dict[str, TypeInformation] = {
    "text": Types.STRING(),
    "true": Types.BOOLEAN(),
    "byte": Types.BYTE(),
    "int": Types.INT(),
    "long": Types.LONG(),
    "float": Types.FLOAT(),
    "double": Types.DOUBLE(),
    "inner": INNER,
    "texts": Types.LIST(Types.STRING()),
    "rows": Types.OBJECT_ARRAY(INNER),
}
EXACT = Types.ROW_NAMED([*KINDS], [*KINDS.values()])
OTHER = Types.ROW_NAMED(["at", "long"], [Types.SQL_TIMESTAMP(), Types.LONG()])

numbers = st.sampled_from(
    "0 -0 1 1.0 -0.0 0.1 1e3 1.5e3 127 128 -129 2147483648 9223372036854775807 9223372036854775808 "
    f"-9223372036854775808 1e400 -1e400 123456789012345678901234567890.5 {10**400}".split()
)
simple = numbers | st.sampled_from(['"x"', '"42"', '" 7 "', '"true"', '"1e2"', "true", "false", "null", '""'])
values = st.recursive(
    simple,
    lambda inner: (
        st.lists(inner, max_size=2).map(lambda found: f"[{','.join(found)}]")
        | st.dictionaries(st.sampled_from(["n", "a name", "x"]), inner, max_size=3).map(
            lambda found: "{" + ",".join(f'"{name}":{value}' for name, value in found.items()) + "}"
        )
    ),
    max_leaves=4,
)
objects = st.lists(st.tuples(st.sampled_from([*KINDS, "at", "other"]), values), max_size=6).map(
    lambda pairs: "{" + ",".join(f"{json.dumps(name)}:{value}" for name, value in pairs) + "}"
)


def outcome(read: Callable[[], Any]) -> Any:
    try:
        return repr(read())
    except (*NO_JSON, TypeMismatchError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("kind", [EXACT, OTHER, Types.LONG()])
@pytest.mark.parametrize(("strict", "lenient"), [(False, False), (True, False), (False, True)])
@given(text=objects | values | st.sampled_from(["", "{", '{"text":"\ud800"}', "[1,", "nul"]))
def test_a_text_is_read_as_its_values_are(
    kind: TypeInformation, strict: bool, lenient: bool, text: str
) -> None:
    message = text.encode("utf-8", "surrogatepass")
    parser = msgspec.json.Decoder(float_hook=Decimal)
    convert = from_json(kind.schema(), strict, lenient)
    decoder = JsonDecoder(kind.schema(), strict, lenient)
    found = outcome(lambda: decoder.decode(message))
    assert found == outcome(lambda: convert(parser.decode(message)))
    if isinstance(found, str) and found != "None" and is_exact(kind.schema()):
        assert found == repr(kind.compile_coercer()(decoder.decode(message)))
    block = b"\n".join([message, b"", b'{"long": 1}'])
    assert outcome(lambda: decoder.decode_lines(block)) == outcome(
        lambda: [*map(convert, parser.decode_lines(block))]
    )


@pytest.mark.parametrize("kind", KINDS)
def test_values_of_the_type_are_parsed_once(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fits = {"text": "x", "true": True, "inner": {"n": 1}, "texts": ["x", None], "rows": [{"n": 1}, None]}
    decoder = JsonDecoder(Types.ROW_NAMED([kind], [KINDS[kind]]).schema())
    again: list[bytes] = []
    monkeypatch.setattr(decoder, "_convert", again.append)
    decoder.decode(json.dumps({kind: fits.get(kind, 3)}))
    assert again == []


def test_bytes_that_are_no_utf_8_are_a_message_that_does_not_fit() -> None:
    schema = JsonRowDeserializationSchema.builder().type_info(EXACT)
    with pytest.raises(TypeMismatchError, match="requires a JSON object"):
        schema.build().deserialize(b'{"text": "\xff"}')
    assert schema.ignore_parse_errors().build().deserialize(b'{"text": "\xff"}') is None


def test_values_of_an_exact_type_are_not_converted_again_but_those_of_a_subclass_are() -> None:
    class Mine(JsonRowDeserializationSchema):
        def deserialize(self, message: bytes) -> Any:
            return None

    def exact(kind: TypeInformation, schema: type[JsonRowDeserializationSchema]) -> bool:
        assert isinstance(kind, RowTypeInfo)
        return schema(kind, False, False).makes_exact_values

    assert exact(EXACT, JsonRowDeserializationSchema)
    assert not exact(OTHER, JsonRowDeserializationSchema)
    assert not exact(EXACT, Mine)


def test_fields_without_names_are_called_f0_and_so_on() -> None:
    kind = Types.ROW([Types.INT(), Types.SQL_DATE()])
    read = JsonRowDeserializationSchema.builder().type_info(kind).build().deserialize
    row = read(b'{"f1": "2020-01-31", "f0": 7}')
    assert row == Row(f0=7, f1=dt.date(2020, 1, 31))
    write = JsonRowSerializationSchema.builder().with_type_info(kind).build().serialize
    assert write(row) == b'{"f0":7,"f1":"2020-01-31"}'
