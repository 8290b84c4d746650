"""The events in small files that arrive one after another: a folder for each slice of time."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pyarrow as pa

from bench.environments import CACHE
from bench.nexmark.events import BLOCK, Block
from bench.nexmark.files import Format, blocks, cached, dealt, json_lines, parquet_writer


def slices(kind: Format, count: int, size: int, cache: Path = CACHE) -> list[Path]:
    """Return folders with the next `size` of `count` events each, in files for two subtasks; written if not there.

    `size` divides the events of a block, `count` is a multiple of it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as cache:
    ...     [len(list(folder.iterdir())) for folder in slices("json", 2_000, 1_000, Path(cache))]
    [2, 2]
    """
    assert BLOCK % size == 0 == count % size
    target = cached(f"{kind}-{count}-by-{size}", cache, partial(_write, kind=kind, count=count, size=size))
    return sorted(target.iterdir())


def _write(target: Path, kind: Format, count: int, size: int) -> None:
    number = 0
    for block in blocks(count):
        rows = _rows(kind, block)
        for start in range(0, len(rows), size):
            folder = target / f"{number:06}"
            folder.mkdir()
            for file, places in dealt(size):
                _write_file(folder / f"events-{file}.{kind}", rows.slice(start, size).take(places))
            number += 1


def _rows(kind: Format, block: Block) -> pa.RecordBatch | pa.Array:
    return block.wide() if kind == "parquet" else json_lines(block)


def _write_file(path: Path, rows: pa.RecordBatch | pa.Array) -> None:
    if isinstance(rows, pa.RecordBatch):
        with parquet_writer(path) as writer:
            writer.write_batch(rows)
    else:
        _, _, data = rows.buffers()
        path.write_bytes(data)
