"""Values as JSON, as Flink's JSON_STRING writes them."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.logical_types import LogicalType, LogicalTypeFamily, LogicalTypeRoot
from firesteel.common.logical_types.text import cast_to_string


def json_texts(column: pa.Array, data_type: LogicalType) -> pa.Array:
    """Return each value as JSON: numbers, booleans and VARIANT as they are, all others as strings; NULL stays NULL.

    >>> from firesteel.common.logical_types import STRING, IntType
    >>> json_texts(pa.array(["tea", None, 'a "b"']), STRING).to_pylist()
    ['"tea"', None, '"a \\\\"b\\\\""']
    >>> json_texts(pa.array([1, None], pa.int32()), IntType()).to_pylist()
    ['1', None]
    """
    texts = cast_to_string(column, data_type)
    if data_type.root is LogicalTypeRoot.BOOLEAN:
        return pc.utf8_lower(texts)
    if data_type.root is LogicalTypeRoot.VARIANT or data_type.has_family(LogicalTypeFamily.NUMERIC):
        return texts
    encoded = texts.dictionary_encode()
    quoted = [json.dumps(text, ensure_ascii=False) for text in encoded.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(encoded.indices, pa.array(quoted, pa.string())).cast(pa.string())
