"""Types of streams and types of tables stand for each other as in real Flink.

`flink/bridge.json` holds Flink's answers; `flink/ask_bridge.py` asked.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from firesteel.common import Types
from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import DecimalType, DistinctType, ObjectIdentifier, parse_type
from firesteel.common.logical_types.type_information import to_logical_type, to_type_information
from firesteel.common.typeinfo import ExternalTypeInfo, LocalTimeTypeInfo

ANSWERS: dict[str, Any] = json.loads((Path(__file__).parent / "flink" / "bridge.json").read_text("utf-8"))
SCOPE = {"Types": Types, "LocalTimeTypeInfo": LocalTimeTypeInfo, "TIMES": LocalTimeTypeInfo.TimeType}
WIDER = {
    "BINARY(1)": "PrimitiveArrayTypeInfo<Byte>",
    "BINARY(4)": "PrimitiveArrayTypeInfo<Byte>",
    "VARBINARY(4)": "PrimitiveArrayTypeInfo<Byte>",
    "TIMESTAMP_LTZ(6)": "Instant",
    "TIMESTAMP_LTZ(9)": "Instant",
    "ROW<`a` INT 'it''s'>": "RowTypeInfo(a: Integer)",
    "STRUCTURED<'shop.Order', `a` INT, `b` STRING>": "RowTypeInfo(a: Integer, b: String)",
    "STRUCTURED<'shop.Order', `a` BIGINT, `b` STRING>": "RowTypeInfo(a: Long, b: String)",
    "STRUCTURED<'shop.Item', `a` INT>": "RowTypeInfo(a: Integer)",
}
"""What Flink's old converter refuses, though its values are those of a type that it takes."""


@pytest.mark.parametrize("text", ANSWERS["to_table"])
def test_a_stream_has_flinks_type_as_a_table(text: str) -> None:
    info = eval(text, dict(SCOPE))
    assert str(to_logical_type(info)) == ANSWERS["to_table"][text]
    assert to_logical_type(ExternalTypeInfo(info)) == to_logical_type(info)


@pytest.mark.parametrize("text", ANSWERS["to_stream"])
def test_a_table_has_flinks_type_as_a_stream(text: str) -> None:
    answer = ANSWERS["to_stream"][text]
    if isinstance(answer, str) or text in WIDER:
        assert repr(to_type_information(parse_type(text))) == WIDER.get(text, answer)
    else:
        with pytest.raises(UnsupportedError, match="no counterpart among the types of streams"):
            to_type_information(parse_type(text))


def test_a_distinct_type_is_its_source_in_a_stream() -> None:
    assert (
        to_type_information(DistinctType(ObjectIdentifier("c", "d", "M"), DecimalType(5, 2)))
        == Types.BIG_DEC()
    )
