"""Aggregates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firesteel.table.expressing.operand import Operand, given

if TYPE_CHECKING:
    from firesteel.table.expression import Expression


class Aggregates(Operand):
    """Aggregates of a group, of a window, or of the window of each row."""

    @property
    def distinct(self) -> Expression[Any]:
        """Return an aggregate over different values."""
        return self._call("distinct")

    @property
    def sum(self) -> Expression[Any]:
        """Return the sum, NULL of nothing."""
        return self._call("sum")

    @property
    def sum0(self) -> Expression[Any]:
        """Return the sum, 0 of nothing."""
        return self._call("sum0")

    @property
    def min(self) -> Expression[Any]:
        """Return the least value."""
        return self._call("min")

    @property
    def max(self) -> Expression[Any]:
        """Return the greatest value."""
        return self._call("max")

    @property
    def count(self) -> Expression[Any]:
        """Return the number of values that are not NULL."""
        return self._call("count")

    @property
    def avg(self) -> Expression[Any]:
        """Return the average."""
        return self._call("avg")

    @property
    def first_value(self) -> Expression[Any]:
        """Return the first value."""
        return self._call("first_value")

    @property
    def last_value(self) -> Expression[Any]:
        """Return the last value."""
        return self._call("last_value")

    def list_agg(self, separator: Any = ",") -> Expression[str]:
        """Return the texts, one after the other."""
        return self._call("listAgg", separator)

    @property
    def stddev_pop(self) -> Expression[Any]:
        """Return the standard deviation of all values."""
        return self._call("stddevPop")

    @property
    def stddev_samp(self) -> Expression[Any]:
        """Return the standard deviation of a sample."""
        return self._call("stddevSamp")

    @property
    def var_pop(self) -> Expression[Any]:
        """Return the variance of all values."""
        return self._call("varPop")

    @property
    def var_samp(self) -> Expression[Any]:
        """Return the variance of a sample."""
        return self._call("varSamp")

    @property
    def collect(self) -> Expression[Any]:
        """Return the values as a multiset."""
        return self._call("collect")

    @property
    def array_agg(self) -> Expression[Any]:
        """Return the values as an array."""
        return self._call("ARRAY_AGG")

    def percentile(self, percentage: Any, frequency: Any = None) -> Expression[Any]:
        """Return the value below which a part of all values is, 0 to 1."""
        return self._call("PERCENTILE", percentage, *given(frequency))

    def bitmap_and_agg(self) -> Expression[Any]:
        """Return the bitmap of what is in all bitmaps."""
        return self._call("BITMAP_AND_AGG")

    def bitmap_and_cardinality_agg(self) -> Expression[Any]:
        """Return how much is in all bitmaps."""
        return self._call("BITMAP_AND_CARDINALITY_AGG")

    def bitmap_build_agg(self) -> Expression[Any]:
        """Return the bitmap of the values."""
        return self._call("BITMAP_BUILD_AGG")

    def bitmap_build_cardinality_agg(self) -> Expression[Any]:
        """Return how many different values there are."""
        return self._call("BITMAP_BUILD_CARDINALITY_AGG")

    def bitmap_or_agg(self) -> Expression[Any]:
        """Return the bitmap of what is in one of the bitmaps."""
        return self._call("BITMAP_OR_AGG")

    def bitmap_or_cardinality_agg(self) -> Expression[Any]:
        """Return how much is in one of the bitmaps."""
        return self._call("BITMAP_OR_CARDINALITY_AGG")

    def bitmap_xor_agg(self) -> Expression[Any]:
        """Return the bitmap of what is in an odd number of bitmaps."""
        return self._call("BITMAP_XOR_AGG")

    def bitmap_xor_cardinality_agg(self) -> Expression[Any]:
        """Return how much is in an odd number of bitmaps."""
        return self._call("BITMAP_XOR_CARDINALITY_AGG")

    def over(self, alias: Any) -> Expression[Any]:
        """Return the aggregate over a window of `Table.over_window`, by its alias."""
        return self._call("over", alias)
