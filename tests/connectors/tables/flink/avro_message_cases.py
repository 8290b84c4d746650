"""What Flink is asked about messages of Avro: alone, in Avro's JSON, and with the ids of their schemas."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import fastavro
from message_questions import REGISTRY, Question, decode, encode

ALL = (
    "b BOOLEAN, t TINYINT NOT NULL, s SMALLINT, i INT, l BIGINT, f FLOAT, d DOUBLE, c STRING, y BYTES, "
    "ts TIMESTAMP(3), da DATE, ti TIME(0), de DECIMAL(20, 3), r ROW<x INT, y STRING NOT NULL>, a ARRAY<STRING>, "
    "m MAP<STRING, BIGINT>, n ARRAY<ARRAY<INT NOT NULL>>, u MULTISET<STRING>"
)
ALL_ROWS = [
    (
        '{"b": true, "t": -3, "s": 300, "i": 2147483647, "l": -9223372036854775808, "f": 1.5, "d": -2.25, "c": "aé", '
        '"y": "AP8=", "ts": "2020-01-02 03:04:05.123", "da": "1969-01-01", "ti": "01:02:03", "de": -123456789012.345, '
        '"r": {"x": 1, "y": "z"}, "a": ["p", null, ""], "m": {"k": 5}, "n": [[1], null, []], "u": {"w": 2}}'
    ),
    '{"t": 0}',
    (
        '{"b": false, "t": 127, "i": -2147483648, "l": 9223372036854775807, "f": 0.0, "d": 1e300, "c": "", "y": "", '
        '"ts": "1900-01-02 00:00:00", "da": "2100-01-01", "ti": "00:00:00", "de": 0.128, "r": {"y": "q"}, "a": [], '
        '"m": {}, "n": [], "u": {}}'
    ),
    '{"t": 1, "de": -1, "m": {"k": null}}',
    '{"t": 1, "de": 12345678901234567.891}',
    '{"t": null}',
    '{"t": 1, "r": {"x": 1}}',
    '{"t": 1, "de": -0.128}',
]
LATER = "a TIMESTAMP(6), c TIMESTAMP_LTZ(3), d TIMESTAMP_LTZ(6), e TIMESTAMP(3)"
LATER_ROWS = [
    (
        '{"a": "2020-01-02 03:04:05.123456", "c": "2020-01-02 03:04:05.123Z", '
        '"d": "1969-12-31 23:59:59.999999Z", "e": "1969-12-31 23:59:59.999"}'
    ),
    "{}",
]
REFUSED = [
    "a TIMESTAMP(6)",
    "a TIME(6)",
    "a TIMESTAMP(9)",
    "a TIMESTAMP_LTZ(3)",
    "a MAP<INT, INT>",
    "a INTERVAL DAY(3) TO SECOND(3)",
    "a CHAR(3)",
    "a BINARY(2)",
    "a ROW<t TIMESTAMP(6)>",
    "a ARRAY<TIMESTAMP(6)>",
]


def datum(schema: Any, value: Any) -> bytes:
    """Return a record of Avro."""
    file = io.BytesIO()
    fastavro.schemaless_writer(file, fastavro.parse_schema(schema), value)
    return file.getvalue()


def record(*fields: Any, name: str = "r") -> dict[str, Any]:
    named = [field if isinstance(field, dict) else {"name": field[0], "type": field[1]} for field in fields]
    return {"type": "record", "name": name, "fields": named}


DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}
FIXED = {"type": "fixed", "name": "f", "size": 4}
ENUM = {"type": "enum", "name": "e", "symbols": ["A", "B"]}
MILLIS = {"type": "long", "logicalType": "timestamp-millis"}
MICROS = {"type": "long", "logicalType": "timestamp-micros"}
WRITTEN: list[tuple[str, Any, list[Any]]] = [
    (
        "a INT, b STRING",
        record(("b", "string"), ("a", "int"), ("c", "double")),
        [{"a": 1, "b": "x", "c": 2.0}],
    ),
    ("a INT, b STRING", record(("a", "int")), [{"a": 1}]),
    ("a INT, b STRING NOT NULL", record(("a", "int")), [{"a": 1}]),
    ("a BIGINT", record(("a", "int")), [{"a": -5}]),
    ("a DOUBLE", record(("a", "long")), [{"a": 5}]),
    ("a FLOAT", record(("a", "int")), [{"a": 5}]),
    ("a DOUBLE", record(("a", "float")), [{"a": 1.5}]),
    ("a INT", record(("a", "long")), [{"a": 5}]),
    ("a STRING", record(("a", "bytes")), [{"a": b"x"}]),
    ("a BYTES", record(("a", "string")), [{"a": "x"}]),
    ("a STRING", record(("a", "int")), [{"a": 5}]),
    ("a STRING", record(("a", ["null", "string", "int"])), [{"a": None}, {"a": "x"}, {"a": 5}]),
    ("a STRING NOT NULL", record(("a", ["null", "string"])), [{"a": "x"}, {"a": None}]),
    ("a STRING", record(("a", ["string", "null"])), [{"a": "x"}, {"a": None}]),
    ("a STRING", record(("a", ENUM)), [{"a": "B"}]),
    ("a BYTES", record(("a", FIXED)), [{"a": b"abcd"}]),
    ("a DECIMAL(10, 2)", record(("a", DECIMAL)), [{"a": Decimal("-1.25")}]),
    ("a TIMESTAMP(3)", record(("a", MILLIS)), [{"a": 1577934245123}]),
    ("a TIMESTAMP(3)", record(("a", "long")), [{"a": 1577934245123}]),
    ("a DATE", record(("a", {"type": "int", "logicalType": "date"})), [{"a": 18000}]),
    ("a TIME", record(("a", {"type": "int", "logicalType": "time-millis"})), [{"a": 3723004}]),
    (
        "a ROW<x INT, y STRING>",
        record(("a", ["null", record(("y", "string"), ("x", "int"), name="inner")])),
        [{"a": None}, {"a": {"x": 1, "y": "z"}}],
    ),
    (
        "a ARRAY<BIGINT>, m MAP<STRING, DOUBLE>",
        record(("a", {"type": "array", "items": "int"}), ("m", {"type": "map", "values": "float"})),
        [{"a": [1, 2], "m": {"k": 1.5}}, {"a": [], "m": {}}],
    ),
    ("a TINYINT", record(("a", "int")), [{"a": 300}]),
    ("a ARRAY<INT>", record(("a", "int")), [{"a": 300}]),
    ("a ROW<x INT>", record(("a", "int")), [{"a": 300}]),
]
GIVEN = {
    "a STRING NOT NULL": record(("a", ENUM)),
    "a STRING": record(("a", ["null", ENUM])),
    "a VARBINARY(4) NOT NULL": record(("a", FIXED)),
    "a INT": record(("a", "int")),
    "a INT NOT NULL": record(("a", "int")),
    "a BIGINT NOT NULL": record(("a", MILLIS)),
    "b INT NOT NULL": record(("a", "int")),
}
"""By columns, the schema that an option gives."""


def confluent(number: int, data: bytes) -> bytes:
    return b"\x00" + number.to_bytes(4, "big") + data


def _avro() -> Iterator[Question]:
    yield encode("avro", ALL, ALL_ROWS)
    yield encode("avro", LATER, LATER_ROWS, **{"timestamp_mapping.legacy": "false"})
    later = "a ARRAY<TIMESTAMP(3)>, m MAP<STRING, TIMESTAMP(3)>, r ROW<t TIMESTAMP(6)>"
    rows = [
        '{"a": ["2020-01-02 03:04:05"], "m": {"k": "2020-01-02 03:04:05"}, "r": {"t": "2020-01-02 03:04:05"}}'
    ]
    yield encode("avro", later, rows, **{"timestamp_mapping.legacy": "false"})
    for columns in REFUSED:
        for legacy in ("true", "false"):
            yield encode("avro", columns, ["{}"], **{"timestamp_mapping.legacy": legacy})
    schema = record(("a", ["null", "int"]), ("b", ["null", "string"]))
    whole = datum(schema, {"a": 300, "b": "x"})
    bad = [whole, None, b"", whole[:-1], whole + b"\x07", b"\x04\x00", b"\x02\xff\xff\xff\xff\xff\xff\x00"]
    yield decode("avro", "a INT, b STRING", [*bad, b"\x00\x02\x02\xff", b"\x00\x02\x01"])


def _avro_json() -> Iterator[Question]:
    """Avro's own JSON: a value that may be null has its type beside it."""
    later = {"timestamp_mapping.legacy": "false", "encoding": "json"}
    yield encode("avro", ALL, ALL_ROWS, encoding="json")
    yield encode("avro", "c TIMESTAMP_LTZ(3), e TIMESTAMP(3)", ['{"c": "2020-01-02 03:04:05.123Z"}'], **later)
    rows = [
        json.dumps({"f": 0.1, "d": 1e7, "c": '\u0000\u001f\u007f"\\/\b\f\n\r\té€😀', "y": "AAEKIn+A/1w="}),
        '{"f": "NaN", "d": "Infinity"}',
        '{"f": "-Infinity", "d": 1e-300}',
        '{"f": 16777217, "d": 123456789012345678}',
        '{"f": 3.4028235e38, "d": 0.001}',
        '{"f": -0.0, "d": -0.0}',
    ]
    yield encode("avro", "f FLOAT, d DOUBLE, c STRING, y BYTES", rows, encoding="json")
    yield decode("avro", "a INT, b STRING NOT NULL", [*map(_utf8, AVRO_JSON)], encoding="json")
    numbers = [
        "1",
        "1.0",
        "1.9",
        "-1.9",
        "1e2",
        "true",
        '"1"',
        '"NaN"',
        '"Infinity"',
        "NaN",
        "3000000000",
        "1e400",
        "null",
    ]
    for name, kind in (
        ("int", "INT"),
        ("long", "BIGINT"),
        ("float", "FLOAT"),
        ("double", "DOUBLE"),
        ("boolean", "BOOLEAN"),
    ):
        yield decode(
            "avro",
            f"n {kind}",
            [_utf8(f'{{"n": {{"{name}": {number}}}}}') for number in numbers],
            encoding="json",
        )
    texts = ['"a"', '"\\u00ff"', '"\\u0100"', '"é"', "1", '""']
    for name, kind in (("bytes", "BYTES"), ("string", "STRING")):
        yield decode(
            "avro", f"n {kind}", [_utf8(f'{{"n": {{"{name}": {text}}}}}') for text in texts], encoding="json"
        )
    nested = (
        '{"r": {"org.apache.flink.avro.generated.record_r": {"x": {"int": 1}}}, "a": [{"string": "p"}, null], '
        '"m": {"k": {"long": 5}}, "ts": 1577934245123}'
    )
    columns = (
        "r ROW<x INT>, a ARRAY<STRING> NOT NULL, m MAP<STRING, BIGINT> NOT NULL, ts TIMESTAMP(3) NOT NULL"
    )
    messages = [
        nested,
        nested.replace("org.apache.flink.avro.generated.", ""),
        nested.replace("[", "{").replace("]", "}"),
    ]
    yield decode("avro", columns, [*map(_utf8, messages)], encoding="json")


