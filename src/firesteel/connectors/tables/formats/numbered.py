"""Rows of records that have one row, none, or more."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa


class Numbered(NamedTuple):
    """Rows, and of each the number of its record."""

    rows: pa.RecordBatch
    records: list[int]
