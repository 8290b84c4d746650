"""What is read from files, and what is written, is what real Flink reads and writes (tables/flink/formats.jsonl)."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import ConfigurationError, ConnectorError, UnsupportedError
from firesteel.common.logical_types.text import cast_to_string
from firesteel.connectors.tables.registry import connector_of
from firesteel.functions.source import UNLIMITED
from tests.connectors.column_ends import request, row_type, write

HERE = Path(__file__).parent / "tables" / "flink"
ANSWERS = [json.loads(line) for line in (HERE / "formats.jsonl").read_text().splitlines()]
READ = [answer for answer in ANSWERS if answer["ask"] == "read"]

TWICE = "of a name that occurs twice the last value counts"
FAR = "a year has four digits"
CALENDAR = "dates before 1582-10-15 are of the calendar of today"
NANOS = "times with more than 6 digits of a second are those of 1677 to 2262"
DIFFERENT = {
    '{"a": 1, "a": 2, "b": "x"}': TWICE,
    '{"a": 1, "b": "x", "a": 2}': TWICE,
    '{"v": "+12020-01-02"}': FAR,
    '{"v": "+12020-01-02 03:04:05"}': FAR,
    '{"v": "-0001-01-01 00:00:00"}': FAR,
    "1582-10-10,z": CALENDAR,
}
DIFFERENT_NANOS = ("0001-01-01", "1582-10-10")
"""By text: why the answer is another one here."""

FAILED = "failed"


def differs(answer: dict[str, Any]) -> bool:
    far = "TIMESTAMP(9)" in answer["columns"] and any(date in answer["text"] for date in DIFFERENT_NANOS)
    return far or answer["text"] in DIFFERENT


def case(answer: dict[str, Any]) -> tuple[str, str, str]:
    return answer["format"], answer["columns"], json.dumps(answer["options"])


CASES = [(key, list(found)) for key, found in groupby(sorted(READ, key=case), case)]


def found_in(directory: Path, answer: dict[str, Any], lenient: bool, before: str = "") -> Any:
    """The rows of a text as Flink's CAST AS STRING shows them; `before` stands on a line before it."""
    kind, columns = answer["format"], answer["columns"]
    path = directory / "file"
    path.write_bytes((before + answer["text"]).encode())
    options = {"path": str(path), "format": kind, **answer["options"]}
    options[f"{kind}.ignore-parse-errors"] = str(lenient).lower()
    try:
        source = connector_of("filesystem", "table 't'").source(request(columns, options)).source
    except ConfigurationError:
        return FAILED
    row = row_type(columns)
    rows = []
    try:
        for split in source.splits(frozenset()):
            end = UNLIMITED if split.end is None else split.end
            for batch, _ in source.read_columns(split, split.start, end):
                shown = [
                    cast_to_string(column, field.type).to_pylist()
                    for column, field in zip(batch.columns, row.fields, strict=True)
                ]
                rows += map(list, zip(*shown, strict=True))
    except ConnectorError:
        return FAILED
    return rows


def expected(answer: Any) -> Any:
    return FAILED if isinstance(answer, dict) else answer


@pytest.mark.parametrize(("key", "answers"), CASES, ids=[" ".join(key) for key, _ in CASES])
def test_texts_are_read_as_by_flink(key: Any, answers: list[dict[str, Any]], tmp_path: Path) -> None:
    wrong = []
    for answer in answers:
        if differs(answer):
            continue
        for name, lenient in (("strict", False), ("lenient", True)):
            if answer[name] is None:  # Flink was not asked
                continue
            got, wanted = found_in(tmp_path, answer, lenient), expected(answer[name])
            if got != wanted:
                wrong.append(f"{name} {answer['text']!r}: {got}, Flink {wanted}")
    assert wrong == []


def test_lines_that_are_plain_are_read_together_with_those_that_are_not(tmp_path: Path) -> None:
    """A text gives the same rows among plain lines, where quicker ways of reading are tried first."""
    wrong = []
    for answer in READ:
        if answer["format"] != "json" or answer["columns"] == "a INT, b STRING":
            continue
        if differs(answer):
            continue
        alone = found_in(tmp_path, answer, True)
        together = found_in(tmp_path, answer, True, before='{"v": null}\n')
        if together != [[None], *alone]:
            wrong.append(f"{answer['columns']} {answer['text']!r}: {together}, alone {alone}")
    assert wrong == []


