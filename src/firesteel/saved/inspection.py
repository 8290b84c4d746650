"""The contents of a savepoint or a kept epoch: its operators, their states, and the entries.

Everything is read from the files that a job would start from, in parts of bounded size. Nothing is written, and the job
may run meanwhile.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from firesteel.checkpoint.compaction import without_expired
from firesteel.checkpoint.log import ManifestLog, ManifestReader
from firesteel.checkpoint.manifest import Layer, Manifest, OperatorSnapshot, SourceProgress
from firesteel.checkpoint.newest import newest_entries
from firesteel.checkpoint.objects import NotFound, Storage
from firesteel.checkpoint.retention import kept_epochs
from firesteel.checkpoint.runs import read_batches
from firesteel.checkpoint.savepoint import open_savepoint, self_contained
from firesteel.checkpoint.splits import finished_splits
from firesteel.common.errors import StateError
from firesteel.saved.arrangements import Groups, SavedArrangement, arrangements_of, ranges_of
from firesteel.saved.entries import RowReader, StoredRow, locate
from firesteel.state.keys.composite import BROADCAST_GROUP, NamespaceCodec, key_segment, state_prefix
from firesteel.state.keys.groups import StateKey, key_group
from firesteel.state.live.operator_lists import ListSnapshot
from firesteel.state.values.chunks import split_elements
from firesteel.state.values.expiry import recorded_expiry
from firesteel.state.values.schemas import Schema, schema_text

_SAMPLED_RUNS: Final = 8
_SAMPLED_KEYS: Final = 1000
_LISTS: Final = "it has lists without keys (of a CheckpointedFunction), which the state processor reads"
_SCOPES: Final = ("keyed", "windowed", "broadcast", "timers")


class Held(NamedTuple):
    """How much a state holds: the number of values, list elements, map entries or timers, and their bytes with keys."""

    entries: int
    bytes: int


class SplitRead(NamedTuple):
    """How far a split has been read, and whether that is its end."""

    position: int
    finished: bool


@dataclass(frozen=True, slots=True)
class SavedOperator:
    """One operator of a saved state: `layers` are all of its keyed and broadcast state, oldest first.

    Its arrangements have layers of their own.
    """

    id: str
    snapshot: OperatorSnapshot
    layers: tuple[Layer, ...]
    max_parallelism: int
    progress: SourceProgress
    arrangements: tuple[SavedArrangement, ...] = ()

    @property
    def who(self) -> str:
        """The operator's name, for messages."""
        return f"operator '{self.snapshot.name}' (id {self.id[:12]})"

    @property
    def size(self) -> int:
        """The size of its runs on storage, in bytes."""
        return self._entries_size + sum(found.size for found in self.arrangements)

    @property
    def _entries_size(self) -> int:
        return sum(layer.size for layer in self.layers)

    def states(self) -> list[Schema]:
        """Return the schemas of its states by scope and name, timers last."""
        schemas = self.snapshot.states.values()
        return sorted(schemas, key=lambda schema: (_SCOPES.index(schema["scope"]), schema["name"]))

    def state(self, name: str, scopes: Iterable[str] = _SCOPES) -> Schema:
        """Return the schema of a state, of the first of these scopes that has one of this name.

        Raises StateError, listing the states there are.
        """
        for scope in scopes:
            found = self.snapshot.states.get(f"{scope}:{name}")
            if found is not None:
                return found
        raise self._without(
            f"state '{name}'" + ("" if scopes is _SCOPES else f" that is {' or '.join(scopes)}")
        )

    def arrangement(self, name: str) -> SavedArrangement:
        """Return the arrangement of this name. Raises StateError, listing the states there are."""
        for found in self.arrangements:
            if found.name == name:
                return found
        raise self._without(f"arrangement '{name}'")

    def _without(self, wanted: str) -> StateError:
        have = [f"{schema['name']} ({schema['scope']} {schema_text(schema)})" for schema in self.states()]
        have += [f"{found.name} (arrangement)" for found in self.arrangements]
        got = ", ".join(have) or "an operator without keyed or broadcast state"
        return StateError(
            f"has no {wanted}", who=self.who, got=got, hint=_LISTS if self.snapshot.holds_lists else None
        )

    def lists(self) -> dict[str, list[ListSnapshot]]:
        """Return its operator list states by name: what each subtask saved of the list."""
        lists: dict[str, list[ListSnapshot]] = {}
        # Other operators keep objects of their own, of classes that may not be known here.
        for blob in self.snapshot.operator_state if self.snapshot.holds_lists else ():
            if blob is not None:
                for name, snapshot in pickle.loads(blob).lists.items():
                    lists.setdefault(name, []).append(snapshot)
        return dict(sorted(lists.items()))

    def ranges(self, at_least: int = 1, *, broadcast: bool = False) -> list[Groups]:
        """Cut its key groups into at least `count` ranges whose entries fit into memory.

        For `broadcast` state one key group is enough, because each run has a copy.
        """
        if broadcast:
            return [(0, 0)]
        return ranges_of(self._entries_size, at_least, self.max_parallelism)


