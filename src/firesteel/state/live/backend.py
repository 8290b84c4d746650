"""The keyed state backend: all state of one operator subtask.

Contract, in call order: `restore_schemas` once, before any state is declared; then you create handles (`value_state`,
...), in `open` or later. For each epoch: `begin(reader, keep, processing_time)`; the runtime sets `keyed.current` or
`windowed.current` and user functions use the handles; `relax` may be called between blocks; `changes`, at the end,
returns the epoch's changes, sorted by composite key. Handles stay valid for the life of the backend.

Memory is bounded by `relax`: it drops entries that can be read again. If the epoch's changes alone are too large, it
moves them into a file (`Spill`), which is read on top of the snapshot. The parts see this as the successful end of one
epoch and the start of the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, cast

from firesteel.common.errors import ProgramError
from firesteel.state.descriptors import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
    ValueStateDescriptor,
)
from firesteel.state.keys.composite import (
    Compose,
    NamespaceCodec,
    WindowedComposer,
    compose_broadcast,
    compose_keyed,
)
from firesteel.state.keys.kinds import KeyKinds
from firesteel.state.live.durable import NO_STATE, StateReader
from firesteel.state.live.handles import AggregatingHandle, ReducingHandle, SingleValue, ValueHandle
from firesteel.state.live.handover import Changed, Handover
from firesteel.state.live.lists import ListHandle
from firesteel.state.live.maps import BroadcastHandle, MapHandle
from firesteel.state.live.memory import Memory
from firesteel.state.live.place import Scope, StatePart, StatePlace
from firesteel.state.live.spill import Spill, overlaid
from firesteel.state.live.state_kinds import (
    AGGREGATING,
    BROADCAST,
    LIST,
    MAP,
    REDUCING,
    VALUE,
    D,
    H,
    StateKind,
)
from firesteel.state.live.sweeping import Sweep, sweep_rule
from firesteel.state.live.watch import CACHE_LIMIT, MemoryWatch
from firesteel.state.live.weights import Weight
from firesteel.state.ttl import StateTtlConfig
from firesteel.state.values.catalog import Schema, StateCatalog
from firesteel.state.values.chunks import Entry
from firesteel.state.values.codecs import forget_main_classes
from firesteel.state.values.expiry import Expiry
from firesteel.state.values.schemas import is_same, schema_text


class KeyedStateBackend:
    """The state of one operator subtask; the module describes the contract.

    `keyed` is the scope of a key, `windowed` that of a key and a namespace (a window). `key_kinds` holds the kinds of
    the keys of all `changes`. `groups` are the key groups of the subtask (default: all). `cache_limit` bounds the
    number of clean entries in memory, and `memory_limit` the bytes of all entries in memory (default: the part of the
    process's `Memory` that its other backends leave free).
    """

    def __init__(
        self,
        max_parallelism: int,
        namespace_codec: NamespaceCodec,
        *,
        groups: range | None = None,
        cache_limit: int = CACHE_LIMIT,
        memory_limit: int | None = None,
    ) -> None:
        self.max_parallelism = max_parallelism
        self.namespace_codec = namespace_codec
        self.reader: StateReader = NO_STATE
        self.key_kinds = KeyKinds()
        self.keyed = Scope("keyed")
        self.windowed = Scope("windowed", namespaced=True)
        self._broadcast = Scope("broadcast")
        self._spill: Spill | None = None
        self._catalog = StateCatalog()
        self._sweep = Sweep(range(max_parallelism) if groups is None else groups)
        self._handles: dict[str, tuple[Schema, Any]] = {}
        self._parts: list[StatePart] = []
        self._watch = MemoryWatch(
            self._parts,
            self.spill,
            Memory.of_process(),
            cache_limit=cache_limit,
            memory_limit=memory_limit,
        )
        self._singles: list[SingleValue] = []
        self._expiries: list[Expiry] = []
        self._processing_time = 0
        self.handover = Handover(namespace_codec)
        forget_main_classes()

    def close(self) -> None:
        """Free the disk space that the epoch's changes take; the changes are lost."""
        if self._spill is not None:
            self._spill.close()
            self._spill = None

    def begin(self, reader: StateReader, keep: bool, processing_time: int = 0) -> None:
        """Start an epoch on the snapshot `reader`; with `keep` it is exactly the result of the last `changes`.

        `processing_time` (milliseconds) is the time that decides in this epoch which state has expired; 0 if no state
        expires.
        """
        self.close()
        self._watch.begin()
        self.reader = reader
        self._processing_time = processing_time
        for expiry in self._expiries:
            expiry.begin(processing_time)
        self._sweep.begin()
        self.handover.begin()
        for part in self._parts:
            part.begin(keep)

    def adopt(self, changes: Iterable[Changed]) -> None:
        """Take over one epoch's changes from another process; after `begin`, in the order of the epochs."""
        parts = {part.state_id: part for part in self._parts}
        for changed in changes:
            part = parts.get(changed.state_id)
            if part is not None:
                part.adopt(self.handover.currents_of(changed), changed.values)
        self._watch.shrink()

    def changed(self) -> list[Changed] | None:
        """Return what `changes` has returned, for other processes; once. None if it was too large for memory."""
        return self.handover.take()

    def changes(self) -> Iterator[Entry]:
        """Return all changes of the epoch, sorted by composite key; may be called again before the next `begin`.

        They include deletes of expired entries that the epoch did not touch (see `Sweep`).
        """
        self.handover.take()
        changes = self._changes_in_memory()
        if self._spill is not None:
            changes = overlaid(changes, self._spill.entries())
        rules = [*filter(None, map(sweep_rule, self._catalog.schemas().values()))]
        return self._sweep.beside(changes, self.reader, rules, self._processing_time)

    def schemas(self) -> dict[str, Schema]:
        """Return id, kind and types of every state ever declared, by scope and name, as JSON-able dicts."""
        return self._catalog.schemas()

    def restore_schemas(self, schemas: dict[str, Schema]) -> None:
        """Adopt the schemas of the manifest, before any state is declared."""
        self._catalog.restore(schemas)

    @property
    def cached_entries(self) -> int:
        """The number of cached clean entries."""
        return self._watch.clean_entries()

    @property
    def memory(self) -> int:
        """The bytes that the state took in memory when that was last measured, at least once an epoch."""
        return self._watch.kept

    @property
    def spilled(self) -> int:
        """The bytes of the epoch's changes that are in a file, because memory could not hold them."""
        return 0 if self._spill is None else self._spill.bytes

    def expect(self, keys: list[Any]) -> None:
        """Announce the state keys that become current next, so that states that read each from the store read them
        together.
        """
        for state in self._singles:
            state.expect(keys)

    def relax(self) -> None:
        """Keep memory within its limits; call this between blocks, and after some hundred timers."""
        self._watch.relax()

    def weigh(self) -> Weight:
        """Return an estimate of the memory that all states take."""
        return self._watch.weigh()

    def spill(self) -> None:
        """Move the epoch's changes into a file. Raises StateError if there is no room for it."""
        if self._spill is None:
            self._spill = Spill(self.reader)
            self.reader = self._spill
            self.handover.give_up()
        self._spill.add(self._changes_in_memory(), self.weigh().dirty)
        for part in self._parts:
            part.begin(True)

    def _changes_in_memory(self) -> Iterator[Entry]:
        parts = sorted(self._parts, key=lambda part: part.state_id)
        return chain.from_iterable(part.changes() for part in parts)

    def register(self, scope: str, name: str, kind: str, types: Schema) -> int:
        """Return the id of a state. Raises StateMismatchError if the state differs from the manifest's record of it."""
        return self._catalog.declare(scope, name, kind, types)

    def add_part(self, part: StatePart) -> None:
        """Add a part's changes to those of the backend."""
        self._parts.append(part)

    def value_state(self, descriptor: ValueStateDescriptor, scope: Scope | None = None) -> ValueHandle:
        """Return the ValueState of this name in a scope (default: `keyed`); the first call creates it."""
        return self.state(VALUE, descriptor, scope)

    def list_state(self, descriptor: ListStateDescriptor, scope: Scope | None = None) -> ListHandle:
        """Return the ListState of this name in a scope (default: `keyed`); the first call creates it."""
        return self.state(LIST, descriptor, scope)

    def reducing_state(
        self, descriptor: ReducingStateDescriptor, scope: Scope | None = None
    ) -> ReducingHandle:
        """Return the ReducingState of this name in a scope (default: `keyed`); the first call creates it."""
        return self.state(REDUCING, descriptor, scope)

    def aggregating_state(
        self, descriptor: AggregatingStateDescriptor, scope: Scope | None = None
    ) -> AggregatingHandle:
        """Return the AggregatingState of this name in a scope (default: `keyed`); the first call creates it."""
        return self.state(AGGREGATING, descriptor, scope)

    def map_state(self, descriptor: MapStateDescriptor, scope: Scope | None = None) -> MapHandle:
        """Return the MapState of this name in a scope (default: `keyed`); the first call creates it."""
        return self.state(MAP, descriptor, scope)

    def broadcast_state(self, descriptor: MapStateDescriptor) -> BroadcastHandle:
        """Return the broadcast state of this name, one map for the subtask; the first call creates it."""
        return self.state(BROADCAST, descriptor, self._broadcast)

    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastHandle:
        """Return the broadcast state of this name."""
        return self.broadcast_state(state_descriptor)

    def state(self, kind: StateKind[D, H], descriptor: D, scope: Scope | None = None) -> H:
        """Return the state of this kind and name in a scope (default: `keyed`); the first call creates it.

        Raises ProgramError if the name is in use for another kind or type, StateMismatchError or StateEvolutionRequired
        if it was saved as another.
        """
        scope = scope or self.keyed
        path = f"{scope.name}:{descriptor.name}"
        codecs = kind.codecs(descriptor)
        declared = kind.schema(descriptor, codecs)
        known = self._handles.get(path)
        if known is None:
            types = {field: part for field, part in declared.items() if field != "kind"}
            state_id = self.register(scope.name, descriptor.name, kind.name, types)
            place = StatePlace(self, state_id, scope, self._compose(state_id, scope))
            handle = kind.handle(place, descriptor, codecs, self._expiry(kind.ttl_config(descriptor)))
            self._handles[path] = declared, handle
            self._parts.append(handle)
            if isinstance(handle, SingleValue) and scope is self.keyed:
                self._singles.append(handle)
            return handle
        if not is_same(known[0], declared):
            raise _used_twice_error(descriptor, known[0], declared)
        return cast(H, known[1])

    def _expiry(self, config: StateTtlConfig | None) -> Expiry | None:
        if config is None:
            return None
        expiry = Expiry(config, self._processing_time)
        self._expiries.append(expiry)
        return expiry

    def _compose(self, state_id: int, scope: Scope) -> Compose:
        if scope is self._broadcast:
            return compose_broadcast(state_id)
        if scope.namespaced:
            return WindowedComposer(state_id, self.max_parallelism, self.namespace_codec)
        return compose_keyed(state_id, self.max_parallelism)


def _used_twice_error(descriptor: StateDescriptor, known: Schema, declared: Schema) -> ProgramError:
    return ProgramError(
        f"is already in use as {schema_text(known)}",
        who=f"state '{descriptor.name}'",
        got=f"a second descriptor, for {schema_text(declared)}",
        hint="give each state of an operator its own name",
    )
