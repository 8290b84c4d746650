"""A state of a job as a table: a bounded source, which reads the runs of one epoch by key groups.

The columns are those of `firesteel.saved.row_columns`, or of the arrangement, and then `epoch` and `epoch_time`: the
committed epoch that the rows are of, and when that was.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, NamedTuple

import pyarrow as pa

from firesteel.checkpoint.objects import Storage
from firesteel.common.errors import KeyEncodingError, StateCorruptedError, StateError
from firesteel.common.logical_types import RowType
from firesteel.common.logical_types.arrow import from_arrow_schema, to_arrow_schema
from firesteel.common.typeinfo import TypeInformation, Types
from firesteel.functions.columns.endpoints import ColumnBatches, ColumnSource
from firesteel.functions.columns.pushdowns import Comparison, Condition, Junction
from firesteel.functions.source import DiscoveryContext, Split
from firesteel.functions.windows import WINDOW_CODEC
from firesteel.graph.uids import id_of_uid
from firesteel.queryable.client import directory_of
from firesteel.saved.arrangements import Groups, SavedArrangement
from firesteel.saved.columns import type_of_keys
from firesteel.saved.inspection import SavedOperator, SavedState, StateSlice
from firesteel.saved.row_columns import RowColumns, RowTypes
from firesteel.state.arrangements.hashing import key_groups
from firesteel.state.keys.composite import group_prefix, key_segment
from firesteel.state.keys.groups import StateKey, key_group, state_key, user_key

_EPOCH: Final = pa.field("epoch", pa.int64(), nullable=False)
_EPOCH_TIME: Final = pa.field("epoch_time", pa.timestamp("us", "UTC"), nullable=False)
_START: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)

_KEY_TYPES: Final = (str, int, float, bool, dt.date)
"""Python types of constants that are keys as they are."""


class _Part(NamedTuple):
    """What a split reads: key groups of a state after an epoch; `prefix` limits it to one key."""

    state: StateSlice | SavedArrangement
    groups: Groups
    prefix: bytes
    epoch: int
    time: int


@dataclass(frozen=True)
class StateSource(ColumnSource):
    """The rows of a state or an arrangement after `epoch` (None: the one that is the last when the job starts).

    `names` are the columns that are read, of those of `row`. A `condition` on the key, or on all columns of an
    arrangement's key, limits it to the key groups of these keys.
    """

    location: str
    operator: str
    state: str
    epoch: int | None
    types: RowTypes
    row: RowType
    names: tuple[str, ...]
    condition: Condition | None = None

    unit = "splits"

    @property
    def who(self) -> str:
        """The state, for errors."""
        return f"state '{self.state}' of operator '{self.operator}' in {self.location}"

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        """Return ranges of key groups of one epoch."""
        return self._split(known, 1)

    def discover(self, context: DiscoveryContext) -> Iterable[Split]:
        """Return about as many ranges as there are subtasks."""
        return self._split(context.known, context.parallelism)

    def _split(self, known: frozenset[str], at_least: int) -> Iterable[Split]:
        if known:  # all ranges were found at once, of one epoch
            return []
        saved = SavedState.open(self.location, self.epoch)
        operator = saved.operator(self.operator, id_of_uid(self.operator))
        manifest = saved.manifest
        parts = self._arranged(operator, at_least) or self._stored(saved, operator, at_least)
        return [
            Split(
                f"{first}-{last}",
                0,
                1,
                _Part(part, (first, last), prefix, manifest.epoch, manifest.created_at),
            )
            for part, (first, last), prefix in parts
        ]

    def read_columns(self, split: Split, start: int, end: int) -> ColumnBatches:
        if start < end:
            part: _Part = split.payload
            try:
                for rows in self._rows(part):
                    yield self._shown(rows, part), None
            except StateCorruptedError as error:
                raise StateError(
                    f"could not be read to its end as epoch {part.epoch} left it",
                    who=self.who,
                    got=str(error),
                    hint="the job may keep it no longer: let it keep more epochs, or read a savepoint",
                ) from error
        return None

    def projected(self, columns: tuple[int, ...]) -> ColumnSource | None:
        """Return a source of these columns."""
        return replace(self, names=tuple(self.names[place] for place in columns))

    def filtered(self, condition: Condition) -> ColumnSource | None:
        """Return a source that reads the key groups of the keys alone that a condition names."""
        return replace(self, condition=condition) if self.condition is None else None

    def _arranged(
        self, operator: SavedOperator, at_least: int
    ) -> list[tuple[StateSlice | SavedArrangement, Groups, bytes]]:
        if all(found.name != self.state for found in operator.arrangements):
            return []
        found = operator.arrangement(self.state)
        groups = found.ranges(at_least)
        values = {name: _constants(self.condition, name) for name in found.layout.keys}
        if values and all(each is not None and len(each) == 1 for each in values.values()):
            keys = [
                pa.array(sorted(each or ()), found.layout.rows.field(name).type)
                for name, each in values.items()
            ]
            (group,) = key_groups(found.layout.hashed(keys), found.max_parallelism).tolist()
            groups = [(group, group)]
        return [(found, each, b"") for each in groups]

    def _stored(
        self, saved: SavedState, operator: SavedOperator, at_least: int
    ) -> list[tuple[StateSlice | SavedArrangement, Groups, bytes]]:
        schema = operator.state(self.state)
        part = saved.slice(operator, [schema])
        keys = None if self.types.key is None or self.types.key.is_pickled else self._keys()
        if keys is None or schema["scope"] == "broadcast":
            ranges = operator.ranges(at_least, broadcast=schema["scope"] == "broadcast")
            return [(part, groups, b"") for groups in ranges]
        by_group: dict[int, list[StateKey]] = {}
        for key in keys:
            by_group.setdefault(key_group(key, operator.max_parallelism), []).append(key)
        found: list[tuple[StateSlice | SavedArrangement, Groups, bytes]] = []
        for group, mine in sorted(by_group.items()):
            head = group_prefix(schema["id"], group)
            alone = len(mine) == 1 and schema["scope"] != "timers"
            found.append((part, (group, group), head + key_segment(mine[0]) if alone else b""))
        return found

    def _keys(self) -> list[StateKey] | None:
        """Return the keys that the condition allows, None if it may allow any."""
        constants = _constants(self.condition, "key")
        if constants is None or not all(isinstance(value, _KEY_TYPES) for value in constants):
            return None
        try:
            return [state_key(value) for value in constants]
        except KeyEncodingError:
            return None

    def _rows(self, part: _Part) -> Iterator[pa.RecordBatch]:
        storage = Storage.of(self.location)
        if isinstance(part.state, SavedArrangement):
            yield from part.state.batches(storage, part.groups)
            return
        rows = part.state.rows(storage, part.groups, WINDOW_CODEC, part.prefix)
        yield from RowColumns(part.state.schemas[0], self.types, self.who).batches(rows)

    def _shown(self, rows: pa.RecordBatch, part: _Part) -> pa.RecordBatch:
        count, schema = rows.num_rows, self._schema
        time = _START + dt.timedelta(milliseconds=part.time)
        epochs = pa.array([part.epoch] * count, _EPOCH.type), pa.array([time] * count, _EPOCH_TIME.type)
        named = dict(zip(rows.schema.names, rows.columns, strict=True)) | dict(
            zip((_EPOCH.name, _EPOCH_TIME.name), epochs, strict=True)
        )
        columns = [named[field.name].cast(field.type, safe=False) for field in schema]
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    @cached_property
    def _schema(self) -> pa.Schema:
        whole = to_arrow_schema(self.row)
        return pa.schema([whole.field(name) for name in self.names])


def state_source(job: str, operator: str, state: str, epoch: int | None = None) -> StateSource:
    """Return the source of a state, with the columns that it has now.

    `job` is a state directory or a savepoint (path or URL), or the address of a job in a cluster whose directory can be
    reached from here. Raises StateError, which says what there is, if there is no such state.
    """
    saved = SavedState.open(directory_of(job), epoch)
    location = saved.storage.url  # a worker may stand in another directory than this process
    found = saved.operator(operator, id_of_uid(operator))
    types = RowTypes()
    if any(arrangement.name == state for arrangement in found.arrangements):
        columns = found.arrangement(state).schema
    else:
        schema = found.state(state)
        if schema["scope"] != "broadcast":
            types = RowTypes(_key_type(saved, found))
        columns = RowColumns(schema, types, f"state '{state}' of {found.who}").arrow_schema
    row = from_arrow_schema(pa.schema([*columns, _EPOCH, _EPOCH_TIME]))
    return StateSource(location, found.id, state, epoch, types, row, tuple(row.field_names))


def _key_type(saved: SavedState, operator: SavedOperator) -> TypeInformation:
    keys = saved.some_keys(operator, WINDOW_CODEC)
    return type_of_keys(list(map(user_key, keys))) or Types.PICKLED_BYTE_ARRAY()


def _constants(condition: Condition | None, column: str) -> set[Any] | None:
    """Return the values that a condition allows in a column; None if it may allow any.

    >>> one, two = Comparison("key", "=", 1), Comparison("key", "=", 2)
    >>> _constants(Junction((one, two), any_of=True), "key"), _constants(one, "other")
    ({1, 2}, None)
    >>> _constants(Junction((one, Comparison("n", "<", 5))), "key")
    {1}
    """
    if isinstance(condition, Comparison):
        return {condition.value} if condition.column == column and condition.operator == "=" else None
    if not isinstance(condition, Junction):
        return None
    parts = [_constants(part, column) for part in condition.parts]
    known = [part for part in parts if part is not None]
    if condition.any_of:
        return set().union(*known) if len(known) == len(parts) else None
    return set.intersection(*known) if known else None
