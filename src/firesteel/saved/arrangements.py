"""The arrangements of a saved state: the rows that operators of tables keep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa

from firesteel.checkpoint.arranged import read_changes
from firesteel.checkpoint.compaction import TASK_BYTES
from firesteel.checkpoint.fetching import fetching_ahead
from firesteel.checkpoint.manifest import Layer, Manifest, OperatorSnapshot
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.recovery import runs_within
from firesteel.state.arrangements.changes import in_turn
from firesteel.state.arrangements.chunk import visible
from firesteel.state.arrangements.layout import WEIGHT, WRITTEN, Kind, Layout, decode_layout
from firesteel.state.arrangements.levels import CHUNK_ROWS, InMemory, merged_levels
from firesteel.state.arrangements.names import arrangement_of
from firesteel.state.keys.groups import key_group_range

Groups = tuple[int, int]
"""The first and the last of a range of key groups."""


class SavedArrangement(NamedTuple):
    """One arrangement of an operator; `layers` are all of it, oldest first, `now` (milliseconds) is when it was saved.

    Its rows have the columns of the layout, in a multiset `$weight` (how often there is such a row), and with a time to
    live `$written` (the time of the last write in milliseconds).
    """

    name: str
    layout: Layout
    layers: tuple[Layer, ...]
    max_parallelism: int
    now: int

    @property
    def schema(self) -> pa.Schema:
        """The schema of its rows."""
        return pa.schema([self.layout.stored.field(name) for name in self._columns])

    @property
    def size(self) -> int:
        """The size of its runs on storage, in bytes."""
        return sum(layer.size for layer in self.layers)

    def ranges(self, at_least: int = 1) -> list[Groups]:
        """Cut its key groups into at least this many ranges whose rows fit into memory."""
        return ranges_of(self.size, at_least, self.max_parallelism)

    def batches(self, storage: Storage, groups: Groups, *, expired: bool = False) -> Iterator[pa.RecordBatch]:
        """Yield the rows in a range of key groups, in their order; expired ones only on request.

        Merges may have dropped expired rows already. Raises StateCorruptedError, which names the run, if one is missing
        or damaged.
        """
        layout, wanted = self.layout, range(groups[0], groups[1] + 1)
        runs = runs_within(self.layers, groups)
        with fetching_ahead(storage, runs) as source:
            changes = read_changes(source, runs, layout, wanted, self.max_parallelism, InMemory())
        levels, _ = in_turn(changes)
        limit = None if expired else layout.expired_at(self.now)
        for chunk in merged_levels(layout, levels, CHUNK_ROWS, whole=True):
            there = visible(chunk.batch, limit)
            if there.any():
                yield chunk.batch.filter(pa.array(there)).select(self._columns)

    @property
    def _columns(self) -> list[str]:
        layout = self.layout
        weight = [WEIGHT] if layout.kind is Kind.MULTISET else []
        written = [] if layout.time_to_live is None else [WRITTEN]
        return [*layout.rows.names, *weight, *written]


def arrangements_of(manifest: Manifest, snapshot: OperatorSnapshot) -> tuple[SavedArrangement, ...]:
    """Return the arrangements of an operator, in the order of their names."""
    return tuple(
        SavedArrangement(
            arrangement_of(state),
            decode_layout(layout),
            tuple(manifest.layers.get(state, ())),
            snapshot.max_parallelism or manifest.max_parallelism,
            manifest.processing_time,
        )
        for state, layout in sorted(snapshot.arrangements.items())
    )


def ranges_of(size: int, at_least: int, max_parallelism: int) -> list[Groups]:
    """Cut key groups into at least `at_least` ranges, if there are as many, of runs that fit into memory."""
    parts = min(max(at_least, -(-size // TASK_BYTES)), max_parallelism)
    groups = (key_group_range(part, parts, max_parallelism) for part in range(parts))
    return [(found.start, found.stop - 1) for found in groups]


def layout_text(layout: Layout) -> str:
    """Return a layout for people.

    >>> layout_text(Layout(pa.schema([("end", pa.int64()), ("key", pa.string())]), ("key",), leading="end"))
    'upsert(end: int64, key: string; by end, key)'
    """
    columns = ", ".join(f"{field.name}: {field.type}" for field in layout.rows)
    keys = ", ".join([*filter(None, [layout.leading]), *layout.keys])
    return f"{layout.kind}({columns}; by {keys})" if keys else f"{layout.kind}({columns})"
