"""Lines of CSV by whole columns: which texts stand in quotes, and times without the zeros that end them."""

from __future__ import annotations

import datetime as dt
import random

import pyarrow as pa
import pytest

from firesteel.common.logical_types import STRING, RowType, TimestampType
from firesteel.connectors.tables.formats.csv_fields import CsvRules
from firesteel.connectors.tables.formats.csv_texts import csv_lines

ALPHABET = "abcz ,\"'\\\n;é|\x01"


def one_line(text: str | None, rules: CsvRules) -> str:
    """Return the line of one text, as Jackson writes it."""
    if text is None:
        return (rules.null_literal or "") + "\n"
    if rules.quote is None:
        return text + "\n"
    highest = max(map(ord, filter(None, [rules.delimiter, "\r", rules.quote, rules.escape])))
    if len(text) <= 24 and not any(ord(char) <= highest or char == "\\" for char in text):
        return text + "\n"
    for char in filter(None, (rules.escape, rules.quote)):
        text = text.replace(char, char * 2)
    return f"{rules.quote}{text}{rules.quote}\n"


@pytest.mark.parametrize("seed", range(200))
def test_texts_are_in_quotes_where_they_have_to_be(seed: int) -> None:
    chance = random.Random(seed)
    rules = CsvRules(
        delimiter=chance.choice([",", ";", "\t", "é"]),
        quote=chance.choice(['"', "'", None, "-", "\x01"]),
        escape=chance.choice([None, "\\", "z"]),
        null_literal=chance.choice([None, "NULL"]),
    )
    texts = [
        None
        if chance.random() < 0.1
        else "".join(chance.choices(ALPHABET, k=chance.choice([0, 1, 3, 24, 25])))
        for _ in range(chance.randint(0, 6))
    ]
    if chance.random() < 0.5:
        texts = ["".join(chance.choices("éz", k=chance.choice([1, 24]))) for _ in texts]
    column = pa.array(["cut off", *texts, "off"], pa.string()).slice(1, len(texts))
    rows = pa.RecordBatch.from_arrays([column], names=["s"])
    expected = [one_line(text, rules) for text in texts]
    assert csv_lines(rows, RowType.of({"s": STRING}), rules).to_pylist() == expected


@pytest.mark.parametrize("precision", [0, 3, 6, 9])
@pytest.mark.parametrize("with_null", [False, True])
def test_times_have_no_zeros_at_their_end(precision: int, *, with_null: bool) -> None:
    row = RowType.of({"t": TimestampType(precision)})
    micros = [0, 1_000_000, 1_200_000, 999_000, -1, 1_000_001, 1_700_000_000_120_000, 10_000_000]
    scale = 10 ** max(0, 6 - precision)
    moments = [dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=m // scale * scale) for m in micros]
    unit = {0: "s", 3: "ms", 6: "us", 9: "ns"}[precision]
    column = pa.array([*moments, *([None] if with_null else [])], pa.timestamp(unit))
    lines = csv_lines(pa.RecordBatch.from_arrays([column], names=["t"]), row, CsvRules())
    expected = [str(m).rstrip("0").rstrip(".") if m.microsecond else str(m) for m in moments]
    assert lines.to_pylist() == [f'"{text}"\n' for text in expected] + (["\n"] if with_null else [])
