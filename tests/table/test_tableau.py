"""Drawn tables: widths, cuts, and characters that need two places."""

from __future__ import annotations

from firesteel.common.logical_types import parse_type
from firesteel.table.tableau import Tableau, display_width, widths_by_content, widths_by_type


def widths(*types: str) -> list[int]:
    return widths_by_type(["c"] * len(types), [parse_type(each) for each in types])


def test_the_width_of_a_column_is_that_of_the_longest_value_of_its_type():
    assert widths("TINYINT", "SMALLINT", "INT", "BIGINT") == [6, 6, 11, 20]
    assert widths("DECIMAL(10, 2)", "BOOLEAN", "DATE", "TIME(0)", "TIME(3)") == [12, 6, 10, 8, 12]
    assert widths("TIMESTAMP(0)", "TIMESTAMP(3)", "TIMESTAMP(5)", "TIMESTAMP_LTZ(9)") == [19, 23, 26, 29]
    assert widths("STRING", "DOUBLE", "ARRAY<INT>", "BYTES") == [30] * 4


def test_a_column_is_at_least_as_wide_as_its_name():
    name = "a_column_name_that_is_longer_than_thirty_characters"
    assert widths_by_type([name], [parse_type("INT")]) == [len(name)]


def test_a_long_text_is_cut_and_a_wide_character_is_never_cut_in_two():
    table = Tableau(["a"], [8])
    assert table.line(["abcdefghij"]) == "| abcde... |"
    assert table.line(["日本語日本語"]) == "|  日本... |"
    assert display_width(table.line(["日本語日本語"])) == len(table.border())


def test_content_decides_the_widths_up_to_a_limit():
    rows = [["x" * 40, "1"]]
    assert widths_by_content(["a", "number"], rows) == [40, 6]
    assert widths_by_content(["a", "number"], rows, 30) == [30, 6]
    assert widths_by_content(["a"], []) == [1]