AVRO_JSON = [
    '{"a": {"int": 1}, "b": "x"}',
    '{"b": "x", "a": null}',
    ' \n{"a": {"int": 1}, "b": "x"} and more',
    '{"a": {"int": 1}, "b": "x"}{"a": {"int": 2}, "b": "y"}',
    '[{"a": {"int": 1}, "b": "x"}]',
    "",
    " ",
    "null",
    "{}",
    '{"a": {"int": 1}}',
    '{"b": "x"}',
    '{"a": 1, "b": "x"}',
    '{"a": {"long": 1}, "b": "x"}',
    '{"a": {}, "b": "x"}',
    '{"a": {"int": 1, "long": 2}, "b": "x"}',
    '{"a": {"null": null}, "b": "x"}',
    '{"a": null, "b": null}',
    '{"a": null, "b": {"string": "x"}}',
    '{"a": null, "b": "x", "c": 1}',
    '{"c": {"d": [1]}, "a": null, "b": "x"}',
    '{"a": null, "c": 1, "b": "x"}',
    '{"a": null, "b": "x", "b": "y"}',
    '{"a": null, "b": "x"',
    "{'a': null, 'b': 'x'}",
    '{"a": null, "b": "x", }',
    '{"A": null, "b": "x"}',
]


def _utf8(text: str) -> bytes:
    return text.encode()


