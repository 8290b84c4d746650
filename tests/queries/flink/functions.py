"""Functions of Python that the queries call, for Flink's Python and for Firesteel."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from typing import Any


def functions(pyflink: Any) -> dict[str, Any]:
    """Return functions by their names; `pyflink` is the module pyflink.table, or Firesteel's."""
    types, udf, udtf = pyflink.DataTypes, pyflink.udf.udf, pyflink.udf.udtf

    @udtf(result_types="ROW<word STRING, length INT>")
    def split_words(text: str | None) -> Iterator[tuple[str, int]]:
        for word in (text or "").split():
            yield word, len(word)

    @udtf(result_types=types.INT())
    def up_to(n: int | None) -> range | None:
        return None if n is None else range(n)

    @udtf(result_types=[types.INT(), types.STRING()])
    def pairs(n: int | None, text: str | None) -> list[tuple[int | None, str | None]]:
        return [(n, text), (None, f"{text}!")]

    @udtf(result_types=["BIGINT", "STRING"], input_types=["BIGINT"])
    def of_number(n: int | None) -> Any:
        return pyflink.Row(n, repr(n))

    class Numbering(pyflink.TableFunction):  # type: ignore[name-defined, misc]
        def open(self, function_context: Any) -> None:
            self.opened = 1

        def eval(self, text: str | None, times: int | None) -> Iterator[str]:
            for number in range(times or 0):
                yield f"{text}{number + self.opened}"

    @udtf(
        result_types=(
            "ROW<d DECIMAL(6, 2), on_day DATE, moment TIMESTAMP(3), tags ARRAY<STRING>, counts MAP<STRING, INT>, "
            "part ROW<x INT, y STRING>, flag BOOLEAN, share DOUBLE, data BYTES, clock TIME(0)>"
        )
    )
    def kinds(n: int | None) -> Any:
        if n is None:
            return (None,) * 10
        day = dt.date(2024, 2, 28) + dt.timedelta(days=n)
        at = dt.datetime(2024, 1, 1, 0, 0, n, 250_000)
        part = pyflink.Row(x=n, y=None)
        return (
            Decimal(n) / 4,
            day,
            at,
            ["a", None],
            {"k": n},
            part,
            n > 1,
            n / 3,
            b"k%d" % n,
            dt.time(n, 2, 3),
        )

    @udtf(result_types=types.STRING())
    def seen(*values: Any) -> str:
        shown = (str(value) if isinstance(value, dt.datetime) else repr(value) for value in values)
        return "/".join(f"{type(value).__name__} {text}" for value, text in zip(values, shown, strict=True))

    @udf(result_type=types.BIGINT())
    def add_one(n: int | None) -> int | None:
        return None if n is None else n + 1

    @udf(result_type="STRING", input_types=["STRING", "BIGINT"])
    def label(text: str | None, n: int | None) -> str:
        return f"{text}-{n}"

    @udf(result_type=types.BOOLEAN())
    def is_odd(n: int | None) -> bool | None:
        return None if n is None else n % 2 == 1

    class Counting(pyflink.ScalarFunction):  # type: ignore[name-defined, misc]
        def open(self, function_context: Any) -> None:
            self.step = 10

        def eval(self, n: int | None) -> int:
            return (n or 0) * self.step

    @udf(result_type="ROW<x INT, y ARRAY<INT>>")
    def both(n: int | None) -> Any:
        return pyflink.Row(n, [n, 7])

    return {
        "split_words": split_words,
        "up_to": up_to,
        "pairs": pairs,
        "of_number": of_number,
        "numbering": udtf(Numbering(), result_types=types.STRING()),
        "kinds": kinds,
        "seen": seen,
        "add_one": add_one,
        "label": label,
        "is_odd": is_odd,
        "tenfold": udf(Counting(), result_type="INT"),
        "both_of": both,
    }
