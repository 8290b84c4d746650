"""The events as files: lines of JSON, and Parquet; written once, and the same for both systems.

Rounds of events are dealt to two files, one for each subtask: in each file event time grows at one pace, so no row is
late in any order of reading.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bench.environments import CACHE
from bench.nexmark.events import BLOCK, ROUND, SCHEMA, SEED, Block, Events
from bench.nexmark.side import write_sqlite

Format = Literal["json", "parquet"]

FORMATS: Final[tuple[Format, ...]] = ("parquet", "json")
FILES: Final = 2
_VERSION: Final = 1
"""Changes when other events or files are written, so that those in the cache are left."""

_COLUMNS: Final = ("person", "auction", "bid")


def folder(kind: Format, count: int, cache: Path = CACHE) -> Path:
    """Return the folder with the files of so many events; they are written if they are not there, with q13's table.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as cache:
    ...     sorted(path.name for path in folder("parquet", 100, Path(cache)).iterdir())
    ['events-0.parquet', 'events-1.parquet']
    """
    target = cached(f"{kind}-{count}", cache, lambda draft: _WRITERS[kind](draft, count))
    write_sqlite(target.with_name(f"{target.name}-side.sqlite"))
    return target


def cached(name: str, cache: Path, write: Callable[[Path], None]) -> Path:
    """Return a folder of events in the cache; `write` fills it if it is not there."""
    target = cache / f"bench-nexmark-{_VERSION}-{SEED}" / name
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_name(f".{target.name}-{os.getpid()}")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        write(draft)
        draft.rename(target)
    return target


def blocks(count: int) -> Iterator[Block]:
    """Yield the events in blocks."""
    source = Events()
    for number in range(-(-count // BLOCK)):
        yield source.block(number, min(BLOCK, count - number * BLOCK))


def dealt(count: int) -> Iterator[tuple[int, pa.Array]]:
    """Yield the file and the places of its events in a block of so many."""
    rounds = np.arange(count) // ROUND
    for file in range(FILES):
        yield file, pa.array(np.flatnonzero(rounds % FILES == file))


def _write_parquet(target: Path, count: int) -> None:
    with ExitStack() as stack:
        paths = [target / f"events-{file}.parquet" for file in range(FILES)]
        writers = [stack.enter_context(parquet_writer(path)) for path in paths]
        for block in blocks(count):
            rows = block.wide()
            for file, places in dealt(len(rows)):
                writers[file].write_batch(rows.take(places))


def parquet_writer(path: Path) -> pq.ParquetWriter:
    """Return a writer of Parquet that both systems can read."""
    # In a row within a row, Flink reads timestamps of 96 bits only, as it writes them.
    return pq.ParquetWriter(path, SCHEMA, use_deprecated_int96_timestamps=True)


def _write_json(target: Path, count: int) -> None:
    with ExitStack() as stack:
        files = [stack.enter_context((target / f"events-{file}.json").open("wb")) for file in range(FILES)]
        for block in blocks(count):
            lines = json_lines(block)
            for file, places in dealt(len(lines)):
                _, _, data = lines.take(places).buffers()
                files[file].write(data)


def json_lines(block: Block) -> pa.Array:
    """Return the events of a block as JSON, each with its line end.

    >>> json_lines(next(blocks(50)))[10].as_py()[:60]
    '{"event_type":2,"person":null,"auction":null,"bid":{"auction'
    """
    columns = (block.person, block.auction, block.bid)
    lines = []
    for kind, column in enumerate(columns):
        before = f'{{"event_type":{kind}' + "".join(f',"{name}":null' for name in _COLUMNS[:kind])
        after = "".join(f',"{name}":null' for name in _COLUMNS[kind + 1 :])
        lines.append(
            pc.binary_join_element_wise(before, f',"{_COLUMNS[kind]}":', _shown(column), after, "}\n", "")
        )
    places = np.concatenate([block.people, block.auctions, block.bids])
    return pa.concat_arrays(lines).take(pa.array(np.argsort(places)))


def _shown(column: pa.Array) -> pa.Array:
    kind = column.type
    if pa.types.is_struct(kind):
        parts: list[pa.Array | str] = []
        for place, field in enumerate(kind):
            parts += [f'{"{" if place == 0 else ","}"{field.name}":', _shown(column.field(place))]
        return pc.binary_join_element_wise(*parts, "}", "")
    if pa.types.is_timestamp(kind):
        return pc.binary_join_element_wise('"', column.cast(pa.string()), '"', "")
    if pa.types.is_string(kind):
        return pc.binary_join_element_wise('"', column, '"', "")
    return column.cast(pa.string())


_WRITERS: Final[dict[Format, Callable[[Path, int], None]]] = {
    "json": _write_json,
    "parquet": _write_parquet,
}
