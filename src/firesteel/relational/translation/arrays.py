"""Functions of arrays in the kernel's SQL; an operand that a text names more than once is computed once."""

from __future__ import annotations

from typing import Final

from firesteel.common.logical_types import ArrayType, DoubleType, FloatType
from firesteel.relational.expressions import Call
from firesteel.relational.translation.translator import Translation, Translator


def _once(body: str, **given: str) -> str:
    """Return a text of names that stand for texts; NULL if one of them is.

    >>> _once("a + a", a="f(x)")
    'CASE WHEN (f(x)) IS NULL THEN NULL ELSE list_transform([f(x)], lambda a: a + a)[1] END'
    """
    unknown = " OR ".join(f"({text}) IS NULL" for text in given.values())
    for name, text in given.items():
        body = f"list_transform([{text}], lambda {name}: {body})[1]"
    return f"CASE WHEN {unknown} THEN NULL ELSE {body} END"


def _has_null(array: str) -> str:
    return f"len(list_filter({array}, lambda n: n IS NULL)) > 0"


def _within(value: str, array: str) -> str:
    """Return whether a value, which may be NULL, is in an array."""
    return f"CASE WHEN {value} IS NULL THEN {_has_null(array)} ELSE list_contains({array}, {value}) END"


def _distinct(array: str) -> str:
    """Return the text of an array, which must be a name, without the elements that were there before."""
    first_null = f"list_position(list_transform({array}, lambda n: n IS NULL), TRUE)"
    first = f"CASE WHEN x IS NULL THEN {first_null} ELSE list_position({array}, x) END"
    return f"list_filter({array}, lambda x, place: {first} = place)"


def _all_distinct(array: str) -> str:
    return f"list_transform([{array}], lambda d: {_distinct('d')})[1]"


def _contains(translator: Translator, call: Call, texts: list[str]) -> str:
    array, value = texts
    return f"CASE WHEN {array} IS NULL THEN NULL ELSE {_within(value, array)} END"


def _position(translator: Translator, call: Call, texts: list[str]) -> str:
    array, value = texts
    found = f"CAST(coalesce(list_position({array}, {value}), 0) AS INTEGER)"
    return f"CASE WHEN {array} IS NULL OR {value} IS NULL THEN NULL ELSE {found} END"


def _removed(translator: Translator, call: Call, texts: list[str]) -> str:
    array, value = texts
    return f"list_filter({array}, lambda x: x IS DISTINCT FROM {value})"


def _extended(text: str) -> Translation:
    """Return the translation of a function that is NULL only if its array is."""

    def translate(translator: Translator, call: Call, texts: list[str]) -> str:
        return f"CASE WHEN {texts[0]} IS NULL THEN NULL ELSE {text.format(*texts)} END"

    return translate


def _joined(translator: Translator, call: Call, texts: list[str]) -> str:
    array, separator, *null = texts
    known = f"list_transform(a, lambda x: coalesce(x, {null[0]}))" if null else "a"
    parts = f"list_filter({known}, lambda x: x IS NOT NULL)"
    whole = "list_reduce(p, lambda found, x: found || s || x)"
    joined = f"list_transform([{parts}], lambda p: CASE WHEN len(p) = 0 THEN '' ELSE {whole} END)[1]"
    found = _once(joined, a=array, s=separator)
    return f"CASE WHEN {null[0]} IS NULL THEN NULL ELSE {found} END" if null else found


def _slice(translator: Translator, call: Call, texts: list[str]) -> str:
    array, start, *end = texts
    size = "CAST(len(a) AS INTEGER)"
    first = f"greatest(1, CASE WHEN s < 0 THEN s + {size} + 1 ELSE s END)"
    last = f"CASE WHEN e < 0 THEN e + {size} + 1 ELSE e END"
    last = f"CASE WHEN {last} = 0 THEN 1 ELSE least({last}, {size}) END"
    cut = f"CASE WHEN len(a) = 0 THEN a WHEN {last} < {first} THEN a[2:1] ELSE a[{first}:{last}] END"
    return _once(cut, a=array, s=start, e=end[0] if end else f"CAST(len({array}) AS INTEGER)")


def _sorted(translator: Translator, call: Call, texts: list[str]) -> str:
    array, *flags = texts
    up = flags[0] if flags else "TRUE"
    nulls_first = flags[1] if len(flags) > 1 else up
    choices = " ".join(
        f"WHEN {'' if ascending else 'NOT '}u AND {'' if first else 'NOT '}f THEN list_sort(a, "
        f"'{'ASC' if ascending else 'DESC'}', 'NULLS {'FIRST' if first else 'LAST'}')"
        for ascending in (True, False)
        for first in (True, False)
    )
    return _once(f"CASE {choices} END", a=array, u=up, f=nulls_first)


def _extreme(name: str) -> Translation:
    """Return the translation of ARRAY_MAX or ARRAY_MIN: nothing is larger or smaller than NaN."""

    def translate(translator: Translator, call: Call, texts: list[str]) -> str:
        given = call.operands[0].type
        assert isinstance(given, ArrayType)
        if not isinstance(given.element, FloatType | DoubleType):
            return f"list_{name}({texts[0]})"
        sign = ">" if name == "max" else "<"
        better = f"x {sign} m AND NOT isnan(x) AND NOT isnan(m)"
        known = "list_filter(a, lambda n: n IS NOT NULL)"
        reduced = f"list_reduce({known}, lambda m, x: CASE WHEN {better} THEN x ELSE m END)"
        return _once(f"CASE WHEN len({known}) = 0 THEN NULL ELSE {reduced} END", a=texts[0])

    return translate


def _concatenated(translator: Translator, call: Call, texts: list[str]) -> str:
    found = texts[0]
    for text in texts[1:]:
        found = f"list_concat({found}, {text})"
    unknown = " OR ".join(f"{text} IS NULL" for text in texts)
    return f"CASE WHEN {unknown} THEN NULL ELSE {found} END"


def _of_two(body: str) -> Translation:
    return lambda translator, call, texts: _once(body, a=texts[0], b=texts[1])


def _reversed(translator: Translator, call: Call, texts: list[str]) -> str:
    return f"list_reverse({texts[0]})"


TRANSLATIONS: Final[dict[str, Translation]] = {
    "ARRAY_CONTAINS": _contains,
    "ARRAY_POSITION": _position,
    "ARRAY_REMOVE": _removed,
    "ARRAY_APPEND": _extended("list_append({0}, {1})"),
    "ARRAY_PREPEND": _extended("list_prepend({1}, {0})"),
    "ARRAY_JOIN": _joined,
    "ARRAY_SLICE": _slice,
    "ARRAY_SORT": _sorted,
    "ARRAY_MAX": _extreme("max"),
    "ARRAY_MIN": _extreme("min"),
    "ARRAY_CONCAT": _concatenated,
    "ARRAY_DISTINCT": lambda translator, call, texts: _once(_distinct("a"), a=texts[0]),
    "ARRAY_UNION": _of_two(_all_distinct("list_concat(a, b)")),
    "ARRAY_EXCEPT": _of_two(_all_distinct(f"list_filter(a, lambda v: NOT {_within('v', 'b')})")),
    "ARRAY_INTERSECT": _of_two(_all_distinct(f"list_filter(a, lambda v: {_within('v', 'b')})")),
    "ARRAY_REVERSE": _reversed,
}
