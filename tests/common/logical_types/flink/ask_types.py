"""Ask real Flink about its types, and keep the answers in types.json beside this file.

    /path/to/venv/bin/python tests/common/logical_types/flink/ask_types.py

The interpreter must have `apache-flink` installed (2.3.0 for the answers that are kept); Java 17 must be on the PATH.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyflink.java_gateway import get_gateway
from pyflink.util.exceptions import JavaException
from representative import OTHER_SPELLINGS, names, parts

HERE = Path(__file__).parent
REFUSED = (Py4JJavaError, JavaException)
J = get_gateway().jvm
LOGICAL = J.org.apache.flink.table.types.logical
LOADER = J.Thread.currentThread().getContextClassLoader()


def parse(text: str) -> Any:
    return LOGICAL.utils.LogicalTypeParser.parse(text, LOADER)


def identifier(name: str) -> Any:
    return J.org.apache.flink.table.catalog.ObjectIdentifier.of("cat", "db", name)


def java_list(items: Any) -> Any:
    collected = J.java.util.ArrayList()
    for item in items:
        collected.add(item)
    return collected


def special(name: str) -> Any:
    serializers = J.org.apache.flink.api.common.typeutils.base
    kinds = LOGICAL.TimestampKind
    distinct = LOGICAL.DistinctType.newBuilder
    attribute = get_class("org.apache.flink.table.types.logical.StructuredType$StructuredAttribute")
    return {
        "CHAR(0)": lambda: LOGICAL.CharType.ofEmptyLiteral(),
        "VARCHAR(0)": lambda: LOGICAL.VarCharType.ofEmptyLiteral(),
        "BINARY(0)": lambda: LOGICAL.BinaryType.ofEmptyLiteral(),
        "TIMESTAMP(3) *ROWTIME*": lambda: LOGICAL.TimestampType(True, kinds.ROWTIME, 3),
        "TIMESTAMP(3) NOT NULL *ROWTIME*": lambda: LOGICAL.TimestampType(False, kinds.ROWTIME, 3),
        "TIMESTAMP_LTZ(3) *ROWTIME*": lambda: LOGICAL.LocalZonedTimestampType(True, kinds.ROWTIME, 3),
        "TIMESTAMP_LTZ(3) *PROCTIME*": lambda: LOGICAL.LocalZonedTimestampType(True, kinds.PROCTIME, 3),
        "TIMESTAMP_LTZ(3) NOT NULL *PROCTIME*": lambda: LOGICAL.LocalZonedTimestampType(
            False, kinds.PROCTIME, 3
        ),
        "SYMBOL": lambda: LOGICAL.SymbolType(),
        "DISTINCT Money": lambda: distinct(identifier("Money"), parse("DECIMAL(10, 2)")).build(),
        "DISTINCT Weight": lambda: distinct(identifier("Weight"), parse("DOUBLE")).build(),
        "REGISTERED Point": lambda: (
            LOGICAL.StructuredType.newBuilder(identifier("Point"))
            .attributes(java_list([attribute("x", parse("INT")), attribute("y", parse("INT"))]))
            .build()
        ),
        "RAW BigInteger": lambda: LOGICAL.RawType(
            J.Class.forName("java.math.BigInteger"), serializers.BigIntSerializer.INSTANCE
        ),
        "RAW Integer": lambda: LOGICAL.RawType(
            J.Class.forName("java.lang.Integer"), serializers.IntSerializer.INSTANCE
        ),
    }[name]()


def get_class(name: str) -> Any:
    """Return a nested Java class, which py4j knows by a dollar sign."""
    found: Any = J
    for part in name.split("."):
        found = getattr(found, part)
    return found


def made(name: str) -> Any:
    try:
        return special(name)
    except KeyError:
        return parse(name)


def texts(data_type: Any) -> list[str | None]:
    try:
        serializable = data_type.asSerializableString()
    except REFUSED:
        serializable = None
    return [serializable, data_type.asSummaryString()]


def spelling(text: str) -> list[str | None] | None:
    try:
        return texts(parse(text))
    except REFUSED:
        return None


def limits() -> dict[str, str | None]:
    """Return the summary of types with parameters at the limits, or None where Flink refuses them."""
    found: dict[str, str | None] = {}
    for make, label in (
        (LOGICAL.CharType, "CHAR"),
        (LOGICAL.VarBinaryType, "VARBINARY"),
        (LOGICAL.TimeType, "TIME"),
    ):
        for number in (-1, 0, 1, 9, 10):
            try:
                found[f"{label}({number})"] = make(number).asSummaryString()
            except REFUSED:
                found[f"{label}({number})"] = None
    return found


def pairs(types: list[Any]) -> dict[str, Any]:
    casts, merging = LOGICAL.utils.LogicalTypeCasts, LOGICAL.utils.LogicalTypeMerging
    bits: dict[str, list[str]] = {
        name: [] for name in ("implicit", "explicit", "avoiding", "injective", "equal")
    }
    known: dict[str, int] = {}
    common = []
    for left in types:
        rows: dict[str, str] = dict.fromkeys(bits, "")
        merged = []
        for right in types:
            rows["implicit"] += bit(casts.supportsImplicitCast, left, right)
            rows["explicit"] += bit(casts.supportsExplicitCast, left, right)
            rows["avoiding"] += bit(casts.supportsAvoidingCast, left, right)
            rows["injective"] += bit(casts.supportsInjectiveCast, left, right)
            rows["equal"] += str(int(left.equals(right)))
            merged.append(common_type(merging, [left, right], known))
        for name, row in rows.items():
            bits[name].append(row)
        common.append(merged)
    return {**bits, "common": common, "texts": list(known)}


def bit(ask: Any, left: Any, right: Any) -> str:
    """Return 1 or 0, or x where Flink itself fails (it runs over the end of the shorter structured type)."""
    try:
        return str(int(ask(left, right)))
    except REFUSED:
        return "x"


def common_type(merging: Any, types: list[Any], known: dict[str, int]) -> int | str:
    """Return the place of the common type's summary in `known`, -1 if there is none, -2 if Flink fails."""
    try:
        found = merging.findCommonType(java_list(types))
    except REFUSED:
        return -2
    if not found.isPresent():
        return -1
    return known.setdefault(found.get().asSummaryString(), len(known))


