"""Errors that point at a part of a text."""

from __future__ import annotations

import pickle

import pytest

from firesteel.common.errors import (
    ConfigurationError,
    ProgramError,
    SqlConfigurationError,
    SqlUnsupportedError,
    SqlValidationError,
    UnsupportedError,
)
from firesteel.common.places import Place, Source, errors_at

SOURCE = Source("SELECT a\nFROM t")
PLACE = Place(SOURCE, SOURCE.span(14, 15), "query")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ProgramError("is wrong", who="x"), SqlValidationError),
        (UnsupportedError("is not supported yet", who="x"), SqlUnsupportedError),
        (ConfigurationError("is no option", who="x"), SqlConfigurationError),
    ],
)
def test_an_error_keeps_its_kind_and_says_where(error: ProgramError, kind: type[ProgramError]) -> None:
    with pytest.raises(kind) as raised, errors_at(PLACE):
        raise error
    assert isinstance(raised.value, type(error))
    first, *rest = str(raised.value).split("\n")
    assert first == f"query (line 2, column 6) cannot run: x {error.requirement}"
    assert rest == ["    FROM t", "         ^"]


def test_an_error_that_points_somewhere_stays() -> None:
    other = Place(SOURCE, SOURCE.span(7, 8), "view v")
    with (
        pytest.raises(SqlValidationError, match=r"^view v \(line 1, column 8\)"),
        errors_at(PLACE),
        errors_at(other),
    ):
        raise ProgramError("is wrong")


def test_without_a_place_an_error_stays_as_it_is() -> None:
    with pytest.raises(ProgramError, match=r"^is wrong$"), errors_at(None):
        raise ProgramError("is wrong")


def test_a_pointer_is_sent_without_the_rest_of_the_text() -> None:
    text = "SELECT a;\n" * 10_000
    pointer = Place(Source(text), Source(text).span(50_007, 50_008), "query").pointer
    assert len(pickle.dumps(pointer)) < 1_000
    assert (pointer.line, pointer.column, pointer.pointed) == (5001, 8, "SELECT a;\n       ^")


def test_of_a_very_long_line_the_part_is_shown() -> None:
    text = "SELECT " + ", ".join(f"column{place}" for place in range(10_000))
    start = text.index("column5000")
    line, caret = Place(Source(text), Source(text).span(start, start + 10), "query").pointer.pointed.split(
        "\n"
    )
    assert len(line) < 400
    assert line[caret.index("^") :][: caret.count("^")] == "column5000"
    assert line.startswith("...")
    assert line.endswith("...")
