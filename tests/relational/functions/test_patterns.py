"""Regular expressions and separators: what the kernel's library computes is what Java's rules say.

A constant pattern may go to the kernel's library; the same pattern in a column goes the way of all others.
"""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from firesteel.common.logical_types import STRING, IntType, RowType
from firesteel.relational.translation.patterns import Group, alike
from tests.relational.functions.asking import bound, computed

ROW = RowType.of({"s": STRING, "p": STRING, "n": IntType()}, nullable=False)
LETTERS = "aabbcA1_ -.\n\r\u2028\x0bé😀&=,"
QUANTIFIERS = ["*", "+", "?", "{2}", "{1,2}", "{0,2}", "{1,}", "*?", "+?", "??", "{1,2}?"]


def one_class(chance: random.Random) -> str:
    items = chance.choices(
        ["a", "b", "a-c", "0-9", "A-Z", r"\d", r"\w", r"\s", r"\W", r"\.", r"\]", "&", "é", "_", ","],
        k=chance.randint(1, 3),
    )
    return f"[{chance.choice(['', '', '^'])}{''.join(items)}]"


def atom(chance: random.Random, depth: int) -> str:
    roll = chance.random()
    if depth and roll < 0.4:
        return f"({chance.choice(['', '', '?:'])}{alternatives(chance, depth - 1)})"
    if roll < 0.7:
        return chance.choice("aabbcA1_é😀&=,")
    if roll < 0.8:
        return one_class(chance)
    return chance.choice([".", "^", r"\d", r"\w", r"\s", r"\S", r"\W", r"\D", r"\.", r"\n", r"\-"])


def sequence(chance: random.Random, depth: int) -> str:
    atoms = (atom(chance, depth) for _ in range(chance.choice([1, 1, 2, 2, 3])))
    return "".join(part + (chance.choice(QUANTIFIERS) if chance.random() < 0.3 else "") for part in atoms)


def alternatives(chance: random.Random, depth: int) -> str:
    return "|".join(sequence(chance, depth) for _ in range(chance.choice([1, 1, 1, 2, 2, 3])))


def answers(
    functions: list[str], pattern: str, texts: list[str | None]
) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """Return the values of functions of a pattern, as a constant and from a column."""
    constant = "'" + pattern.replace("'", "''") + "'"
    size = len(texts)
    rows = pa.RecordBatch.from_arrays(
        [pa.array(texts, pa.string()), pa.array([pattern] * size), pa.array(range(size), pa.int32())],
        ["s", "p", "n"],
    )
    one, other = (
        computed([bound(text.format(way), ROW) for text in functions], ROW, rows, "UTC")
        for way in (constant, "p")
    )
    return one, other


@pytest.mark.parametrize("seed", range(2))
def test_both_ways_find_the_same(seed: int) -> None:
    chance = random.Random(seed)
    functions = [
        "REGEXP(s, {0})",
        *(f"REGEXP_EXTRACT(s, {{0}}, {group})" for group in range(4)),
        "REGEXP_REPLACE(s, {0}, '<\\1$1>')",
        "REGEXP_COUNT(s, {0})",
        "REGEXP_SUBSTR(s, {0})",
        "REGEXP_EXTRACT(s, {0}, 1) IS NOT NULL",
        "REGEXP_EXTRACT(s, {0}) IS NULL",
    ]
    accepted = 0
    while accepted < 30:
        pattern = alternatives(chance, 3)
        if alike(pattern) is None:
            continue
        accepted += 1
        texts = [None, "", *("".join(chance.choices(LETTERS, k=chance.randint(1, 9))) for _ in range(30))]
        one, other = answers(functions, pattern, texts)
        for place, function in enumerate(functions):
            assert one.column(place).equals(other.column(place)), (function, pattern, texts)


