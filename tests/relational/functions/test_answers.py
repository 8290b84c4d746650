"""Functions and operators against real Flink's answers, by the row: types and values.

What differs on purpose, and what Firesteel refuses, is listed in `flink/differences.json`: by its reason, with the
answer that is given instead. An entry that is not true any more fails.
"""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest

from firesteel.common.errors import EngineError, ProgramError
from tests.relational.functions.asking import FLINK, answer

SUBJECTS = sorted(path.stem for path in FLINK.glob("*.jsonl"))
REASONS = json.loads((FLINK / "differences.json").read_text(encoding="utf-8"))
DIFFERENCES = {question: what for listed in REASONS.values() for question, what in listed.items()}
ROWS_AT_ONCE = 60


def asked() -> list[Any]:
    """Return the questions, in parts that are not too long for one test."""
    parts = []
    for subject in SUBJECTS:
        lines = [
            json.loads(line) for line in (FLINK / f"{subject}.jsonl").read_text(encoding="utf-8").splitlines()
        ]
        parts += [
            pytest.param(lines[start : start + ROWS_AT_ONCE], id=f"{subject}-{start}")
            for start in range(0, len(lines), ROWS_AT_ONCE)
        ]
    return parts


def is_same_number(kind: str, one: str | None, other: str | None) -> bool:
    """Return whether two texts are one floating-point number; Java 17 prints more digits than it needs."""
    size = "f" if "FLOAT" in kind else "d" if "DOUBLE" in kind else None
    try:
        return size is not None and struct.pack(size, float(one or "")) == struct.pack(
            size, float(other or "")
        )
    except (ValueError, OverflowError):
        return False


def agrees(question: dict[str, Any]) -> str:
    """Return what is different from Flink's answer: nothing, the refusal, the type or the values."""
    refused = question["type"] == "refused"
    if not refused and all(cell is None for cell in question["cells"]):
        return ""  # Flink accepts the expression and cannot run it
    try:
        kind, cells = answer(question["expression"], question["zone"])
    except EngineError as error:
        raise AssertionError(f"{question['expression']}: {error.details}") from error
    except ProgramError:
        return "" if refused else "refused"
    if refused:
        return "accepted"
    if str(kind) != question["type"]:
        return f"type {kind}"
    wrong = [
        place
        for place, (one, other) in enumerate(zip(question["cells"], cells, strict=True))
        if one != other and not is_same_number(question["type"], one, other)
    ]
    return f"rows {wrong}" if wrong else ""


@pytest.mark.parametrize("questions", asked())
def test_answers_are_flinks(questions: list[dict[str, Any]]) -> None:
    found = {f"{line['zone']}: {line['expression']}": agrees(line) for line in questions}
    assert {text: what for text, what in found.items() if what} == {
        text: DIFFERENCES[text] for text in found if text in DIFFERENCES
    }


def test_each_difference_is_of_a_question() -> None:
    known = {
        f"{line['zone']}: {line['expression']}"
        for subject in SUBJECTS
        for line in map(json.loads, (FLINK / f"{subject}.jsonl").read_text(encoding="utf-8").splitlines())
    }
    assert set(DIFFERENCES) <= known
