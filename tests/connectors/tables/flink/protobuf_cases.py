"""What Flink is asked about messages of Protocol Buffers (shop.proto, old_shop.proto)."""

from __future__ import annotations

from collections.abc import Iterator

from message_questions import Question, decode, encode

ORDER = {"message-class-name": "shop.Order"}
THING = {"message-class-name": "oldshop.Thing"}
ORDERS = (
    "id BIGINT, name STRING, note STRING, kind STRING, paid BOOLEAN, small INT, large BIGINT, weight FLOAT, "
    "price DOUBLE, data BYTES, item ROW<name STRING, `count` INT, price DOUBLE>, "
    "items ARRAY<ROW<name STRING, `count` INT>>, numbers ARRAY<INT>, counts MAP<STRING, BIGINT>, "
    "by_name MAP<STRING, ROW<name STRING>>, word STRING, number INT, zigzag INT, fixed BIGINT, kinds ARRAY<STRING>"
)
THINGS = "id BIGINT, name STRING, `count` INT, words ARRAY<STRING>, inner ROW<yes BOOLEAN>, labels MAP<STRING, STRING>"
WHOLE = (
    '{"id": 5, "name": "x", "note": "n", "kind": "OLD", "paid": true, "small": -1, "large": -2, "weight": 1.5, '
    '"price": 2.5, "data": "AP8=", "item": {"name": "i", "count": 2, "price": 0.5}, '
    '"items": [{"name": "j", "count": 3}, null, {"name": null}], "numbers": [1, null, -1], '
    '"counts": {"k": 7, "n": null}, "by_name": {"p": {"name": "q"}, "r": null}, '
    '"word": "w", "zigzag": -3, "fixed": -4, "kinds": ["NEW", null, "OTHER"]}'
)
BYTES = [
    "",
    "0805",
    "08051201781a016e2002280130ffffffff0f38feffffffffffffffff01",
    "450000c03f49000000000000044052020 0ff".replace(" ", ""),
    "5a0d0a0169100219000000000000e03f",
    "5a00",
    "62050a016a1003",
    "6203 0a016b6200".replace(" ", ""),
    "6a0301ac02",
    "6801",
    "68016802",
    "72050a016b1007",
    "7200",
    "aa01080a017a12030a0179",
    "aa01030a017a",
    "8201 0177 8801 05".replace(" ", ""),
    "8801 05 8201 0177".replace(" ", ""),
    "900105 9901fcffffffffffffff".replace(" ", ""),
    "2007",
    "a20103010207",
    "1a00",
    "fa0101ff",
    "08",
    "0a0178",
    "1201ff",
]
OLD = [
    "0805",
    "",
    "0805120178",
    "08051a00",
    "0805220161220162",
    "08052a00",
    "08052a020800",
    "080532060a016b120176",
]


def _bytes(texts: list[str]) -> list[bytes | None]:
    return [*map(bytes.fromhex, texts), None]


def protobuf_questions() -> Iterator[Question]:
    """Yield the questions."""
    for options in ({}, {"read-default-values": "true"}, {"ignore-parse-errors": "true"}):
        yield decode("protobuf", ORDERS, _bytes(BYTES), **ORDER, **options)
        yield decode("protobuf", THINGS, _bytes(OLD), **THING, **options)
    yield decode(
        "protobuf", "kind INT, kinds ARRAY<BIGINT>", _bytes(["2002", "2007", "a20103010207"]), **ORDER
    )
    rows = [
        WHOLE,
        "{}",
        '{"word": "w", "number": 5}',
        '{"kind": "NONE"}',
        '{"items": [], "counts": {}}',
        '{"item": {}}',
    ]
    yield encode("protobuf", ORDERS, rows, **ORDER)
    yield encode("protobuf", ORDERS, [WHOLE], **ORDER, **{"write-null-string-literal": "NULL"})
    yield encode("protobuf", "kind INT", ['{"kind": 2}', '{"kind": 7}'], **ORDER)
    things = [
        '{"id": 1}',
        '{"id": 1, "name": "none", "count": 0, "words": ["a", null], "labels": {"k": null}}',
        "{}",
    ]
    yield encode("protobuf", THINGS, things, **THING, **{"write-null-string-literal": "NULL"})
    for columns in (
        "other INT",
        "id INT",
        "name BYTES",
        "item INT",
        "numbers INT",
        "counts ARRAY<INT>",
        "kind DOUBLE",
    ):
        yield decode("protobuf", columns, [], **ORDER)
