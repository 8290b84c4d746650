"""What MATCH_RECOGNIZE refuses, and where; Flink refuses most of it when it plans."""

from __future__ import annotations

import pytest

from firesteel.common.errors import SqlError
from tests.sql.binding.catalogs import small_catalog

CATALOG = small_catalog()


def query(pattern: str, *, measures: str = "A.price AS p", define: str = "A AS TRUE", more: str = "") -> str:
    return (
        f"SELECT * FROM bid MATCH_RECOGNIZE (PARTITION BY auction ORDER BY bidtime MEASURES {measures} {more} "
        f"PATTERN ({pattern}) DEFINE {define})"
    )


def error(sql: str) -> tuple[str, str]:
    """The error of a query, and what its carets are under."""
    with pytest.raises(SqlError) as raised:
        CATALOG.query(sql)
    message, line, carets, *_ = str(raised.value).split("\n")
    first, last = carets.index("^"), carets.rindex("^")
    return message, line[first : last + 1]


@pytest.mark.parametrize(
    ("pattern", "says", "place"),
    [
        ("A B A", "the pattern variable A twice, which is not supported, as in Flink", "A"),
        (
            "A B+",
            "a greedy quantifier as the last element of a pattern, which is not supported, as in",
            "A B+",
        ),
        ("A B{2,}", "a greedy quantifier as the last element", "A B{2,}"),
        ("A* B?", "a pattern that matches no rows at all, which is not supported, as in Flink", "A* B?"),
        ("A+ B? C", "the optional B? after the greedy A+, which is not supported, as in Flink", "A+ B? C"),
        ("(A B)+ C", "a group with a quantifier in PATTERN, which is not supported, as in Flink", "(A B)+"),
        ("A | B", "| (a choice) in PATTERN, which is not supported, as in Flink", "A | B"),
        ("PERMUTE(A, B)", "PERMUTE, which is not supported, as in Flink", "PERMUTE(A, B)"),
        ("^ A B", "^ and $ in PATTERN, which is not supported", "A B"),
        ("A B?? C", "a reluctant optional variable (??), which is not supported, as in Flink", "B??"),
        ("A B{3,2} C", "the most rows of a quantifier to be at least 1, and at least the fewest", "B{3,2}"),
        ("A B{0} C", "the most rows of a quantifier to be at least 1, and at least the fewest", "B{0}"),
    ],
)
def test_patterns_that_are_refused(pattern: str, says: str, place: str) -> None:
    message, where = error(query(pattern))
    assert says in message
    assert where == place


@pytest.mark.parametrize(
    ("measures", "says", "place"),
    [
        ("LAST(A.price, -1) AS p", "a whole number from 0 on as the offset of LAST", "-1"),
        ("LAST(A.price, bidder) AS p", "a whole number from 0 on as the offset of LAST", "bidder"),
        ("LAST(1) AS p", "requires a column in LAST", "LAST(1)"),
        ("LAST(A.price + B.price) AS p", "to be of one pattern variable", "LAST(A.price + B.price)"),
        ("FIRST(LAST(A.price)) AS p", "uses LAST within FIRST", "LAST(A.price)"),
        ("SUM(FIRST(A.price)) AS p", "uses FIRST within SUM", "FIRST(A.price)"),
        ("SUM(1) AS p", "requires a column in SUM", "SUM(1)"),
        ("PREV(A.price) AS p", "uses PREV in MEASURES", "PREV(A.price)"),
        ("CLASSIFIER() AS p", "CLASSIFIER, which is not supported, as in Flink", "CLASSIFIER()"),
        ("MATCH_ROWTIME(A.price) AS p", "requires a row time as the argument of MATCH_ROWTIME", "A.price"),
        (
            "A.price AS auction",
            "defines the column auction, which the result has already",
            "A.price AS auction",
        ),
        ("A.price AS p, B.price AS p", "defines the column p, which the result has already", "B.price AS p"),
        ("NULL AS p", "requires a value with a type; got NULL", "NULL AS p"),
        ("(SELECT 1) AS p", "", "(SELECT 1)"),
        ("bid.price AS p", "requires the name of a pattern variable or of a column; got bid", "bid"),
    ],
)
def test_measures_that_are_refused(measures: str, says: str, place: str) -> None:
    message, where = error(query("A B", measures=measures))
    assert says in message
    assert where == place


@pytest.mark.parametrize(
    ("define", "says", "place"),
    [
        (
            "B AS B.price > PREV(B.price)",
            "PREV (a physical offset), which is not supported, as in",
            "PREV(B.price)",
        ),
        (
            "B AS FINAL LAST(B.price) > 1",
            "uses FINAL, which stands before functions in MEASURES",
            "FINAL LAST(B.price)",
        ),
        ("A AS A.price", "requires a condition (BOOLEAN) in DEFINE", "A.price"),
        ("A AS MATCH_PROCTIME() IS NULL", "MATCH_PROCTIME in DEFINE", "MATCH_PROCTIME()"),
    ],
)
def test_definitions_that_are_refused(define: str, says: str, place: str) -> None:
    message, where = error(query("A B", define=define))
    assert says in message
    assert where == place


@pytest.mark.parametrize(
    ("more", "says", "place"),
    [
        ("AFTER MATCH SKIP TO FIRST D", "requires the name of a variable in PATTERN; got D", "D"),
    ],
)
def test_skips_that_are_refused(more: str, says: str, place: str) -> None:
    message, where = error(query("A B", more=more))
    assert says in message
    assert where == place


@pytest.mark.parametrize(
    ("length", "says"),
    [
        ("INTERVAL '1' MONTH", "requires a constant interval of days or smaller units in WITHIN"),
        ("INTERVAL -'1' SECOND", "requires an interval of at least 0 in WITHIN"),
    ],
)
def test_lengths_that_are_refused(length: str, says: str) -> None:
    message, where = error(query("A B").replace(" DEFINE", f" WITHIN {length} DEFINE"))
    assert says in message
    assert where == length


def test_an_order_is_required() -> None:
    message, _ = error(query("A B").replace(" ORDER BY bidtime", ""))
    assert "requires an ORDER BY, which begins with a time attribute" in message


@pytest.mark.parametrize(
    ("sql", "says", "place"),
    [
        (
            query("A B", more="ONE ROW PER MATCH WITH TIMED OUT MATCHES"),
            "requires WITHIN after PATTERN (...): matches without it do not time out; got WITH TIMED OUT",
            "A B",
        ),
        (
            query("A B", measures="MATCH_TIMED_OUT() AS late"),
            "uses MATCH_TIMED_OUT, which is a measure of its own of matches WITH TIMED OUT MATCHES",
            "MATCH_TIMED_OUT()",
        ),
        (
            query("A B", define="A AS MATCH_TIMED_OUT()"),
            "uses MATCH_TIMED_OUT, which is a measure of its own",
            "MATCH_TIMED_OUT()",
        ),
    ],
)
def test_what_is_asked_of_matches_that_time_out(sql: str, says: str, place: str) -> None:
    message, where = error(sql)
    assert says in message
    assert where == place


def test_a_variable_of_a_match_that_times_out_may_have_no_row() -> None:
    within = " WITHIN INTERVAL '1' HOUR DEFINE"
    types = [
        CATALOG.query(query("A B", measures="B.bidder AS b", more=more).replace(" DEFINE", within))
        .row.fields[-1]
        .type
        for more in ("", "ONE ROW PER MATCH WITH TIMED OUT MATCHES")
    ]
    assert [kind.nullable for kind in types] == [False, True]