class StateSlice(NamedTuple):
    """Which entries to read: those of some states of one operator; `now` (milliseconds) is when they were saved."""

    layers: tuple[Layer, ...]
    schemas: tuple[Schema, ...]
    now: int
    expired: bool = False

    def tables(
        self, storage: Storage, groups: Groups, prefix: bytes = b"", *, every_copy: bool = False
    ) -> Iterator[pa.Table]:
        """Yield the entries in a range of key groups, in order, part by part; expired ones only on request.

        Broadcast state belongs to the first range, or (`every_copy`) to all. `prefix` limits it to some of the entries
        of a single state. Raises StateCorruptedError, which names the run, if one is missing or damaged.
        """
        prefixes = [prefix] if prefix else [state_prefix(schema["id"]) for schema in self.schemas]
        schemas = () if self.expired else self.schemas
        rules = [rule for schema in schemas if (rule := recorded_expiry(schema)) is not None]
        for part in newest_entries(storage, self.layers, groups, prefixes):
            table = without_expired(part, rules, self.now)
            kept = pc.is_valid(table.column(1))
            if groups[0] > 0 and not every_copy:
                broadcast = pa.scalar(BROADCAST_GROUP.to_bytes(2, "big"), pa.binary())
                kept = pc.and_(kept, pc.not_equal(pc.binary_slice(table.column(0), 2, 4), broadcast))
            yield table.filter(kept)

    def rows(
        self, storage: Storage, groups: Groups, codec: NamespaceCodec, prefix: bytes = b""
    ) -> Iterator[StoredRow]:
        """Yield the entries of a single state as rows."""
        tables = self.tables(storage, groups, prefix)
        entries = (zip(*(column.to_pylist() for column in table.columns), strict=True) for table in tables)
        return RowReader(self.schemas[0], codec).rows(chain.from_iterable(entries))


