"""The page of functions is what the lists say, and each function that works is in a question that Flink was asked."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from firesteel.relational.functions import FUNCTIONS
from firesteel.relational.functions.aggregates import AGGREGATES
from firesteel.relational.functions.gaps import MISSING, PARTLY
from firesteel.relational.translation import TRANSLATIONS
from scripts.functions_page import PAGE, Listed, listed, page
from tests.relational.functions.asking import FLINK

QUERIES = Path(__file__).parents[2] / "queries" / "flink"
OVERS = Path(__file__).parents[2] / "runtime" / "columns" / "over" / "flink" / "overs.jsonl"
MARKS = {
    "AT": r"\w\[",
    "GET": r"\w\)?\.\w",
    "INTERVAL": "INTERVAL '",
    "DATE": "DATE '",
    "TIME": "TIME '",
    "MINUS_DATE": r"\(TS - TZ\) DAY",
}
"""What is written for a function that has no name of its own."""

OF_ANOTHER_RESULT_EACH_TIME = frozenset(
    {
        *(
            "CURRENT_DATE",
            "CURRENT_TIME",
            "CURRENT_TIMESTAMP",
            "CURRENT_ROW_TIMESTAMP",
            "LOCALTIME",
            "LOCALTIMESTAMP",
        ),
        *("NOW", "RAND", "RAND_INTEGER", "UUID", "PROCTIME", "CURRENT_WATERMARK", "MATCH_PROCTIME"),
        *("TUMBLE_PROCTIME", "HOP_PROCTIME", "SESSION_PROCTIME"),
    }
)
"""Functions that have no answer to compare."""


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def questions() -> str:
    """Return all that Flink answered."""
    lines = [line for path in FLINK.glob("*.jsonl") for line in lines_of(path)]
    asked = [line["expression"] for line in lines if line["type"] != "refused"]
    answers = lines_of(QUERIES / "answers.jsonl")
    asked += [line["query"] for line in answers if "refused" not in line]
    asked += [line["over"] for line in lines_of(OVERS)]
    asked += [path.read_text("utf-8") for path in QUERIES.glob("*.sql") if path.name != "queries.sql"]
    return "\n".join(asked).upper()


OF_A_SERVICE = {"ML_PREDICT", "VECTOR_SEARCH"}
"""All models of Flink's own are services; `tests/table/test_models.py` has what it refuses before it asks one. None of
its connectors searches vectors; `tests/queries/test_vector_search.py` has the plans of Flink's own tests."""


def test_the_page_is_what_the_lists_say() -> None:
    assert PAGE.read_text("utf-8") == page(), "run: python scripts/functions_page.py"


def test_reasons_are_those_of_functions_that_flink_has() -> None:
    assert set(MISSING) | set(PARTLY) <= {function.name for function in listed()}
    assert not set(MISSING) & set(PARTLY)


@pytest.mark.parametrize(
    "function", [one for one in listed() if one.name in MISSING], ids=lambda one: one.name
)
def test_what_is_missing_is_not_there(function: Listed) -> None:
    assert not (function.name in FUNCTIONS and function.name in TRANSLATIONS)
    assert function.name not in AGGREGATES


def test_flink_was_asked_about_each_function_that_works() -> None:
    asked = questions()
    others = OF_ANOTHER_RESULT_EACH_TIME | OF_A_SERVICE | set(MISSING)
    names = [one.name for one in listed() if one.name not in others]
    marks = {
        name: MARKS.get(name) or (re.escape(name) if not name[0].isalpha() else rf"\b{name}\b")
        for name in names
    }
    words = {name: mark.replace("IS ", r"IS (?:NOT )?") for name, mark in marks.items()}
    assert {name for name, mark in words.items() if not re.search(mark, asked)} == set()
