"""The elements of collections, beside lists that are taken apart in Python."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from firesteel.common.logical_types import (
    ArrayType,
    BigIntType,
    Field,
    IntType,
    LogicalType,
    MapType,
    RowType,
)
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.correlates import Correlate, Unnest
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.correlate import CorrelateOperator
from tests.runtime.columns.columnar import Harness

KIND = BigIntType()
COLLECTIONS: dict[str, tuple[LogicalType, list[LogicalType]]] = {
    "ARRAY": (ArrayType(KIND), [KIND]),
    "MAP": (MapType(BigIntType(nullable=False), KIND), [KIND, KIND]),
    "MULTISET": (MapType(BigIntType(nullable=False), IntType(nullable=False)), [KIND]),
}


def elements(function: Unnest, collection: Any) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for part in collection or ():
        if function.collection == "MULTISET":
            found += [(part[0],)] * part[1]
        else:
            found.append(part if function.collection == "MAP" else (part,))
    return [(*row, place) for place, row in enumerate(found, 1)] if function.ordinality else found


@pytest.mark.parametrize("keeps", [False, True], ids=["inner", "left"])
@pytest.mark.parametrize("ordinality", [False, True], ids=["elements", "with ordinality"])
@pytest.mark.parametrize("collection", COLLECTIONS)
def test_each_row_comes_with_the_elements_of_its_collection(
    collection: Any, ordinality: bool, keeps: bool
) -> None:
    chance = random.Random(f"{collection}{ordinality}{keeps}")
    kind, types = COLLECTIONS[collection]
    row = RowType.of({"id": KIND, "given": kind}, nullable=False)
    results = [*types, *([IntType()] if ordinality else [])]
    fields = [Field("id", KIND), *(Field(f"f{place}", one) for place, one in enumerate(results))]
    function = Unnest(collection, ordinality)
    spec = Correlate(row, RowType(tuple(fields), nullable=False), function, (1,), (0,), keeps)
    run = Harness(lambda: CorrelateOperator(spec))
    for _ in range(10):
        count = chance.randrange(12)
        given = [chance.choice([None, [], one_of(collection, chance)]) for _ in range(count)]
        kinds = np.array([chance.choice([0, 1, 2, 3]) for _ in range(count)], np.int8)
        arrays = [pa.array(range(count), pa.int64()), pa.array(given, to_arrow_schema(row).types[1])]
        whole = ColumnBatch(pa.RecordBatch.from_arrays(arrays, schema=to_arrow_schema(row)), kinds)
        start = chance.randrange(count + 1)
        nothing = (None,) * len(results)
        expected = [
            (0 if kinds[place] in (0, 2) else 3, place, *part)
            for place in range(start, count)
            for part in elements(function, given[place]) or ([nothing] if keeps else [])
        ]
        assert run.rows(whole.slice(start, count)) == expected


def one_of(collection: str, chance: random.Random) -> list[Any]:
    keys = chance.sample(range(9), chance.randrange(1, 4))
    if collection == "ARRAY":
        return [chance.choice([None, key]) for key in keys]
    return [(key, chance.randrange(1, 4)) for key in keys]
