"""What Flink is asked about single messages, but for those of Protocol Buffers."""

from __future__ import annotations

from collections.abc import Iterator

import avro_message_cases
from message_questions import Question, decode, encode

JSON_MESSAGES = [
    b'{"a": 1, "b": "x"}',
    None,
    b"",
    b" ",
    b"\n",
    b'[{"a": 1}, {"a": 2, "b": "y"}]',
    b"[]",
    b'{\n  "a": 1,\n  "b": "x"\n}\n',
    b'\n{"a": 1}',
    b'{"a": 1}\n{"a": 2}',
    b'{"a": 1, "b": "x\ny"}',
    b'{"a": 1, "b": "x\\ny\r"}',
    b'{"a": 1',
    b"null",
    b"7",
    b'{"a": "one"}',
    b'{"b": "\xff"}',
    b'\xef\xbb\xbf{"a": 1}',
]
CSV_MESSAGES = [
    b"1,x",
    None,
    b"",
    b" ",
    b"\n",
    b"1,x\n",
    b"1,x\n2,y",
    b"\n1,x",
    b'1,"x\ny"',
    b'1,"x"\n',
    b'1,"x',
    b'1,"x"y',
    b"1",
    b"1,x,y",
    b"#1,x",
    b"one,x",
    b"1,\xff",
    b"1,x\r\n",
    b'"1","a,b"',
]
RAW = {
    "STRING": ([b"x", None, b"", b"\xff", "é".encode()], ['"x"', '""', '"é"', "null"]),
    "BYTES": ([b"x", None, b""], ['"eA=="', "null"]),
    "BOOLEAN": ([b"\x00", b"\x01", b"\x07", None, b"", b"\x00\x01"], ["true", "false", "null"]),
    "TINYINT": ([b"\xff", b"\x7f", b"", b"\x00\x00"], ["-1", "127"]),
    "SMALLINT": ([b"\x01\x02", b"\x01"], ["258"]),
    "INT": ([b"\x01\x02\x03\x04", b"\xff\xff\xff\xff", None, b"\x01"], ["16909060", "-1", "null"]),
    "BIGINT": ([b"\x00\x00\x00\x00\x00\x00\x01\x02"], ["258", "-2"]),
    "FLOAT": ([b"\x3f\xc0\x00\x00"], ["1.5"]),
    "DOUBLE": ([b"\x3f\xf8\x00\x00\x00\x00\x00\x00"], ["1.5"]),
}


def questions() -> Iterator[Question]:
    """Yield all questions but those about Protocol Buffers."""
    for lenient in ("false", "true"):
        options = {"ignore-parse-errors": lenient}
        yield decode("json", "a INT, b STRING", JSON_MESSAGES, **options)
        yield decode("csv", "a INT, b STRING", CSV_MESSAGES, **options)
        yield decode("csv", "a INT, b STRING", CSV_MESSAGES, **{"allow-comments": "true", **options})
        yield decode("csv", "a INT, b STRING", CSV_MESSAGES, **{"disable-quote-character": "true", **options})
        for form in ("debezium-json", "canal-json", "maxwell-json"):
            yield decode(form, "id INT, name STRING", CHANGES[form], **options)
    yield encode("json", "a INT, b STRING", ['{"a": 1, "b": "x"}', "{}"])
    yield encode("csv", "a INT, b STRING", ['{"a": 1, "b": "x y"}', "{}"])
    for kind, (messages, values) in RAW.items():
        for options in ({}, {"endianness": "little-endian"}):
            yield decode("raw", f"v {kind}", messages, **options)
            yield encode("raw", f"v {kind}", [f'{{"v": {value}}}' for value in values], **options)
    yield decode("raw", "v STRING", [b"\xe9", b"x"], charset="ISO-8859-1")
    yield encode("raw", "v STRING", ['{"v": "é€"}'], charset="ISO-8859-1")
    yield decode("raw", "v STRING, w STRING", [b"x"])
    yield decode("raw", "v DATE", [b"x"])
    yield from avro_message_cases.questions()


CHANGES: dict[str, list[bytes | None]] = {
    "debezium-json": [
        b'{"before": null, "after": {"id": 1, "name": "x"}, "op": "c"}',
        None,
        b"",
        b"{}",
        b'{"before": {"id": 1},\n "after": {"id": 1, "name": "x"},\n "op": "u"}',
        b'{"after": {"id": 1}, "op": "u"}',
        b"x",
    ],
    "canal-json": [
        b'{"data": [{"id": "1", "name": "x"}, {"id": "2"}], "type": "INSERT"}',
        None,
        b"",
        b'{"data": [{"id": "1", "name": "x"}],\n "old": [{"name": "y"}],\n "type": "UPDATE"}',
        b'{"data": null, "type": "CREATE"}',
        b"x",
    ],
    "maxwell-json": [
        b'{"data": {"id": 1, "name": "x"}, "type": "insert"}',
        None,
        b"",
        b'{"data": {"id": 1, "name": "x"},\n "old": {"name": "y"},\n "type": "update"}',
        b'{"data": {"id": 1, "name": "x"}, "type": "other"}',
    ],
}
