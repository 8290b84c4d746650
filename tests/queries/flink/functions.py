"""Functions of Python that the queries call, for Flink's Python and for Firesteel."""

from __future__ import annotations

import asyncio
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
        **_of_batches(pyflink),
        **_aggregates(pyflink),
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


def _of_batches(pyflink: Any) -> dict[str, Any]:
    """Return scalar functions of pandas, and those that are awaited."""
    udf = pyflink.udf.udf

    @udf(result_type="BIGINT", func_type="pandas")
    def plus(a: Any, b: Any) -> Any:
        return a + b

    @udf(result_type="STRING", func_type="pandas")
    def shout(text: Any) -> Any:
        return text.str.upper() + "!"

    @udf(result_type="STRING", func_type="pandas")
    def shown(value: Any) -> Any:
        return value.map(lambda one: f"{type(one).__name__} {one}")

    @udf(result_type="ROW<x BIGINT, y STRING>", func_type="pandas")
    def frame(n: Any, text: Any) -> Any:
        import pandas as pd

        return pd.DataFrame({"x": n, "y": text})

    @udf(result_type="BOOLEAN", func_type="pandas")
    def above(n: Any) -> Any:
        return n > 10

    @udf(result_type="TIMESTAMP(3)", func_type="pandas")
    def later(at: Any) -> Any:
        import pandas as pd

        return at + pd.Timedelta(hours=1)

    @udf(result_type="STRING")
    async def answered(n: int | None, text: str | None) -> str | None:
        await asyncio.sleep(0)
        return None if n is None else f"{n}/{text}"

    class Answering(pyflink.udf.AsyncScalarFunction):  # type: ignore[name-defined, misc]
        def open(self, function_context: Any) -> None:
            self.step = 7

        async def eval(self, n: int | None) -> int | None:
            await asyncio.sleep(0)
            return None if n is None else n + self.step

    return {
        "plus_of": plus,
        "shout": shout,
        "shown_by_pandas": shown,
        "frame_of": frame,
        "above_ten": above,
        "an_hour_later": later,
        "answered": answered,
        "answering": udf(Answering(), result_type="BIGINT"),
    }


def _aggregates(pyflink: Any) -> dict[str, Any]:
    """Return aggregate functions."""
    types, udaf = pyflink.DataTypes, pyflink.udf.udaf
    base = pyflink.AggregateFunction

    class WeightedMean(base):  # type: ignore[misc, valid-type]
        def create_accumulator(self) -> Any:
            return pyflink.Row(0, 0)

        def accumulate(self, accumulator: Any, value: int | None, weight: int | None) -> None:
            if value is not None and weight is not None:
                accumulator[0] += value * weight
                accumulator[1] += weight

        def retract(self, accumulator: Any, value: int | None, weight: int | None) -> None:
            if value is not None and weight is not None:
                accumulator[0] -= value * weight
                accumulator[1] -= weight

        def merge(self, accumulator: Any, accumulators: Any) -> None:
            for other in accumulators:
                accumulator[0] += other[0]
                accumulator[1] += other[1]

        def get_value(self, accumulator: Any) -> float | None:
            return accumulator[0] / accumulator[1] if accumulator[1] else None

        def get_accumulator_type(self) -> Any:
            return types.ROW([types.FIELD("f0", types.BIGINT()), types.FIELD("f1", types.BIGINT())])

        def get_result_type(self) -> Any:
            return types.DOUBLE()

    class Words(base):  # type: ignore[misc, valid-type]
        """The texts of a group, in alphabetical order."""

        def create_accumulator(self) -> Any:
            return pyflink.Row(pyflink.ListView(), 0)

        def accumulate(self, accumulator: Any, text: str | None) -> None:
            accumulator[0].add(text or "-")
            accumulator[1] += 1

        def retract(self, accumulator: Any, text: str | None) -> None:
            kept = [one for one in accumulator[0] if one is not None]
            kept.remove(text or "-")
            accumulator[0].clear()
            accumulator[0].add_all(kept)
            accumulator[1] -= 1

        def get_value(self, accumulator: Any) -> str:
            return f"{accumulator[1]}: {' '.join(sorted(accumulator[0]))}"

        def get_accumulator_type(self) -> Any:
            parts = [types.FIELD("f0", types.LIST_VIEW(types.STRING())), types.FIELD("f1", types.BIGINT())]
            return types.ROW(parts)

        def get_result_type(self) -> Any:
            return types.STRING()

    class Frequent(base):  # type: ignore[misc, valid-type]
        """How often each number is there."""

        def create_accumulator(self) -> Any:
            return pyflink.Row(pyflink.MapView())

        def accumulate(self, accumulator: Any, n: int | None) -> None:
            if n is not None:
                accumulator[0][n] = (accumulator[0][n] or 0) + 1

        def retract(self, accumulator: Any, n: int | None) -> None:
            if n is not None:
                left = (accumulator[0][n] or 0) - 1
                if left > 0:
                    accumulator[0][n] = left
                else:
                    del accumulator[0][n]

        def get_value(self, accumulator: Any) -> str:
            return ", ".join(f"{n}*{times}" for n, times in sorted(accumulator[0].items()))

        def get_accumulator_type(self) -> Any:
            return types.ROW([types.FIELD("f0", types.MAP_VIEW(types.BIGINT(), types.BIGINT()))])

        def get_result_type(self) -> Any:
            return types.STRING()

    class Once(WeightedMean):
        """One that takes nothing back."""

        retract = base.retract

    return {
        "weighted": udaf(WeightedMean()),
        "words_of": udaf(Words()),
        "frequent": udaf(Frequent()),
        "weighted_once": udaf(Once()),
        "span_of": udaf(
            lambda n: n.max() - n.min(), result_type="BIGINT", func_type="pandas", name="span_of"
        ),
        "mean_of": udaf(lambda n: n.mean(), result_type="DOUBLE", func_type="pandas", name="mean_of"),
        "share_of": udaf(
            lambda a, b: a.sum() / b.sum(), result_type="DOUBLE", func_type="pandas", name="share_of"
        ),
    }
