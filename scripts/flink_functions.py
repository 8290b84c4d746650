"""Asks Flink for the functions of its SQL: `python scripts/flink_functions.py > scripts/flink_functions.json`.

The interpreter must have `apache-flink` installed (2.3.0 for the list that is kept), and Java 17 must be on the PATH.
Names and signatures are those of `BuiltInFunctionDefinitions`; what its SQL has besides, and what has a form of its own
there, is listed here. `scripts/functions_page.py` makes a page of the list.
"""

from __future__ import annotations

import json
import sys
from typing import Any

CATEGORIES = {
    "Comparison": "= <> > >= < <= IS_NULL IS_NOT_NULL BETWEEN LIKE SIMILAR_TO IN",
    "Logic": "AND OR NOT IS_TRUE IS_FALSE IS_NOT_TRUE IS_NOT_FALSE",
    "Arithmetic": "+ - * / % ABS EXP FLOOR CEIL LOG10 LOG2 LN LOG POWER SQRT SIN COS SINH TAN TANH COT ASIN ACOS ATAN "
    "ATAN2 COSH DEGREES RADIANS SIGN ROUND PI E RAND RAND_INTEGER BIN HEX UNHEX TRUNCATE UUID",
    "Text": "CHAR_LENGTH INITCAP LOWER STARTSWITH ENDSWITH SUBSTRING SUBSTR REPLACE TRANSLATE TRIM UPPER POSITION "
    "OVERLAY CONCAT CONCAT_WS LPAD RPAD REGEXP_COUNT REGEXP_EXTRACT REGEXP_EXTRACT_ALL REGEXP_INSTR REGEXP_SUBSTR "
    "FROM_BASE64 TO_BASE64 ASCII CHR DECODE ENCODE LEFT RIGHT INSTR LOCATE PARSE_URL PRINTF LTRIM RTRIM BTRIM REPEAT "
    "REGEXP REGEXP_REPLACE REVERSE SPLIT_INDEX STR_TO_MAP ELT URL_DECODE URL_ENCODE INET_ATON INET_NTOA",
    "Time": "EXTRACT CURRENT_DATE CURRENT_TIME LOCALTIME CURRENT_TIMESTAMP NOW CURRENT_ROW_TIMESTAMP LOCALTIMESTAMP "
    "DATE_FORMAT TIMESTAMPDIFF CONVERT_TZ FROM_UNIXTIME UNIX_TIMESTAMP TO_DATE TO_TIMESTAMP_LTZ TO_TIMESTAMP "
    "CURRENT_WATERMARK SOURCE_WATERMARK PROCTIME",
    "Conditions": "COALESCE IFNULL GREATEST LEAST",
    "Conversion": "CAST TRY_CAST TYPEOF",
    "Collections": "MAP_KEYS MAP_VALUES MAP_UNION MAP_ENTRIES MAP_FROM_ARRAYS ARRAY_APPEND ARRAY_CONTAINS ARRAY_SORT "
    "ARRAY_DISTINCT ARRAY_POSITION ARRAY_PREPEND ARRAY_REMOVE ARRAY_REVERSE ARRAY_SLICE ARRAY_UNION ARRAY_CONCAT "
    "ARRAY_MAX ARRAY_JOIN ARRAY_MIN SPLIT ARRAY_EXCEPT ARRAY_INTERSECT AT CARDINALITY ELEMENT",
    "JSON": "IS_JSON JSON_EXISTS JSON_VALUE JSON_QUERY JSON_STRING JSON_OBJECT JSON_ARRAY JSON JSON_QUOTE JSON_UNQUOTE",
    "Variant": "PARSE_JSON TRY_PARSE_JSON",
    "Making values": "ARRAY MAP ROW OBJECT_OF OBJECT_UPDATE",
    "Access to values": "GET",
    "Hashes": "MD5 SHA1 SHA224 SHA256 SHA384 SHA512 SHA2",
    "Bitmaps": "BITMAP_AND BITMAP_ANDNOT BITMAP_BUILD BITMAP_CARDINALITY BITMAP_FROM_BYTES BITMAP_OR BITMAP_TO_ARRAY "
    "BITMAP_TO_BYTES BITMAP_TO_STRING BITMAP_XOR",
    "Aggregates": "AVG COUNT MAX MIN FIRST_VALUE LAST_VALUE LISTAGG SUM STDDEV_POP STDDEV_SAMP VAR_POP VAR_SAMP "
    "COLLECT ARRAY_AGG PERCENTILE JSON_OBJECTAGG JSON_ARRAYAGG BITMAP_AND_AGG BITMAP_AND_CARDINALITY_AGG "
    "BITMAP_BUILD_AGG BITMAP_BUILD_CARDINALITY_AGG BITMAP_OR_AGG BITMAP_OR_CARDINALITY_AGG "
    "BITMAP_XOR_AGG BITMAP_XOR_CARDINALITY_AGG",
    "Windows over rows": "LEAD LAG",
    "Tables": "TO_CHANGELOG FROM_CHANGELOG ML_PREDICT",
}
"""The functions of the definitions by their names in SQL; those that only the Table API or Flink calls are not here."""

