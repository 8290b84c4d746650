"""Functions of rows, arrays, maps and bitmaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firesteel.table.expressing.operand import Operand, given

if TYPE_CHECKING:
    from firesteel.table.expression import Expression


class Collections(Operand):
    """Rows, arrays, maps and bitmaps."""

    def get(self, name_or_index: str | int) -> Expression[Any]:
        """Return a field of a row, by its name or its place from 0."""
        return self._call("get", name_or_index)

    def __getitem__(self, index: Any) -> Expression[Any]:
        """Return an element of an array, the first being 1, or the value of a key."""
        return self._call("at", index)

    @property
    def flatten(self) -> Expression[Any]:
        """Return the fields of a row as columns of their own."""
        return self._call("flatten")

    def at(self, index: Any) -> Expression[Any]:
        """Return an element of an array, the first being 1, or the value of a key."""
        return self._call("at", index)

    @property
    def cardinality(self) -> Expression[int]:
        """Return the number of elements."""
        return self._call("cardinality")

    @property
    def element(self) -> Expression[Any]:
        """Return the only element of an array."""
        return self._call("element")

    def array_append(self, addition: Any) -> Expression[Any]:
        """Return the array with one more element at its end."""
        return self._call("ARRAY_APPEND", addition)

    def array_contains(self, needle: Any) -> Expression[bool]:
        """Return whether an element is there."""
        return self._call("ARRAY_CONTAINS", needle)

    def array_distinct(self) -> Expression[Any]:
        """Return the array with each element once."""
        return self._call("ARRAY_DISTINCT")

    def array_position(self, needle: Any) -> Expression[int]:
        """Return the place of an element, from 1; 0 if it is not there."""
        return self._call("ARRAY_POSITION", needle)

    def array_prepend(self, addition: Any) -> Expression[Any]:
        """Return the array with one more element at its beginning."""
        return self._call("ARRAY_PREPEND", addition)

    def array_remove(self, needle: Any) -> Expression[Any]:
        """Return the array without an element."""
        return self._call("ARRAY_REMOVE", needle)

    def array_reverse(self) -> Expression[Any]:
        """Return the elements in the other order."""
        return self._call("ARRAY_REVERSE")

    def array_slice(self, start_offset: Any, end_offset: Any = None) -> Expression[Any]:
        """Return the elements from one place to another, the first being 1."""
        return self._call("ARRAY_SLICE", start_offset, *given(end_offset))

    def array_sort(self, ascending_order: Any = None, null_first: Any = None) -> Expression[Any]:
        """Return the elements in their order."""
        return self._call("ARRAY_SORT", *given(ascending_order, null_first))

    def array_union(self, array: Any) -> Expression[Any]:
        """Return the elements of both arrays, each once."""
        return self._call("ARRAY_UNION", array)

    def array_concat(self, *arrays: Any) -> Expression[Any]:
        """Return the elements of several arrays, one after the other."""
        return self._call("ARRAY_CONCAT", *arrays)

    def array_max(self) -> Expression[Any]:
        """Return the greatest element."""
        return self._call("ARRAY_MAX")

    def array_join(self, delimiter: Any, null_replacement: Any = None) -> Expression[str]:
        """Return the elements as one text."""
        return self._call("ARRAY_JOIN", delimiter, *given(null_replacement))

    def array_min(self) -> Expression[Any]:
        """Return the least element."""
        return self._call("ARRAY_MIN")

    def array_except(self, array: Any) -> Expression[Any]:
        """Return the elements that another array does not have."""
        return self._call("ARRAY_EXCEPT", array)

    def array_intersect(self, array: Any) -> Expression[Any]:
        """Return the elements that another array has, too."""
        return self._call("ARRAY_INTERSECT", array)

    @property
    def map_keys(self) -> Expression[Any]:
        """Return the keys."""
        return self._call("MAP_KEYS")

    def map_union(self, *maps: Any) -> Expression[Any]:
        """Return the entries of several maps; of one key, the last one."""
        return self._call("MAP_UNION", *maps)

    @property
    def map_values(self) -> Expression[Any]:
        """Return the values."""
        return self._call("MAP_VALUES")

    @property
    def map_entries(self) -> Expression[Any]:
        """Return the entries as an array of rows."""
        return self._call("MAP_ENTRIES")

    def object_update(self, *kv: Any) -> Expression[Any]:
        """Return an object with other values of fields, which are given in turn."""
        return self._call("OBJECT_UPDATE", *kv)

    def bitmap_and(self, bitmap2: Any) -> Expression[Any]:
        """Return what is in both bitmaps."""
        return self._call("BITMAP_AND", bitmap2)

    def bitmap_andnot(self, bitmap2: Any) -> Expression[Any]:
        """Return what is in this bitmap alone."""
        return self._call("BITMAP_ANDNOT", bitmap2)

    def bitmap_or(self, bitmap2: Any) -> Expression[Any]:
        """Return what is in one of both bitmaps."""
        return self._call("BITMAP_OR", bitmap2)

    def bitmap_xor(self, bitmap2: Any) -> Expression[Any]:
        """Return what is in only one of both bitmaps."""
        return self._call("BITMAP_XOR", bitmap2)

    def bitmap_build(self) -> Expression[Any]:
        """Return the bitmap of an array of numbers."""
        return self._call("BITMAP_BUILD")

    def bitmap_cardinality(self) -> Expression[Any]:
        """Return how many numbers a bitmap has."""
        return self._call("BITMAP_CARDINALITY")

    def bitmap_from_bytes(self) -> Expression[Any]:
        """Return the bitmap that bytes stand for."""
        return self._call("BITMAP_FROM_BYTES")

    def bitmap_to_array(self) -> Expression[Any]:
        """Return the numbers of a bitmap."""
        return self._call("BITMAP_TO_ARRAY")

    def bitmap_to_bytes(self) -> Expression[Any]:
        """Return a bitmap as bytes."""
        return self._call("BITMAP_TO_BYTES")

    def bitmap_to_string(self) -> Expression[Any]:
        """Return a bitmap as a text."""
        return self._call("BITMAP_TO_STRING")
