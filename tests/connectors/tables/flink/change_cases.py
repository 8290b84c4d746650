"""What Flink is asked to read as changes of Debezium, Canal and Maxwell: texts of files, by format and options."""

from __future__ import annotations

COLUMNS = "id INT NOT NULL, name STRING, weight DECIMAL(10, 3), `at` TIMESTAMP(3)"

_OLD = '{"id":1,"name":"saw","weight":1.5,"at":"2020-01-02 03:04:05.123"}'
_NEW = '{"id":1,"name":"axe","weight":null,"at":"2020-01-02 03:04:05"}'
_SOURCE = (
    '{"version":"3.6.1","connector":"postgresql","name":"s","ts_ms":1596001099434,"snapshot":"true",'
    '"db":"shop","schema":"inventory","table":"products","txId":601,"xmin":null}'
)

DEBEZIUM = [
    f'{{"before":null,"after":{_NEW},"source":{_SOURCE},"op":"r","ts_ms":1596001099434,"transaction":null}}',
    f'{{"before":null,"after":{_NEW},"op":"c"}}',
    f'{{"after":{_NEW},"op":"c"}}',
    f'{{"before":{_OLD},"after":{_NEW},"op":"u"}}',
    f'{{"op":"u","after":{_NEW},"before":{_OLD}}}',
    f'{{"before":{_OLD},"after":null,"op":"d"}}',
    f'{{"before":{_OLD},"op":"d"}}',
    f'{{"before":{_OLD},"after":{_NEW},"op":"d"}}',
    f'{{"before":null,"after":{_NEW},"op":"u"}}',
    f'{{"before":null,"after":{_NEW},"op":"d"}}',
    f'{{"before":{_OLD},"after":null,"op":"u"}}',
    f'{{"before":{_OLD},"after":null,"op":"c"}}',
    f'{{"before":{_OLD},"after":{_NEW},"op":"t"}}',
    f'{{"before":{_OLD},"after":{_NEW},"op":null}}',
    f'{{"before":{_OLD},"after":{_NEW}}}',
    f'{{"before":{_OLD},"after":{_NEW},"op":"C"}}',
    f'{{"before":{_OLD},"after":{_NEW},"op":7}}',
    '{"before":{},"after":{"name":"axe"},"op":"u"}',
    '{"before":{"id":"7","name":7,"weight":"1.25"},"after":{"id":"x","name":{"a":1}},"op":"u"}',
    '{"before":7,"after":{"id":1},"op":"c"}',
    '{"before":[1],"after":{"id":1},"op":"d"}',
    '{"after":{"id":1,"extra":5},"op":"c","more":[1,{"a":2}]}',
    '{"payload":{"before":null,"after":{"id":1},"op":"c"}}',
    "null",
    "{}",
    "[]",
    "7",
    '{"after":{"id":1},"op":"c"',
    "nonsense",
    f'[{{"after":{_NEW},"op":"c"}},{{"before":{_OLD},"op":"d"}}]',
    f'{{"after":{_NEW},"op":"c"}}\n\n{{"before":{_OLD},"after":{_NEW},"op":"u"}}\n{{"before":{_NEW},"op":"d"}}\n',
    f'{{"after":{_NEW},"op":"c"}}\r\n   \r\n{{"before":{_NEW},"op":"d"}}',
    f'{{"after":{_NEW},"op":"c"}} trailing',
    '{"after":{"id":1,"name":"a"},"after":{"id":2},"op":"c"}',
]
WITH_SCHEMA = [
    f'{{"schema":{{"type":"struct","fields":[]}},"payload":{{"before":null,"after":{_NEW},"source":{_SOURCE},"op":"c"}}}}',
    f'{{"payload":{{"before":{_OLD},"after":{_NEW},"op":"u"}}}}',
    f'{{"schema":null,"payload":{{"before":{_OLD},"op":"d"}}}}',
    f'{{"before":{_OLD},"after":{_NEW},"op":"u"}}',
    '{"schema":{},"payload":null}',
    '{"payload":7}',
]
CANAL = [
    (
        '{"data":[{"id":"1","name":"saw","weight":"1.5","at":"2020-01-02 03:04:05"}],"database":"shop",'
        '"es":1589373515000,'
        '"id":3,"isDdl":false,"mysqlType":{"id":"INTEGER"},"old":null,"pkNames":["id"],"sql":"","sqlType":{"id":4},'
        '"table":"products","ts":1589373515477,"type":"INSERT"}'
    ),
    '{"data":[{"id":"1","name":"saw"},{"id":"2","name":null}],"database":"shop","table":"products","type":"INSERT"}',
    '{"data":[{"id":1,"name":"saw","weight":1.5}],"type":"INSERT"}',
    '{"data":[{"id":"1","name":"axe","weight":"2"}],"old":[{"name":"saw"}],"type":"UPDATE"}',
    '{"data":[{"id":"1","name":"axe","weight":"2"}],"old":[{"name":null}],"type":"UPDATE"}',
    '{"data":[{"id":"1","name":"axe"},{"id":"2","name":"saw"}],"old":[{"name":null},{"id":"3"}],"type":"UPDATE"}',
    '{"data":[{"id":"1","name":"axe"},{"id":"2","name":"saw"}],"old":[{"name":"a"},{"name":"b"}],"type":"UPDATE"}',
    '{"data":[{"id":"1","name":"axe"},{"id":"2","name":"saw"}],"old":[{"name":"a"}],"type":"UPDATE"}',
    '{"data":[{"id":"1","name":"axe"}],"old":[{"name":"a"},{"name":"b"}],"type":"UPDATE"}',
    '{"data":[{"id":"1","name":"axe"}],"old":[{"other":{"name":1}}],"type":"UPDATE"}',
    '{"data":[{"id":"1","name":"axe"}],"old":[{}],"type":"UPDATE"}',
    '{"data":[{"id":"1","name":"axe"}],"old":[null],"type":"UPDATE"}',
    '{"data":[{"id":"1","name":"axe"}],"old":null,"type":"UPDATE"}',
    '{"data":[{"id":"1","name":"axe"}],"type":"UPDATE"}',
    '{"data":[{"id":"1","name":"axe","weight":"0.1"}],"old":null,"type":"DELETE"}',
    '{"data":[{"id":"1"},{"id":"2"}],"database":"other","table":"users","type":"DELETE"}',
    '{"data":null,"database":"shop","isDdl":true,"table":"products","type":"CREATE"}',
    '{"data":null,"type":"ALTER"}',
    '{"data":null,"type":"INSERT"}',
    '{"data":[],"type":"INSERT"}',
    '{"data":[null],"type":"INSERT"}',
    '{"data":[{"id":"x"}],"type":"INSERT"}',
    '{"data":{"id":"1"},"type":"INSERT"}',
    '{"data":[{"id":"1"}],"type":"insert"}',
    '{"data":[{"id":"1"}]}',
    '{"data":[{"id":" 7 ","weight":"1e2"}],"type":"INSERT"}',
    '{"data":[{"id":"0x7","weight":"x"}],"type":"INSERT"}',
    "nonsense",
    "null",
    '{"data":[{"id":"1"}],"type":"INSERT"}\n\n{"data":[{"id":"2"}],"old":[{"id":"1"}],"type":"UPDATE"}\n',
]
MAXWELL = [
    (
        '{"database":"shop","table":"products","type":"insert","ts":1596684883,"xid":7125,"xoffset":0,'
        '"data":{"id":101,"name":"saw","weight":3.14,"at":"2020-01-02 03:04:05"},"primary_key_columns": ["id"]}'
    ),
    '{"type":"update","ts":1596684893,"data":{"id":106,"name":"axe","weight":1.0},"old":{"name":"saw"}}',
    '{"type":"update","data":{"id":106,"name":"axe","weight":1.0},"old":{"name":null}}',
    '{"type":"update","data":{"id":106,"name":"axe","weight":1.0},"old":{"other":{"weight":null}}}',
    '{"type":"update","data":{"id":106,"name":"axe"},"old":{}}',
    '{"type":"update","data":{"id":106,"name":"axe"},"old":null}',
    '{"type":"update","data":{"id":106,"name":"axe"}}',
    '{"type":"update","data":null,"old":{"name":"a"}}',
    '{"type":"delete","data":{"id":111,"name":"saw","weight":5.17}}',
    '{"type":"delete","data":{"id":111},"old":{"id":5}}',
    '{"type":"insert","data":null}',
    '{"type":"insert"}',
    '{"type":"bootstrap-insert","data":{"id":1}}',
    '{"type":null,"data":{"id":1}}',
    '{"data":{"id":1}}',
    '{"type":"insert","data":{"id":"x"}}',
    '{"type":"insert","data":[{"id":1}]}',
    '{"type":"insert","data":{"id":"7","name":7}}',
    "nonsense",
    "null",
    '{"type":"insert","data":{"id":1}}\n{"type":"delete","data":{"id":1}}\n',
]