FORMS = {
    "= <> > >= < <= LIKE AND OR / * %": "a {} b",
    "IS_NULL IS_NOT_NULL IS_TRUE IS_FALSE IS_NOT_TRUE IS_NOT_FALSE": "a {}",
    "CURRENT_DATE CURRENT_TIME LOCALTIME CURRENT_TIMESTAMP LOCALTIMESTAMP": "{}",
}
SPELLED = {
    "BETWEEN": ["a [NOT] BETWEEN [ASYMMETRIC | SYMMETRIC] b AND c"],
    "LIKE": ["a [NOT] LIKE b [ESCAPE c]"],
    "SIMILAR_TO": ["a [NOT] SIMILAR TO b [ESCAPE c]"],
    "IN": ["a [NOT] IN (b, ...)", "a [NOT] IN (query)"],
    "NOT": ["NOT a"],
    "+": ["a + b", "+a", "time + interval", "interval + interval"],
    "-": ["a - b", "-a", "time - interval", "interval - interval"],
    "AT": ["array[place]", "map[key]", "variant[place]", "variant[key]"],
    "GET": ["row.field", "row.*"],
    "IS_JSON": ["text IS [NOT] JSON [VALUE | SCALAR | ARRAY | OBJECT]"],
    "CAST": ["CAST(value AS type)"],
    "TRY_CAST": ["TRY_CAST(value AS type)"],
    "EXTRACT": ["EXTRACT(unit FROM temporal)"],
    "FLOOR": ["FLOOR(number)", "FLOOR(time TO unit)"],
    "CEIL": ["CEIL(number)", "CEIL(time TO unit)"],
    "POSITION": ["POSITION(text IN text)"],
    "TRIM": ["TRIM([BOTH | LEADING | TRAILING] [characters] FROM text)"],
    "OVERLAY": ["OVERLAY(text PLACING text FROM start [FOR length])"],
    "TIMESTAMPDIFF": ["TIMESTAMPDIFF(unit, time, time)"],
    "PROCTIME": ["PROCTIME()"],
    "ARRAY": ["ARRAY[value, ...]"],
    "MAP": ["MAP[key, value, ...]"],
    "ROW": ["ROW(value, ...)", "(value, value, ...)"],
    "JSON_EXISTS": ["JSON_EXISTS(json, path [TRUE | FALSE | UNKNOWN | ERROR ON ERROR])"],
    "JSON_VALUE": ["JSON_VALUE(json, path [RETURNING type] [... ON EMPTY] [... ON ERROR])"],
    "JSON_QUERY": ["JSON_QUERY(json, path [RETURNING type] [... WRAPPER] [... ON EMPTY] [... ON ERROR])"],
    "JSON_OBJECT": ["JSON_OBJECT([[KEY] key VALUE value, ...] [NULL | ABSENT ON NULL])"],
    "JSON_ARRAY": ["JSON_ARRAY([value, ...] [NULL | ABSENT ON NULL])"],
    "JSON_OBJECTAGG": ["JSON_OBJECTAGG([KEY] key VALUE value [NULL | ABSENT ON NULL])"],
    "JSON_ARRAYAGG": ["JSON_ARRAYAGG(value [NULL | ABSENT ON NULL])"],
    "TRANSLATE": ["TRANSLATE(text, from, to)", "TRANSLATE3(text, from, to)"],
    "COUNT": ["COUNT(*)", "COUNT([DISTINCT] value, ...)"],
    "LISTAGG": ["LISTAGG([DISTINCT] text [, separator])"],
    "FIRST_VALUE": ["FIRST_VALUE(value) [IGNORE NULLS | RESPECT NULLS]"],
    "LAST_VALUE": ["LAST_VALUE(value) [IGNORE NULLS | RESPECT NULLS]"],
    "COLLECT": ["COLLECT([DISTINCT] value)"],
    "ARRAY_AGG": ["ARRAY_AGG([DISTINCT] value) [IGNORE NULLS | RESPECT NULLS]"],
    "ML_PREDICT": ["ML_PREDICT(TABLE t, MODEL m, DESCRIPTOR(column, ...) [, config])"],
}
_PARTS_OF_DATES = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAYOFYEAR", "DAYOFMONTH", "DAYOFWEEK")
OF_SQL_ALONE = {
    "Comparison": {
        "IS DISTINCT FROM": ["a IS [NOT] DISTINCT FROM b"],
        "EXISTS": ["EXISTS (query)"],
        "ANY": ["a = ANY (query)", "a < ALL (query)", "a > SOME (query)"],
    },
    "Logic": {"IS UNKNOWN": ["a IS [NOT] UNKNOWN"]},
    "Arithmetic": {"MOD": ["MOD(a, b)"], "CEILING": ["CEILING(number)"]},
    "Text": {"||": ["a || b"], "CHARACTER_LENGTH": ["CHARACTER_LENGTH(text)"]},
    "Time": {
        "DATE": ["DATE 'yyyy-mm-dd'"],
        "TIME": ["TIME 'hh:mm:ss'"],
        "TIMESTAMP": ["TIMESTAMP 'yyyy-mm-dd hh:mm:ss'"],
        "INTERVAL": ["INTERVAL '...' unit [TO unit]"],
        **{name: [f"{name}(date)"] for name in _PARTS_OF_DATES},
        **{name: [f"{name}(timestamp)"] for name in ("HOUR", "MINUTE", "SECOND")},
        "TIMESTAMPADD": ["TIMESTAMPADD(unit, number, time)"],
        "OVERLAPS": ["(start, end) OVERLAPS (start, end)"],
        "MINUS_DATE": ["(time - time) unit"],
    },
    "Conditions": {
        "CASE": ["CASE WHEN a THEN b ... [ELSE c] END", "CASE a WHEN b THEN c ... [ELSE d] END"],
        "IF": ["IF(condition, value, value)"],
        "NULLIF": ["NULLIF(a, b)"],
        **{name: [f"{name}(text)"] for name in ("IS_ALPHA", "IS_DECIMAL", "IS_DIGIT")},
    },
    "Groups": {
        "GROUPING": ["GROUPING(expression, ...)"],
        "GROUPING_ID": ["GROUPING_ID(expression, ...)"],
        "GROUP_ID": ["GROUP_ID()"],
    },
    "Aggregates": {
        "STDDEV": ["STDDEV(<NUMERIC>)"],
        "VARIANCE": ["VARIANCE(<NUMERIC>)"],
        "APPROX_COUNT_DISTINCT": ["APPROX_COUNT_DISTINCT(value)"],
        "SINGLE_VALUE": ["SINGLE_VALUE(value)"],
    },
    "Windows over rows": {
        **{name: [f"{name}()"] for name in ("ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST")},
        "NTILE": ["NTILE(number)"],
    },
    "Windows of time": {
        "TUMBLE": ["TUMBLE(TABLE t, DESCRIPTOR(time), size [, offset])", "GROUP BY TUMBLE(time, size)"],
        "HOP": ["HOP(TABLE t, DESCRIPTOR(time), slide, size [, offset])", "GROUP BY HOP(time, slide, size)"],
        "CUMULATE": ["CUMULATE(TABLE t, DESCRIPTOR(time), step, size)"],
        "SESSION": [
            "SESSION(TABLE t [PARTITION BY key], DESCRIPTOR(time), gap)",
            "GROUP BY SESSION(time, gap)",
        ],
        **{
            f"{window}_{part}": [f"{window}_{part}(time, ...)"]
            for window in ("TUMBLE", "HOP", "SESSION")
            for part in ("START", "END", "ROWTIME", "PROCTIME")
        },
    },
    "Matches": {
        **{name: [f"{name}(column [, offset])"] for name in ("FIRST", "LAST")},
        **{name: [f"{name}()"] for name in ("MATCH_ROWTIME", "MATCH_PROCTIME")},
    },
    "Session": {"CURRENT_DATABASE": ["CURRENT_DATABASE()"]},
    "Tables": {
        "ML_EVALUATE": ["ML_EVALUATE(TABLE t, MODEL m, ...)"],
        "VECTOR_SEARCH": ["VECTOR_SEARCH(TABLE t, DESCRIPTOR(column), vector, number [, config])"],
    },
}