MOMENT = dt.datetime(2020, 1, 2, 3, 4, 5)
VALUES: dict[str, Any] = {
    "1": 1,
    "-1": -1,
    "9223372036854775807": 2**63 - 1,
    "CAST(1 AS DOUBLE)": 1.0,
    "1e10": 1e10,
    "CAST('NaN' AS DOUBLE)": float("nan"),
    "1.5e-7": 1.5e-7,
    "CAST('-0.0' AS DOUBLE)": 0.0,
    "123456789.125e0": 123456789.125,
    "CAST(1.1 AS FLOAT)": 1.1,
    "CAST(1e10 AS FLOAT)": 1e10,
    "1.50": Decimal("1.50"),
    "0": Decimal(0),
    "12345678.90": Decimal("12345678.90"),
    "0.0000000001": Decimal("0.0000000001"),
    "100": Decimal(100),
    "'a' || CHR(10) || 'b'": "a\nb",
    "'a' || CHR(13)": "a\r",
    "'a' || CHR(9) || 'b'": "a\tb",
    "CHR(1)": "\x01",
    "TRUE": True,
    "FALSE": False,
    "DATE '2020-01-02'": MOMENT.date(),
    "DATE '0001-01-01'": dt.date(1, 1, 1),
    "TIME '03:04:05'": MOMENT.time(),
    "TIME '03:04:05.120'": dt.time(3, 4, 5, 120_000),
    "TIMESTAMP '2020-01-02 03:04:05'": MOMENT,
    "TIMESTAMP '2020-01-02 03:04:05.120'": MOMENT.replace(microsecond=120_000),
    "TIMESTAMP '2020-01-02 00:00:00'": dt.datetime(2020, 1, 2),
    "TO_TIMESTAMP_LTZ(1577934245120, 3)": MOMENT.replace(microsecond=120_000, tzinfo=dt.UTC),
    "x'61'": b"a",
    "x'00ff'": b"\0\xff",
    "ARRAY[1, 2]": [1, 2],
    "ARRAY[1, CAST(NULL AS INT)]": [1, None],
    "ARRAY['a', 'b;c']": ["a", "b;c"],
    "ARRAY['']": [""],
    "MAP['a', 1]": {"a": 1},
    "MAP['a', CAST(NULL AS INT)]": {"a": None},
    "ROW(1, 'x')": (1, "x"),
    "ROW(1, CAST(NULL AS STRING))": (1, None),
}
"""By expression of Flink's SQL, its value; NULL and plain texts are found without."""


def value_of(expression: str) -> Any:
    if expression.startswith("CAST(NULL"):
        return None
    return VALUES[expression] if expression in VALUES else expression[1:-1]


WRITTEN = [
    answer for answer in ANSWERS if answer["ask"] == "write" and "123456789'" not in answer["expression"]
]
WRITES = [
    (key, list(found))
    for key, found in groupby(WRITTEN, lambda answer: (answer["format"], str(answer["options"])))
]


@pytest.mark.parametrize(("key", "answers"), WRITES, ids=[" ".join(key) for key, _ in WRITES])
def test_rows_are_written_as_by_flink(key: Any, answers: list[dict[str, Any]], tmp_path: Path) -> None:
    wrong = []
    for number, answer in enumerate(answers):
        columns, path = f"v {answer['type']}, z INT", tmp_path / str(number)
        options = {"path": str(path), "format": answer["format"], **answer["options"]}
        got: Any
        try:
            sink = connector_of("filesystem", "t").sink(request(columns, options)).sink
            write(sink, row_type(columns), [(value_of(answer["expression"]), 900)])
            [part] = path.iterdir()
            got = part.read_bytes().decode().rpartition("900")[0]
        except UnsupportedError:
            got = FAILED
        if got != expected(answer["text"]):
            wrong.append(f"{answer['type']} {answer['expression']}: {got!r}, Flink {answer['text']!r}")
    assert wrong == []