READ: list[tuple[str, dict[str, str], list[str]]] = [
    ("debezium-json", {}, DEBEZIUM),
    ("debezium-json", {"debezium-json.schema-include": "true"}, WITH_SCHEMA),
    (
        "debezium-json",
        {"debezium-json.timestamp-format.standard": "ISO-8601"},
        [
            '{"after":{"id":1,"at":"2020-01-02T03:04:05.5"},"op":"c"}',
            '{"after":{"id":1,"at":"2020-01-02 03:04:05"},"op":"c"}',
        ],
    ),
    ("canal-json", {}, CANAL),
    ("canal-json", {"canal-json.database.include": "sh.*", "canal-json.table.include": "prod[a-z]+"}, CANAL),
    ("canal-json", {"canal-json.table.include": "prod"}, CANAL[:2]),
    ("maxwell-json", {}, MAXWELL),
]

WRITTEN = (
    "id INT, s STRING, d DECIMAL(10, 3), f DOUBLE, `at` TIMESTAMP(3), a ARRAY<INT>, "
    "m MAP<STRING, INT>, r ROW<x INT, y STRING>"
)
"""The columns of tables that are written; the values are those of `CHANGES`."""

CHANGES = [
    (
        '{"after":{"id":1,"s":"a\\"b","d":1.5,"f":0.1,"at":"2020-01-02 03:04:05.123","a":[1,null],"m":{"k":1},'
        '"r":{"x":1,"y":null}},"op":"c"}'
    ),
    '{"after":{"id":2},"op":"c"}',
    '{"before":{"id":2},"after":{"id":3,"s":"\\u00f6","d":100000000,"f":1e10,"at":"2020-01-02 03:04:05"},"op":"u"}',
    (
        '{"before":{"id":1,"s":"a\\"b","d":1.5,"f":0.1,"at":"2020-01-02 03:04:05.123","a":[1,null],"m":{"k":1},'
        '"r":{"x":1,"y":null}},"op":"d"}'
    ),
]
WRITING: list[dict[str, str]] = [
    {},
    {"timestamp-format.standard": "ISO-8601"},
    {"encode.decimal-as-plain-number": "true"},
    {"encode.ignore-null-fields": "true"},
]
