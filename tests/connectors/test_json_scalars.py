"""Numbers and words are taken as JSON has them, and nothing else is."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from firesteel.connectors.tables.formats.json_scalars import Spans, check_scalars, scalars
from firesteel.connectors.tables.formats.plain_texts import Doubtful


def spans_of(text: str, count: int = 3) -> Spans:
    length = len(text.encode())
    starts = np.arange(count, dtype=np.int32) * np.int32(length + 2)
    ends = np.stack([starts, starts + np.int32(length)], axis=1)
    return Spans(pa.py_buffer(f"{text}}}\n".encode() * count), ends)


NOT_JSON = [
    *(
        "007",
        "-01",
        "0x1F",
        "0x10",
        "-0x10",
        "0X1f",
        "+1",
        ".5",
        "1.",
        "0.",
        "-0.",
        "1.e5",
        "0.e5",
        "-.5",
        "-",
        "--1",
    ),
    *(
        "nan",
        "NaN",
        "inf",
        "-inf",
        "Infinity",
        "1_0",
        "1e",
        "1e+",
        "nul",
        "nulls",
        "tru",
        "True",
        "1 ",
        "1 1",
        "",
        "1,2",
    ),
    *("[1]", "{1}", "é", "00", "-00", "0_1", "1d", "1f", "1L", "true1"),
]


@pytest.mark.parametrize("text", NOT_JSON)
@pytest.mark.parametrize("kind", ["int8", "int64", "float32", "float64", "bool", "decimal128(10, 2)"])
def test_numbers_are_those_of_json(text: str, kind: str) -> None:
    arrow = pa.decimal128(10, 2) if kind.startswith("dec") else pa.type_for_alias(kind)
    with pytest.raises((Doubtful, pa.ArrowInvalid)):
        scalars(spans_of(text), arrow)
    with pytest.raises((Doubtful, pa.ArrowInvalid)):
        check_scalars(spans_of(text))


@pytest.mark.parametrize(
    "text", ["0", "-0", "1e5", "-1.5E-3", "12", "-7", "0.5", "-0.5", "0e5", "10.0", "9" * 18]
)
def test_all_numbers_of_json_are_taken(text: str) -> None:
    check_scalars(spans_of(text))
    assert scalars(spans_of(text), pa.float64()).to_pylist() == [float(text)] * 3
    if text.lstrip("-").isdigit():
        assert scalars(spans_of(text), pa.int64()).to_pylist() == [int(text)] * 3


@pytest.mark.parametrize("text", ["true", "false", "null"])
def test_words_are_taken(text: str) -> None:
    check_scalars(spans_of(text))
    assert scalars(spans_of(text), pa.bool_()).to_pylist() == [json.loads(text)] * 3