class SavedState:
    """A job as it was after one epoch: `manifest` names everything, and `storage` holds it.

    Read it with `open`.
    """

    def __init__(self, storage: Storage, manifest: Manifest) -> None:
        self.storage = storage
        self.manifest = manifest

    @classmethod
    def open(cls, location: str, epoch: int | None = None) -> SavedState:
        """Open a savepoint, or a kept epoch (default: the last) of a state directory.

        Raises StateError if there is no such thing, StateCorruptedError if a manifest is damaged.
        """
        try:
            storage = Storage.existing(location)
        except NotFound:
            raise _nothing(location, "no such directory") from None
        return cls(storage, self_contained(ManifestReader(storage), _epoch(storage, epoch)))

    def operators(self) -> list[SavedOperator]:
        """Return the operators, in the order of their names."""
        operators = [self._operator(operator_id) for operator_id in self.manifest.operators]
        return sorted(operators, key=lambda operator: (operator.snapshot.name, operator.id))

    def operator(self, wanted: str, uid_id: str = "") -> SavedOperator:
        """Return the operator with an id (`uid_id`: the id of a uid), a name, or the beginning of an id.

        Raises StateError, which lists the operators, if there is none or more than one.
        """
        operators = self.operators()
        for matching in (
            [operator for operator in operators if operator.id in (wanted, uid_id)],
            [operator for operator in operators if operator.snapshot.name == wanted],
            [operator for operator in operators if wanted and operator.id.startswith(wanted)],
        ):
            if len(matching) == 1:
                return matching[0]
            if matching:
                raise self._unknown(f"one operator '{wanted}'", matching)
        holding = [
            operator
            for operator in operators
            if operator.snapshot.states or operator.snapshot.holds_lists or operator.arrangements
        ]
        raise self._unknown(f"an operator with the uid, name or id '{wanted}'", holding)

    def slice(
        self, operator: SavedOperator, schemas: Sequence[Schema], *, expired: bool = False
    ) -> StateSlice:
        """Return which entries to read of an operator for states of these schemas."""
        return StateSlice(operator.layers, tuple(schemas), self.manifest.processing_time, expired)

    def held(self, operator: SavedOperator) -> dict[int, Held]:
        """Return how much each state of an operator holds, by state id, without expired entries."""
        held = {schema["id"]: Held(0, 0) for schema in operator.states()}
        lists = {schema["id"] for schema in operator.states() if schema["kind"] == "list"}
        part = self.slice(operator, operator.states())
        tables = (part.tables(self.storage, groups) for groups in operator.ranges())
        for table in chain.from_iterable(tables):
            ids = pc.binary_slice(table.column(0), 0, 2)
            for found in pc.unique(ids).to_pylist():
                mine = table.filter(pc.equal(ids, pa.scalar(found, pa.binary())))
                state_id = int.from_bytes(found, "big")
                entries, size = held[state_id]
                entries += _elements(mine) if state_id in lists else len(mine)
                size += sum(pc.sum(pc.binary_length(column)).as_py() for column in mine.columns)
                held[state_id] = Held(entries, size)
        return held

    def held_arranged(self, arrangement: SavedArrangement) -> Held:
        """Return how many rows an arrangement holds, and their bytes in memory, without expired rows."""
        rows = size = 0
        for groups in arrangement.ranges():
            for batch in arrangement.batches(self.storage, groups):
                rows += batch.num_rows
                size += batch.nbytes
        return Held(rows, size)

    def rows(
        self, operator: SavedOperator, schema: Schema, codec: NamespaceCodec, *, key: StateKey | None = None
    ) -> Iterator[StoredRow]:
        """Yield the rows of a state, or only those of one key; nothing else is read."""
        part = self.slice(operator, [schema])
        if key is None or schema["scope"] == "broadcast":
            for groups in operator.ranges(broadcast=schema["scope"] == "broadcast"):
                yield from part.rows(self.storage, groups, codec)
            return
        group = key_group(key, operator.max_parallelism)
        head = state_prefix(schema["id"]) + group.to_bytes(2, "big")
        prefix = head if schema["scope"] == "timers" else head + key_segment(key)
        rows = part.rows(self.storage, (group, group), codec, prefix)
        yield from (row for row in rows if row.key == key)

    def some_keys(self, operator: SavedOperator, codec: NamespaceCodec) -> list[StateKey]:
        """Return the keys of some entries of an operator: the first entries of its smallest runs."""
        schemas = {schema["id"]: schema for schema in operator.states() if schema["scope"] != "broadcast"}
        runs = sorted((run for layer in operator.layers for run in layer.runs), key=lambda run: run.size)
        keys: set[StateKey] = set()
        for run in runs[:_SAMPLED_RUNS]:
            for batch in islice(read_batches(self.storage, run), 1):
                for composite in batch.column(0).to_pylist():
                    schema = schemas.get(int.from_bytes(composite[:2], "big"))
                    key = None if schema is None else locate(schema, composite, codec)[0]
                    if key is not None:
                        keys.add(key)
            if len(keys) >= _SAMPLED_KEYS:
                break
        return list(keys)

    def positions(self, operator: SavedOperator) -> dict[str, SplitRead]:
        """Return how far each split of a source has been read, by id. StateCorruptedError: that cannot be read."""
        progress = operator.progress
        found = {
            split: SplitRead(end, True) for split, end in finished_splits(self.storage, progress).items()
        }
        for split, saved in progress.unfinished.items():
            found[split] = SplitRead(saved.position, False)
        return dict(sorted(found.items()))

    def _operator(self, operator_id: str) -> SavedOperator:
        manifest = self.manifest
        snapshot = manifest.operators[operator_id]
        return SavedOperator(
            operator_id,
            snapshot,
            tuple(manifest.layers.get(operator_id, ())),
            snapshot.max_parallelism or manifest.max_parallelism,
            manifest.sources.get(operator_id) or SourceProgress(),
            arrangements_of(manifest, snapshot),
        )

    def _unknown(self, wanted: str, operators: list[SavedOperator]) -> StateError:
        return StateError(
            f"requires {wanted}",
            who=f"the state in {self.storage.url}",
            got=", ".join(f"{operator.snapshot.name} (id {operator.id})" for operator in operators)
            or "a state in which no operator holds anything",
            hint="firesteel state ls lists the operators and their states",
        )


def _elements(chunks: pa.Table) -> int:
    return sum(len(split_elements(chunk)) for chunk in chunks.column(1).to_pylist())


def _epoch(storage: Storage, wanted: int | None) -> int:
    """Return the epoch to read: the savepoint's, or one that the state directory keeps."""
    savepoint = open_savepoint(storage)
    if savepoint is not None:
        epochs = [savepoint.epoch]
    else:
        log = ManifestLog.open(storage)
        epochs = [] if log is None else kept_epochs(log)
    if not epochs:
        raise _nothing(storage.url, "a directory that holds neither")
    if wanted is None:
        return epochs[-1]
    if wanted not in epochs:
        raise StateError(
            f"requires epoch {wanted}",
            who=f"the state in {storage.url}",
            got=f"the epochs {', '.join(map(str, epochs[-20:]))}",
        )
    return wanted


def _nothing(location: str, got: str) -> StateError:
    return StateError(
        "requires a savepoint, or the state directory of a job with a committed epoch",
        who=location,
        got=got,
    )