def decimals() -> dict[str, list[list[Any]]]:
    merging = LOGICAL.utils.LogicalTypeMerging
    shapes = [
        (1, 0),
        (3, 3),
        (5, 2),
        (10, 0),
        (18, 9),
        (19, 0),
        (20, 10),
        (30, 4),
        (38, 0),
        (38, 6),
        (38, 18),
        (38, 38),
    ]
    answers: dict[str, list[list[Any]]] = {
        "divide": [],
        "modulo": [],
        "times": [],
        "plus": [],
        "round": [],
        "sum": [],
        "avg": [],
    }
    for left in shapes:
        for right in shapes:
            for name, ask in (
                ("divide", merging.findDivisionDecimalType),
                ("modulo", merging.findModuloDecimalType),
                ("times", merging.findMultiplicationDecimalType),
                ("plus", merging.findAdditionDecimalType),
            ):
                answers[name].append([left, right, decimal(ask, *left, *right)])
        for digits in (-40, -2, -1, 0, 1, 2, 5, 18, 40):
            answers["round"].append([left, digits, decimal(merging.findRoundDecimalType, *left, digits)])
    for text in [
        *(f"DECIMAL({p}, {s})" for p, s in shapes),
        "DECIMAL(5, 2) NOT NULL",
        "INT",
        "DOUBLE NOT NULL",
    ]:
        answers["sum"].append([text, merging.findSumAggType(parse(text)).asSummaryString()])
        answers["avg"].append([text, merging.findAvgAggType(parse(text)).asSummaryString()])
    return answers


def decimal(ask: Any, *arguments: int) -> str | None:
    try:
        return ask(*arguments).asSummaryString()
    except REFUSED:
        return None


def triples() -> list[list[Any]]:
    """Return lists of three types, in all orders, with their common type."""
    merging = LOGICAL.utils.LogicalTypeMerging
    chosen = [
        ["INT", "BIGINT", "DECIMAL(2, 2)"],
        ["NULL", "INT", "STRING"],
        ["NULL", "INT", "DOUBLE"],
        ["CHAR(2)", "CHAR(2)", "NULL"],
        ["DATE", "INTERVAL DAY", "INT"],
        ["INT", "FLOAT", "DECIMAL(3, 1)"],
        ["DATE", "TIMESTAMP(3)", "TIMESTAMP_LTZ(6)"],
        ["ROW<a INT>", "NULL", "ROW<b BIGINT>"],
        ["TINYINT", "SMALLINT NOT NULL", "INT"],
        ["NULL", "NULL", "NULL"],
        ["ARRAY<INT>", "ARRAY<NULL>", "ARRAY<DOUBLE>"],
        ["TIME(3)", "INTERVAL HOUR", "TIME(6)"],
        ["VARCHAR(2)", "CHAR(5)", "CHAR(3)"],
        ["BINARY(2)", "VARBINARY(3)", "BYTES"],
        ["INTERVAL DAY", "INTERVAL SECOND(9)", "INTERVAL HOUR"],
        ["DATE", "DATE", "INT"],
    ]
    answers = []
    for three in chosen:
        for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
            ordered = [three[place] for place in order]
            known: dict[str, int] = {}
            place = common_type(merging, [parse(text) for text in ordered], known)
            answers.append([ordered, next(iter(known)) if known else place])
    return answers


def main() -> None:
    """Write the answers."""
    found = [made(name) for name in names()]
    answers = {
        "types": {name: texts(data_type) for name, data_type in zip(names(), found, strict=True)},
        "spellings": {text: spelling(text) for text in parts(OTHER_SPELLINGS)},
        "limits": limits(),
        "decimals": decimals(),
        "triples": triples(),
        "pairs": pairs(found),
    }
    lines = ",\n".join(f'"{key}": {json.dumps(value)}' for key, value in answers.items())
    (HERE / "types.json").write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
