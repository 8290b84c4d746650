"""The form of a line is what other lines may share with it."""

from __future__ import annotations

import pytest

from firesteel.connectors.tables.formats.json_forms import Kind, form_of
from firesteel.connectors.tables.formats.plain_texts import Doubtful


def test_a_form_is_what_is_the_same_in_all_lines() -> None:
    found = form_of(b'{"a":"","b":-1e5, "c" : {"d":"x", "e":null} ,"f":{ },"g":null}', {(b"g",): Kind.SCALAR})
    assert found.constants == (b'{"a":"', b'","b":', b', "c" : {"d":"', b'", "e":null} ,"f":{ },"g":', b"}\n")
    assert [(slot.path, slot.text) for slot in found.slots] == [
        ((b"a",), True),
        ((b"b",), False),
        ((b"c", b"d"), True),
        ((b"g",), False),
    ]
    assert found.rows == {(), (b"c",), (b"f",)}
    assert found.quotes == 18


def test_a_null_that_is_not_wanted_may_be_a_number_elsewhere() -> None:
    assert [slot.path for slot in form_of(b'{"a":1,"b":null}', {}).slots] == [(b"a",)]
    assert [slot.path for slot in form_of(b'{"a":1,"b":null}', {}, nulls_differ=True).slots] == [
        (b"a",),
        (b"b",),
    ]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b"null",
        b'{"a": [1]}',
        b'{"a": {}}',
        b'{"a": 1} x',
        b' {"a": 1}',
        b'{"a": 1, "a": 2}',
        b'{"b": {"a": 1, "a": 2}}',
        b'{"a": "x"; "b": 2}',
        b'{"a": "x" "b"}',
        b'{"a": "\\u0041"}',
        b'{"\\u0041": 1}',
        b'{"a"}',
        b'{"a": }',
        b'{"a": 1,}',
        b'{,"a": 1}',
        b'{"a": 1}}',
        b'{"a": {"b": 1}',
        b'{"text": 1}',
        b'{"text": {"a": 1}}',
        b'{"number": "1"}',
        b'{"number": {"a": 1}}',
        b'{"row": 1}',
        b'{"row": "x"}',
        b'{"a":' * 40 + b"1" + b"}" * 40,
    ],
)
def test_other_lines_have_no_form(line: bytes) -> None:
    with pytest.raises(Doubtful):
        form_of(line, {(b"text",): Kind.TEXT, (b"number",): Kind.SCALAR, (b"row",): Kind.ROW})
