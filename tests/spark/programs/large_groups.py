"""Groups many keys, each with a text, pass after pass, in SQL, and prints some of the groups at the end.

Arguments: how many keys, how many bytes a text has, how many passes, and the directory for samples of the workers'
memory. Each process that reads the source writes a line `anonymous data` (MiB) to a file of its own every 20 ms.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from large_state import watch

from firesteel.connectors.tables.registry import register
from firesteel.functions.columns.connectors import TableConnector, TableRequest, TableSource
from firesteel.functions.columns.endpoints import ColumnBatches, ColumnSource
from firesteel.functions.source import Split
from firesteel.table import EnvironmentSettings, TableEnvironment

ROWS = 5_000


class Texts(ColumnSource):
    """Every key once a pass, each time with a text that begins with the number of the pass and the key."""

    def __init__(self, keys: int, size: int, passes: int, samples: str) -> None:
        self._keys = keys
        self._size = size
        self._passes = passes
        self._samples = samples

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        return [] if known else [Split("all", 0, self._keys * self._passes)]

    def read_columns(self, split: Split, start: int, end: int) -> ColumnBatches:
        path = Path(self._samples) / str(os.getpid())
        if not path.exists():
            threading.Thread(target=watch, args=(path.open("w"),), daemon=True).start()
        for first in range(start, end, ROWS):
            numbers = np.arange(first, min(first + ROWS, end))
            keys = pa.array(numbers % self._keys)
            parts = [pa.array(numbers // self._keys).cast(pa.string()), keys.cast(pa.string()), ""]
            texts = pc.utf8_rpad(pc.binary_join_element_wise(*parts, " "), self._size, "x")
            yield pa.RecordBatch.from_pydict({"k": keys, "t": texts}), None
        return None


class TextsConnector(TableConnector):
    name = "texts"

    def source(self, table: TableRequest) -> TableSource:
        options = table.options
        keys, size, passes = (int(options[name]) for name in ("keys", "size", "passes"))
        return TableSource(Texts(keys, size, passes, options["samples"]))


def main(keys: int, size: int, passes: int, samples: str) -> None:
    register(TextsConnector())
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.execute_sql(
        "CREATE TABLE texts (k BIGINT, t STRING) WITH ('connector' = 'texts', "
        f"'keys' = '{keys}', 'size' = '{size}', 'passes' = '{passes}', 'samples' = '{samples}')"
    )
    env.execute_sql("CREATE TABLE printed (k BIGINT, n BIGINT, t STRING) WITH ('connector' = 'print')")
    env.execute_sql(
        "INSERT INTO printed SELECT k, n, SUBSTRING(t, 1, 10) FROM "
        f"(SELECT k, COUNT(*) AS n, MAX(t) AS t FROM texts GROUP BY k) WHERE MOD(k, 1000) = 0 AND n = {passes}"
    ).wait()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