def test_a_match_a_group_that_takes_no_part_and_no_match() -> None:
    texts = ["", "b", "xab", "x", None]
    (pairs,) = (
        answers([f"REGEXP_EXTRACT(s, {{0}}, {group})" for group in (0, 1, 2, 3)], "(a*)(b)|(x)", texts),
    )
    for found in pairs:
        assert [column.to_pylist() for column in found.columns] == [
            [None, "b", "x", "x", None],
            [None, "", None, None, None],
            [None, "b", None, None, None],
            [None, None, "x", "x", None],
        ]


@pytest.mark.parametrize(
    "pattern",
    [
        "a$", r"\bword", r"(a)\1", "a(?=b)", "(?<!a)b", "a++", "(?i)a", r"\p{Alpha}", "[a-z&&[b]]", "[a[b]]",
        "(a*)+", "(a|b*)*", "^*", "(?:)a", "a|", "()", "[]a]", "[^]", "[b-a]", "a{2,1}", "a{0}", "a{,2}", "a**",
        "(", "a)", "*a", "a]", "a}", "{", "[", "[a", "\\", r"\q", r"\x41", r"\Qa\E", "(?<n>a)(?<n>b)", r"[a-\d]",
        r"[\[-a]", "[+--]", "(a{500}){500}", r"[\S]",
    ],
)  # fmt: skip
def test_what_they_do_not_understand_alike(pattern: str) -> None:
    assert alike(pattern) is None


def test_groups_that_can_be_empty_missing_or_left_over() -> None:
    found = alike(r"(a?)(b)|(c(d))(?:(e)f)*")
    assert found is not None
    empty, full = Group(empty=True, always=False), Group(empty=False, always=False)
    assert found.groups == (Group(empty=False, always=True), empty, full, full, full, None)


def test_parts_between_separators() -> None:
    chance = random.Random(5)
    separators = [None, "", ",", ",,", "a", "é", "😀", "ab", " "]
    cases = [
        (
            None if chance.random() < 0.05 else "".join(chance.choices(",,aab é😀", k=chance.randint(0, 8))),
            chance.choice(separators),
            chance.choice([None, -2, -1, 0, 0, 1, 1, 2, 3, 9, 2**31 - 1]),
        )
        for _ in range(600)
    ]
    rows = pa.RecordBatch.from_arrays(
        [pa.array(column, kind) for column, kind in zip(zip(*cases, strict=True), ROW_KINDS, strict=True)],
        ["s", "p", "n"],
    )
    texts = [
        "SPLIT_INDEX(s, p, n)",
        *(f"SPLIT_INDEX(s, ',', {n})" for n in NUMBERS),
        "SPLIT_INDEX(s, 44, n)",
    ]
    found = computed([bound(text, ROW) for text in texts], ROW, rows, "UTC")
    for row, (text, separator, index) in zip(found.to_pylist(), cases, strict=True):
        expected = [
            part(text, separator, index),
            *(part(text, ",", n) for n in NUMBERS),
            part(text, ",", index),
        ]
        assert list(row.values()) == expected, (text, separator, index)


NUMBERS = (0, 1, 9, -1, 2**31 - 1)
ROW_KINDS = (pa.string(), pa.string(), pa.int32())


def part(text: str | None, separator: str | None, index: int | None) -> str | None:
    if not text or separator is None or index is None or index < 0:
        return None
    parts = text.split(separator or " ")
    return parts[index] if index < len(parts) else None


def test_a_separator_by_its_code_is_one_of_255() -> None:
    rows = pa.RecordBatch.from_arrays(
        [
            pa.array(["aĀb", "aÿb", "a\x01b", "a\x00b"]),
            pa.array([""] * 4),
            pa.array([256, 255, 1, 0], pa.int32()),
        ],
        ["s", "p", "n"],
    )
    found = computed(
        [bound("SPLIT_INDEX(s, n, 1)", ROW), bound("SPLIT_INDEX(s, 256, 0)", ROW)], ROW, rows, "UTC"
    )
    assert found.column(0).to_pylist() == [None, "b", "b", None]
    assert found.column(1).to_pylist() == [None] * 4
