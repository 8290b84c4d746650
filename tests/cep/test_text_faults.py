"""Texts of patterns that are wrong: errors with line and column, before anything runs."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.cep import CEP
from firesteel.common import Row, Types
from firesteel.common.errors import PatternTextError, ProgramError
from firesteel.datastream import StreamExecutionEnvironment
from tests.cep.texts import of_text


def test_a_file_is_read_and_named_in_errors(tmp_path):
    env = StreamExecutionEnvironment.get_execution_environment()
    path = tmp_path / "drops.pattern"
    path.write_text("select *\nfrom every a = Event(b.x = 1)")
    rows = env.from_collection([Row(1)], Types.ROW_NAMED(["id"], [Types.INT()]))
    with pytest.raises(
        PatternTextError, match=r"test_text_faults.py:\d+\), .*drops.pattern, line 2, column 22"
    ):
        CEP.pattern_file(rows, path)
    with pytest.raises(ProgramError, match="requires a file with the text of a pattern"):
        CEP.pattern_file(rows, tmp_path / "none")


FAULTS = {
    "": ("1, 1", "requires select; got the end of the text"),
    "select * from every": ("1, 20", "requires"),
    "select a.x from a = Event": ("1, 17", "requires every; got 'a'\n"),
    "select *\nfrom every a = Event(x >)": ("2, 25", "requires a name, a value or an expression; got ')'"),
    "select *\nfrom every a = Event(x = 'y)": ("2, 26", "got a string without an end"),
    "select * from every a = Event within 3 weeks": ("1, 40", "requires a unit of time; got 'weeks'"),
    "select * from every a = Event within 0.5 ms": ("1, 38", "requires whole milliseconds; got 0.5 ms"),
    "select * from every a = Event -> any not b = c": ("1, 31", "requires either any or not; got both"),
    "select * from every a = Event -> a = Event": ("1, 34", "requires a name of its own for each step"),
    "select * from every a = Other": ("1, 25", "requires a type of events; got 'Other'"),
    "select * from every a = Event(b.x = 1) -> b = Event": ("1, 31", "requires a step that has events by then"),
    "select * from every a = Event -> not b = Event": ("1, 21", "requires a time within which"),
    "select * from every a = Event -> not (b = Event) -> c = Event": ("1, 38", "requires a single step after not"),
    "select * from every a = Event+{2}": ("1, 31", "requires one quantifier"),
    "select * from every a = Event greedy": ("1, 31", "requires a step that may occur several times"),
    "select * from every a = Event greedy greedy": ("1, 31", "requires each word once"),
    "select * from every a = Event{3,2}": ("1, 30", "requires"),
    "select * from every a = Event until (x = 1)": ("1, 31", "requires a step that may occur any number of times"),
    "select * from every a = Event at most 3 s later": ("1, 31", "requires a step with one event"),
    "select * from every a = Event at most 3 s apart": ("1, 31", "requires a step that may occur several times"),
    "select * from every a = Event where x > 1": ("1, 37", "requires a step, or a field of one; got 'x'"),
    "select * from every a = Event where 1 = 1": ("1, 37", "requires a step, or a field of one; got a condition"),
    "select x from every a = Event": ("1, 8", "requires a step, or a field of one; got 'x'"),
    "select a.x + 1 from every a = Event": ("1, 8", "requires a name; got an expression"),
    "select a.x, b.x from every a = Event -> b = Event": ("1, 13", "requires a name of its own; got 'x'"),
    "select a.x, b.x as y from every a = Event -> not b = Event -> c = Event": ("1, 13", "requires a step that has"),
    "select summ(a.x) as y from every a = Event": ("1, 8", "requires a function; got 'summ'\n"),
    "select sum(a) as y from every a = Event": ("1, 8", "requires a field of a step: sum(a.field)"),
    "select abs(a.x, 1) as y from every a = Event": ("1, 8", "requires one argument for abs(...); got 2 arguments"),
    "select * from every a = Event(x > :limit)": ("1, 35", "requires a value for :limit"),
    "select * from every a = Event(x like y)": ("1, 38", "requires a string or a parameter after like"),
    "select * from every a = Event within 1 s within 2 s": ("1, 42", "requires each clause once"),
    "select * from every a = Event after match skip to last b": ("1, 21", "requires the step that"),
    "select * from every a = Event after match skip past first": ("1, 53", "requires last; got 'first'"),
    "select * from every a = Event; drop": ("1, 30", "got ';'"),
}  # fmt: skip


@pytest.mark.parametrize("text", FAULTS)
def test_faults_have_a_line_and_a_column(text):
    place, message = FAULTS[text]
    with pytest.raises(PatternTextError) as raised:
        of_text(text, kind=None)
    error = raised.value
    assert f"{error.line}, {error.column}" == place
    assert message in f"{error}\n".replace("\n    ", "\n")


WORDS = st.sampled_from(
    re.findall(
        r"\S+",
        "select from every a = Event ( ) -> next not any { } 2 , + * ? . until within 3 seconds and x :p",
    )
)


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS, max_size=12), st.booleans())
def test_any_text_is_a_pattern_or_points_at_what_is_wrong(words, begun):
    text = " ".join(["select * from every"] * begun + words)
    with suppress(PatternTextError):
        of_text(text, kind=None)


def test_parameters_that_are_not_named_are_refused():
    with pytest.raises(
        PatternTextError, match="requires a text that names each parameter; got no :limt"
    ) as raised:
        of_text("select * from every a = Event(x > :limit)", {"limt": 3, "limit": 4})
    assert raised.value.hint == "did you mean limit?"


def test_fields_that_rows_do_not_have_are_refused():
    env = StreamExecutionEnvironment.get_execution_environment()
    rows = env.from_collection([Row(1)], Types.ROW_NAMED(["price"], [Types.INT()]))
    with pytest.raises(PatternTextError, match="requires a field of the events; got 'prise'") as raised:
        CEP.pattern_text(rows, "select a.price from every a = Event(prise > 1)")
    assert raised.value.hint == "did you mean price?"
    with pytest.raises(PatternTextError, match="column 45 requires a field of the events; got 'shop'"):
        CEP.pattern_text(rows, "select * from every a = Event partition by  shop")


def test_what_the_program_says_is_checked():
    stream = StreamExecutionEnvironment.get_execution_environment().from_collection([1])
    text = "select * from every a = Event"
    with pytest.raises(
        ProgramError, match=r"pattern_text \(.*\) requires a class for the type 'Order'; got 'x'"
    ):
        CEP.pattern_text(stream, text, types={"Order": "x"})
    with pytest.raises(ProgramError, match="requires the name of a field for kind; got 3"):
        CEP.pattern_text(stream, text, kind=3)
    with pytest.raises(ProgramError, match="requires a dict for parameters"):
        CEP.pattern_text(stream, text, parameters=["limit"])