def _registry() -> Iterator[Question]:
    url = {"url": REGISTRY}
    for number, (columns, schema, values) in enumerate(WRITTEN, 100):
        messages = [confluent(number, datum(schema, value)) for value in values]
        yield {**decode("avro-confluent", columns, messages, **url), "schemas": {number: json.dumps(schema)}}
    schema = record(("a", "int"))
    bad = [b"", b"\x00\x00\x00", b"\x01\x00\x00\x00\x63\x02", confluent(98, b"\x02"), confluent(99, b"\x02")]
    question = decode("avro-confluent", "a INT", [*bad, confluent(99, b""), None], **url)
    yield {**question, "schemas": {99: json.dumps(schema)}}
    for columns, schema in GIVEN.items():
        given = {"schema": json.dumps(schema), "subject": "given", **url}
        name = columns[0]
        value = b"abcd" if "VARBINARY" in columns else "B" if "STRING" in columns else 5
        messages = [confluent(97, datum(schema, {"a": value}))]
        yield {**decode("avro-confluent", columns, messages, **given), "schemas": {97: json.dumps(schema)}}
        shown = '"YWJjZA=="' if "VARBINARY" in columns else '"B"' if "STRING" in columns else "5"
        yield encode("avro-confluent", columns, [f'{{"{name}": {shown}}}'], **given)
    yield encode("avro-confluent", "a INT, b STRING", ['{"a": 1}'], subject="s-1", **url)
    yield encode("avro-confluent", "a INT, b STRING", ['{"a": 1}'], **url)
    columns = "id INT NOT NULL, name STRING"
    changes = [[kind, '{"id": 1, "name": "x"}'] for kind in ("+I", "-U", "+U", "-D")]
    yield encode("debezium-avro-confluent", columns, changes, subject="s-2", **url)
    yield from _debezium(columns, url)


