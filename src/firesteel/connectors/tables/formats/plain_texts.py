"""Columns of text to columns of times, vectorised: only texts of the plain form are taken."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.connectors.tables.formats.characters import matrix

_ZERO: Final = ord("0")
_CLOCK: Final = "dd:dd:dd"
_DATE: Final = "dddd-dd-dd"
_MOST_FRACTION: Final = 9
_PER_SECOND: Final = {"us": 6, "ns": 9}


class Doubtful(Exception):  # noqa: N818 - it says that the exact way must be taken; nothing is wrong yet
    """A text is not plainly of the expected form: the exact way decides what it means."""


def plain_timestamps(
    texts: pa.Array, precision: int, kind: pa.DataType, separator: str, zulu: bool
) -> pa.Array:
    """Return the timestamps of texts such as 2020-01-31 23:59:59.123, cut to `precision` digits.

    `zulu` asks for a Z at the end. Raises Doubtful for any other form.

    >>> texts = pa.array(["2020-01-02 03:04:05.1239", "2020-01-02 03:04:05.1230"])
    >>> [str(time) for time in plain_timestamps(texts, 3, pa.timestamp("us"), " ", False).to_pylist()]
    ['2020-01-02 03:04:05.123000', '2020-01-02 03:04:05.123000']
    """
    digits = _check_form(texts, f"{_DATE}{separator}{_CLOCK}", "Z" if zulu else "")
    unit = kind.unit
    try:
        if digits > _PER_SECOND[unit]:
            raise Doubtful
        column = texts.cast(pa.timestamp(unit, "UTC" if zulu else None))
    except pa.ArrowInvalid as error:
        raise Doubtful from error
    if digits > precision:
        column = _cut(column, 10 ** (_PER_SECOND[unit] - precision))
    return column if column.type == kind else column.cast(kind)


def plain_dates(texts: pa.Array) -> pa.Array:
    """Return the dates of texts such as 2020-01-31. Raises Doubtful for any other form."""
    if _check_form(texts, _DATE, ""):
        raise Doubtful
    try:
        return texts.cast(pa.date32())
    except pa.ArrowInvalid as error:
        raise Doubtful from error


def plain_decimals(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return the decimal numbers of texts that fit the type. Raises Doubtful for others, and for any spaces."""
    if pc.any(pc.match_substring(texts, " "), min_count=0).as_py():
        raise Doubtful
    try:
        return texts.cast(kind)
    except pa.ArrowInvalid as error:
        raise Doubtful from error


def _cut(column: pa.Array, step: int) -> pa.Array:
    whole = column.cast(pa.int64())
    if whole.null_count:
        raise Doubtful
    numbers = whole.to_numpy()
    return pa.array(numbers // step * step).view(column.type)


def _check_form(texts: pa.Array, form: str, end: str) -> int:
    """Return the most digits of a fraction; raise Doubtful unless all texts are of a form, where d is a digit."""
    rows = matrix(texts)
    if rows is None:
        pattern = form.replace("d", r"\d")
        plain = pc.match_substring_regex(texts, rf"^{pattern}(\.\d{{1,9}})?{end}$")
        if not pc.all(plain, min_count=0).as_py():
            raise Doubtful
        longest: int = pc.max(pc.binary_length(texts)).as_py() or 0
        return max(0, longest - len(form) - len(end) - 1)
    width = int(rows.shape[1])
    fraction = width - len(form) - len(end)
    if fraction < 0 or fraction == 1 or fraction > _MOST_FRACTION + 1:
        raise Doubtful
    whole = form + ("." + "d" * (fraction - 1) if fraction else "") + end
    if not _matches(rows, whole):
        raise Doubtful
    return max(0, fraction - 1)


def _matches(rows: npt.NDArray[np.uint8], form: str) -> bool:
    lowest = form.replace("d", "0").encode() * len(rows)
    span = bytes(9 if mark == "d" else 0 for mark in form) * len(rows)
    above = rows.reshape(-1) - np.frombuffer(lowest, np.uint8)
    return bool((above <= np.frombuffer(span, np.uint8)).all())
