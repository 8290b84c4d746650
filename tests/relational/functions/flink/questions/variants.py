"""VARIANT: JSON that keeps the types of its values."""

from __future__ import annotations

from .lines import lines

_TARGETS = (
    *("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(10, 2)", "STRING"),
    *("CHAR(3)", "BYTES", "DATE", "TIMESTAMP(3)", "TIMESTAMP_LTZ(3)", "TIME", "ARRAY<INT>", "VARIANT"),
)
_DOCUMENTS = (
    *('{"a": 1, "b": {"c": [1, 2.5, "x"]}, "d": null, "e": true}', "[1, 300, 70000, 5000000000]"),
    *("1", "128", "-1", "300", "-40000", "3000000000", "9223372036854775808", "1.5", "1.50", "1e3", "1E-7"),
    *("123456789012345678901234567890.5", "0.1e0", "-0.0", "true", "null", '"text"', '"a\\u00e4\\n"', " 7 "),
    *("{}", "[]", '{"b": 1, "a": 2}', '{"a": 1, "a": 2}', "", "bad", "[1", "1 2", "{a: 1}", "nan", "1.0"),
    *("1.7976931348623157e308", "1e400", "100.00", "0.30000000000000004", '{"ä": [null, {"z": []}]}'),
)
_PLAIN = """
PARSE_JSON(js)
TRY_PARSE_JSON(js)
TRY_PARSE_JSON(js, TRUE)
TRY_PARSE_JSON(js, FALSE)
PARSE_JSON(js, TRUE)
PARSE_JSON(s)
TRY_PARSE_JSON(s)
TRY_PARSE_JSON(num)
TRY_PARSE_JSON(num2)
TRY_PARSE_JSON(boo)
TRY_PARSE_JSON(c5)
TRY_PARSE_JSON(js)['a']
TRY_PARSE_JSON(js)['b']
TRY_PARSE_JSON(js)['b']['c']
TRY_PARSE_JSON(js)['b']['c'][1]
TRY_PARSE_JSON(js)['b']['c'][3]
TRY_PARSE_JSON(js)['b']['c'][9]
TRY_PARSE_JSON(js)['b']['c'][0]
TRY_PARSE_JSON(js)['zz']
TRY_PARSE_JSON(js)['a b']
TRY_PARSE_JSON(js)[1]
TRY_PARSE_JSON(js)[2]['a']
TRY_PARSE_JSON(js)[t]
TRY_PARSE_JSON(js)[j]
TRY_PARSE_JSON(js)[bi]
TRY_PARSE_JSON(js)[d]
TRY_PARSE_JSON(js)['a']['b']
PARSE_JSON('[1, 2, 3]')[1]
PARSE_JSON('[1, 2, 3]')[3]
PARSE_JSON('[1, 2, 3]')[-1]
PARSE_JSON('[1, 2, 3]')['a']
PARSE_JSON('{"a": 1}')[1]
PARSE_JSON('{"a": 1}')['a']
PARSE_JSON('{"a": {"b": null}}')['a']['b']
PARSE_JSON('{"a": {"b": null}}')['a']['b'] IS NULL
PARSE_JSON('null') IS NULL
PARSE_JSON('{"a": 1}').a
PARSE_JSON('1') = PARSE_JSON('1')
PARSE_JSON('1') < PARSE_JSON('2')
PARSE_JSON('1') = 1
PARSE_JSON('1') + 1
PARSE_JSON('1') IS NOT DISTINCT FROM PARSE_JSON('1')
COALESCE(TRY_PARSE_JSON(js), PARSE_JSON('0'))
CASE WHEN bo THEN TRY_PARSE_JSON(js) ELSE PARSE_JSON('[]') END
JSON_STRING(TRY_PARSE_JSON(js))
JSON_STRING(PARSE_JSON('{"b": [1.50, 1e3, "x\\"y", null, true]}'))
JSON_OBJECT('k' VALUE PARSE_JSON('{"b": 1}'))
JSON_ARRAY(PARSE_JSON('{"b": 1}'))
TYPEOF(PARSE_JSON('1'))
CARDINALITY(PARSE_JSON('[1]'))
ARRAY[PARSE_JSON('1'), PARSE_JSON('"a"')]
MAP['k', PARSE_JSON('1')]
ROW(PARSE_JSON('1'), 2)
PARSE_JSON(i)
PARSE_JSON(NULL)
PARSE_JSON(CAST(NULL AS STRING))
PARSE_JSON()
UPPER(PARSE_JSON('"a"'))
CAST('1' AS VARIANT)
CAST(1 AS VARIANT)
CAST(TRY_PARSE_JSON(js)['a'] AS INT)
TRY_CAST(TRY_PARSE_JSON(js)['a'] AS INT)
CAST(TRY_PARSE_JSON(js)['a'] AS STRING)
CAST(TRY_PARSE_JSON(js)['e'] AS BOOLEAN)
CAST(TRY_PARSE_JSON(js)['b']['c'][2] AS DOUBLE)
CAST(TRY_PARSE_JSON(js)['b']['c'][2] AS DECIMAL(10, 2))
"""


def variants() -> list[str]:
    """Return the questions about VARIANT."""
    found = [f"{name}('{text}')" for text in _DOCUMENTS for name in ("PARSE_JSON", "TRY_PARSE_JSON")]
    found += lines(_PLAIN)
    return found + [
        f"{cast}(PARSE_JSON('1') AS {kind})" for kind in _TARGETS for cast in ("CAST", "TRY_CAST")
    ]