def _debezium(columns: str, url: dict[str, str]) -> Iterator[Question]:
    row = record(("id", "int"), ("name", ["null", "string"]), name="Value")
    source = record(("db", "string"), ("table", "string"), ("ts_ms", "long"), name="Source")
    fields = [("before", ["null", row]), ("after", ["null", "Value"]), ("source", source), ("op", "string")]
    schema = record(*fields, ("ts_ms", ["null", "long"]), name="Envelope")
    known = {"db": "d", "table": "t", "ts_ms": 1577934245123}
    one, two = {"id": 1, "name": "x"}, {"id": 1, "name": None}
    values = [("c", None, one), ("r", None, one), ("u", one, two), ("d", two, None), ("u", None, one)]
    values += [("d", None, None), ("t", None, None)]
    messages: list[bytes | None] = [
        confluent(
            50,
            datum(schema, {"op": op, "before": old, "after": new, "source": known, "ts_ms": 1577934245124}),
        )
        for op, old, new in values
    ]
    question = decode("debezium-avro-confluent", columns, [*messages, None, b""], **url)
    yield {**question, "schemas": {50: json.dumps(schema)}}


def questions() -> Iterator[Question]:
    """Yield all of them."""
    yield from _avro()
    yield from _avro_json()
    yield from _registry()
