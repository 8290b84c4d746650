"""Chains of more operators than Python's stack holds by itself."""

from __future__ import annotations

from typing import Literal

import pytest

from firesteel.datastream import StreamExecutionEnvironment
from firesteel.testing import executing

OPERATORS = 200


@pytest.mark.parametrize(
    "on",
    ["process", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.xdist_group("spark")])],
)
def test_two_hundred_maps_in_a_chain(on: Literal["process", "spark"]) -> None:
    with executing(on, parallelism=2, epoch_records=7):
        stream = StreamExecutionEnvironment.get_execution_environment().from_collection(list(range(20)))
        for _ in range(OPERATORS):
            stream = stream.map(lambda value: value + 1)
        assert sorted(stream.execute_and_collect()) == [value + OPERATORS for value in range(20)]
