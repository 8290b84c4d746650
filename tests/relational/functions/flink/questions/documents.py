"""Functions of JSON."""

from __future__ import annotations

from .lines import lines

PATHS = (
    "$.a", "lax $.a", "strict $.a", "$.b.c", "lax $.b.c", "$.b.c[0]", "$[1].a", "lax $[1].a", "$.b.c[*]",
    "lax $.b.c[*]", "$..c", "lax $..c", "$", "lax $", "$[0]", "lax $[5]", "$['a b']", "$.a[?(@.c > 1)]",
    "lax $.a[?(@.c > 1)].c", "$.b.c[-1]", "$.b.c[0,1]", "$.b.c[1:]", "$.a.length()", "$.*", "lax $.*", "a", "$.ä",
    "$.d", "lax $.d", "$.e", "$.A", "$.b",
)  # fmt: skip
MORE = """
JSON_EXISTS(js, 'strict $.a' TRUE ON ERROR)
JSON_EXISTS(js, 'strict $.a' UNKNOWN ON ERROR)
JSON_EXISTS(js, 'strict $.a' ERROR ON ERROR)
JSON_EXISTS(js, 'lax $.a' ERROR ON ERROR)
JSON_EXISTS(js, t)
JSON_EXISTS('{"a": 1}', '$.a')
JSON_VALUE(js, '$.a' RETURNING INTEGER)
JSON_VALUE(js, '$.a' RETURNING DOUBLE)
JSON_VALUE(js, '$.e' RETURNING BOOLEAN)
JSON_VALUE(js, '$.b.c[0]' RETURNING INTEGER)
JSON_VALUE(js, '$.b.c[1]' RETURNING DOUBLE)
JSON_VALUE(js, '$.a' RETURNING BIGINT)
JSON_VALUE(js, '$.a' RETURNING STRING)
JSON_VALUE(js, '$.a' RETURNING VARCHAR(3))
JSON_VALUE(js, 'lax $.z' DEFAULT 'none' ON EMPTY)
JSON_VALUE(js, 'lax $.z' ERROR ON EMPTY)
JSON_VALUE(js, 'lax $.z' NULL ON EMPTY DEFAULT 'wrong' ON ERROR)
JSON_VALUE(js, 'strict $.z' DEFAULT 'wrong' ON ERROR)
JSON_VALUE(js, 'strict $.z' ERROR ON ERROR)
JSON_VALUE(js, 'strict $.b' DEFAULT 'none' ON EMPTY DEFAULT 'wrong' ON ERROR)
JSON_VALUE(js, 'lax $.a' RETURNING INTEGER DEFAULT 7 ON EMPTY)
JSON_VALUE(js, 'lax $.a' DEFAULT s ON EMPTY)
JSON_VALUE(js, s)
JSON_VALUE(s, '$')
JSON_VALUE('{"a": 1}', '$.a')
JSON_VALUE('{"a": [1]}', '$.a')
JSON_QUERY(js, 'lax $.b.c' WITHOUT WRAPPER)
JSON_QUERY(js, 'lax $.b.c' WITHOUT ARRAY WRAPPER)
JSON_QUERY(js, 'lax $.b.c' WITH CONDITIONAL WRAPPER)
JSON_QUERY(js, 'lax $.b.c' WITH CONDITIONAL ARRAY WRAPPER)
JSON_QUERY(js, 'lax $.b.c' WITH UNCONDITIONAL WRAPPER)
JSON_QUERY(js, 'lax $.a' WITH WRAPPER)
JSON_QUERY(js, 'lax $.a' NULL ON EMPTY)
JSON_QUERY(js, 'lax $.a' EMPTY ARRAY ON EMPTY)
JSON_QUERY(js, 'lax $.a' EMPTY OBJECT ON EMPTY)
JSON_QUERY(js, 'lax $.a' ERROR ON EMPTY)
JSON_QUERY(js, 'strict $.a' EMPTY ARRAY ON ERROR)
JSON_QUERY(js, 'strict $.a' EMPTY OBJECT ON ERROR)
JSON_QUERY(js, 'strict $.a' ERROR ON ERROR)
JSON_QUERY(js, 'lax $.z' EMPTY ARRAY ON EMPTY EMPTY OBJECT ON ERROR)
JSON_QUERY(js, 'lax $.b.c' RETURNING ARRAY<STRING>)
JSON_QUERY(js, 'lax $.a' RETURNING ARRAY<STRING> WITH WRAPPER)
JSON_QUERY('{"a": [1]}', '$.a')
JSON_STRING('it''s "x" \\ /')
JSON_STRING(CAST(NULL AS INT))
JSON_STRING(ROW(i, s))
JSON_STRING(ARRAY[ro, ro])
JSON_STRING(MAP['b', 1, 'a', 2])
JSON_STRING(iy)
JSON_QUOTE(s)
JSON_QUOTE(js)
JSON_QUOTE(num)
JSON_UNQUOTE(js)
JSON_UNQUOTE(s)
JSON_UNQUOTE(JSON_QUOTE(s))
JSON_UNQUOTE('"a\\u00e4\\n"')
JSON_OBJECT()
JSON_OBJECT(KEY 'a' VALUE i)
JSON_OBJECT('a' VALUE s, 'b' VALUE i)
JSON_OBJECT('b' VALUE s, 'a' VALUE i NULL ON NULL)
JSON_OBJECT('b' VALUE s, 'a' VALUE i ABSENT ON NULL)
JSON_OBJECT('a' VALUE JSON_OBJECT('b' VALUE i))
JSON_OBJECT('a' VALUE JSON_ARRAY(i, s))
JSON_OBJECT('a' VALUE JSON_STRING(i))
JSON_OBJECT('a' VALUE js)
JSON_OBJECT('a' VALUE JSON(js))
JSON_OBJECT('a' VALUE 1, 'a' VALUE 2)
JSON_OBJECT(s VALUE i)
JSON_OBJECT(KEY s VALUE i)
JSON_OBJECT('a' VALUE d, 'b' VALUE dc, 'c' VALUE bo, 'd' VALUE ts, 'e' VALUE da)
JSON_OBJECT('a' VALUE ar, 'b' VALUE ma, 'c' VALUE ro)
JSON_ARRAY()
JSON_ARRAY(1, 'a', TRUE, NULL)
JSON_ARRAY(i, s)
JSON_ARRAY(i, s NULL ON NULL)
JSON_ARRAY(i, s ABSENT ON NULL)
JSON_ARRAY(JSON_ARRAY(i), JSON_OBJECT('x' VALUE s))
JSON_ARRAY(d, f, dc, bo, ts, lz)
JSON_ARRAY(JSON_STRING(i), js)
JSON_ARRAY(CAST(NULL AS INT) NULL ON NULL)
JSON(js)
JSON_LENGTH(js)
"""


def documents() -> list[str]:
    """Return functions of JSON."""
    read = [
        f"{function}(js, '{path.replace(chr(39), chr(39) * 2)}')"
        for function in ("JSON_EXISTS", "JSON_VALUE", "JSON_QUERY")
        for path in PATHS
    ]
    tests = [
        f"{name} IS {no}JSON{kind}"
        for name in ("js", "s")
        for no in ("", "NOT ")
        for kind in ("", " VALUE", " SCALAR", " ARRAY", " OBJECT")
    ]
    written = [
        f"JSON_STRING({name})"
        for name in ("bo", "ti", "i", "bi", "f", "d", "e", "dc", "dd", "s", "c5", "bs", "ts0", "ts", "ts9", "lz",
                     "lz9", "da", "tm", "ar", "sa", "ma", "ro", "js")
    ]  # fmt: skip
    return read + tests + written + lines(MORE)