def definitions() -> dict[str, list[str]]:
    """Return the signatures of Flink's definitions by the functions' names in SQL."""
    from pyflink.java_gateway import get_gateway  # type: ignore[import-not-found]

    table = get_gateway().jvm.org.apache.flink.table
    found: dict[str, list[str]] = {}
    for definition in table.functions.BuiltInFunctionDefinitions.getDefinitions():
        name = str(definition.getSqlName()).replace(" ", "_")
        inference = definition.getTypeInference(None)
        text = table.types.inference.TypeInferenceUtil.generateSignature(inference, name, definition)
        found.setdefault(name, []).extend(text.splitlines())
    return found


def written(name: str, signatures: list[str]) -> list[str]:
    """Return the forms of a function as SQL has them."""
    if name in SPELLED:
        return SPELLED[name]
    for names, form in FORMS.items():
        if name in names.split():
            return [form.format(name.replace("_", " ") if name.startswith("IS_") else name)]
    return [text.replace("()", "") if name in FORMS else text.replace("(*)", "()") for text in signatures]


def main() -> None:
    """Print the list."""
    known = definitions()
    found: dict[str, dict[str, Any]] = {}
    for category, names in CATEGORIES.items():
        for name in names.split():
            shown = name.replace("_", " ") if name.startswith(("IS_", "SIMILAR")) else name
            found.setdefault(category, {})[shown] = written(name, known.get(name, []))
    for category, more in OF_SQL_ALONE.items():
        found.setdefault(category, {}).update(more)
    json.dump(found, sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
