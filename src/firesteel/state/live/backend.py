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

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any, Final, Protocol, TypeVar, cast

from firesteel.common.errors import ProgramError
from firesteel.common.typeinfo import TypeInformation
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
    compose_broadcast,
    compose_keyed,
    compose_windowed,
)
from firesteel.state.keys.kinds import KeyKinds
from firesteel.state.live.durable import NO_STATE, StateReader
from firesteel.state.live.expiring import (
    TtlAggregatingHandle,
    TtlListHandle,
    TtlMapHandle,
    TtlReducingHandle,
    TtlValueHandle,
)
from firesteel.state.live.handles import AggregatingHandle, ReducingHandle, SingleValue, ValueHandle
from firesteel.state.live.lists import ListHandle
from firesteel.state.live.maps import BroadcastHandle, MapHandle
from firesteel.state.live.memory import Memory
from firesteel.state.live.spill import Spill, overlaid
from firesteel.state.live.sweeping import Sweep, sweep_rule
from firesteel.state.live.weights import Weight
from firesteel.state.ttl import StateTtlConfig
from firesteel.state.values.catalog import Schema, StateCatalog
from firesteel.state.values.chunks import Entry
from firesteel.state.values.codecs import ValueCodec, forget_main_classes
from firesteel.state.values.expiry import Expiry, StampedCodec

DEFAULT_CACHE_LIMIT: Final = 1_000_000
_MOST_QUIET: Final = 16
_SCANNED_PER_BLOCK: Final = 4096


class StatePart(Protocol):
    """One part of a backend: the cache of one state."""

    state_id: int

    def begin(self, keep: bool, /) -> None:
        """Start an epoch: with `keep` the changes are now in the store, otherwise everything cached is invalid."""

    def changes(self) -> Iterator[Entry]:
        """Return the changes of the epoch, sorted."""

    def clean_entries(self) -> int:
        """Return how many cached entries can be read again from the store."""

    def relax(self) -> None:
        """Drop the older half of the clean entries."""

    def weigh(self) -> Weight:
        """Return an estimate, cheap to compute, of the memory that the part takes."""


H = TypeVar("H", bound=StatePart)


class Scope:
    """What the handles of a scope refer to: a state key, or a pair of state key and namespace; None at first."""

    __slots__ = ("current", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.current: Any = None


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
        cache_limit: int = DEFAULT_CACHE_LIMIT,
        memory_limit: int | None = None,
    ) -> None:
        self.max_parallelism = max_parallelism
        self.namespace_codec = namespace_codec
        self.reader: StateReader = NO_STATE
        self.key_kinds = KeyKinds()
        self.keyed = Scope("keyed")
        self.windowed = Scope("windowed")
        self._broadcast = Scope("broadcast")
        self._cache_limit = cache_limit
        self._memory_limit = memory_limit
        self._memory = Memory.of_process()
        self._spill: Spill | None = None
        self._interval = self._quiet = 1
        self._filled = self._growth = 0.0
        self._catalog = StateCatalog()
        self._sweep = Sweep(range(max_parallelism) if groups is None else groups)
        self._handles: dict[str, tuple[Schema, Any]] = {}
        self._parts: list[StatePart] = []
        self._singles: list[SingleValue] = []
        self._expiries: list[Expiry] = []
        self._processing_time = 0
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
        self._memory.join(self)
        self._interval = self._quiet = 1
        self.reader = reader
        self._processing_time = processing_time
        for expiry in self._expiries:
            expiry.begin(processing_time)
        self._sweep.begin()
        for part in self._parts:
            part.begin(keep)

    def changes(self) -> Iterator[Entry]:
        """Return all changes of the epoch, sorted by composite key; may be called again before the next `begin`.

        They include deletes of expired entries that the epoch did not touch (see `Sweep`).
        """
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
        return sum(part.clean_entries() for part in self._parts)

    def expect(self, keys: list[Any]) -> None:
        """Announce the state keys that become current next, so that states that read each from the store read them
        together.
        """
        for state in self._singles:
            state.expect(keys)

    def relax(self) -> None:
        """Keep memory within its limits; call this between blocks, and after some hundred timers.

        Most calls do nothing: memory is measured just often enough that it cannot exceed its limit by much.
        """
        self._quiet -= 1
        if self._quiet <= 0:
            self._look()

    def spill(self) -> None:
        """Move the epoch's changes into a file. Raises StateError if there is no room for it."""
        if self._spill is None:
            self._spill = Spill(self.reader)
            self.reader = self._spill
        self._spill.add(self._changes_in_memory(), self._weigh().dirty)
        for part in self._parts:
            part.begin(True)

    def _changes_in_memory(self) -> Iterator[Entry]:
        parts = sorted(self._parts, key=lambda part: part.state_id)
        return chain.from_iterable(part.changes() for part in parts)

    def _look(self) -> None:
        limit = self._memory_limit or self._memory.share(self)
        weight = self._weigh()
        self._growth = max((self._fill(weight, limit) - self._filled) / self._interval, self._growth / 2)
        if weight.kept > limit or self.cached_entries > self._cache_limit:
            weight = self._drop()
            if weight.kept > limit:
                self.spill()
                while weight.kept > limit // 2 and self.cached_entries:
                    weight = self._drop()
        self._memory.note(self, weight.kept)
        self._filled = self._fill(weight, limit)
        blocks = int(min((1 - self._filled) / (2 * self._growth + 1e-9), _MOST_QUIET, self._cache_limit))
        self._interval = self._quiet = max(1, blocks, weight.scanned // _SCANNED_PER_BLOCK)

    def _fill(self, weight: Weight, limit: int) -> float:
        """Return how full memory is; the next `_look` comes before half of the rest can be used."""
        return max(weight.kept / limit, self.cached_entries / max(1, self._cache_limit))

    def _drop(self) -> Weight:
        for part in self._parts:
            part.relax()
        return self._weigh()

    def _weigh(self) -> Weight:
        weights = [part.weigh() for part in self._parts]
        return Weight(*map(sum, zip(*weights, strict=True))) if weights else Weight(0, 0, 0)

    def register(self, scope: str, name: str, kind: str, types: Schema) -> int:
        """Return the id of a state. Raises StateMismatchError if the state differs from the manifest's record of it."""
        return self._catalog.declare(scope, name, kind, types)

    def add_part(self, part: StatePart) -> None:
        """Add a part's changes to those of the backend."""
        self._parts.append(part)

    def value_state(self, descriptor: ValueStateDescriptor, scope: Scope | None = None) -> ValueHandle:
        """Return the ValueState of this name in a scope (default: `keyed`); the first call creates it."""
        scope = scope or self.keyed
        codec = _codec(descriptor, descriptor.type_info)
        return self._handle(
            descriptor,
            "value",
            _types(descriptor, type=codec.schema),
            scope,
            lambda state_id: self._variant(descriptor, ValueHandle, TtlValueHandle)(
                self, state_id, scope, self._compose(state_id, scope), codec
            ),
        )

    def list_state(self, descriptor: ListStateDescriptor, scope: Scope | None = None) -> ListHandle:
        """Return the ListState of this name in a scope (default: `keyed`); the first call creates it."""
        scope = scope or self.keyed
        codec = _codec(descriptor, descriptor.elem_type_info)
        return self._handle(
            descriptor,
            "list",
            _types(descriptor, type=codec.schema),
            scope,
            lambda state_id: self._variant(descriptor, ListHandle, TtlListHandle)(
                self, state_id, scope, self._compose(state_id, scope), codec
            ),
        )

    def reducing_state(
        self, descriptor: ReducingStateDescriptor, scope: Scope | None = None
    ) -> ReducingHandle:
        """Return the ReducingState of this name in a scope (default: `keyed`); the first call creates it."""
        scope = scope or self.keyed
        codec = _codec(descriptor, descriptor.type_info)
        return self._handle(
            descriptor,
            "reducing",
            _types(descriptor, type=codec.schema),
            scope,
            lambda state_id: self._variant(descriptor, ReducingHandle, TtlReducingHandle)(
                self, state_id, scope, self._compose(state_id, scope), codec, descriptor.reducer
            ),
        )

    def aggregating_state(
        self, descriptor: AggregatingStateDescriptor, scope: Scope | None = None
    ) -> AggregatingHandle:
        """Return the AggregatingState of this name in a scope (default: `keyed`); the first call creates it."""
        scope = scope or self.keyed
        codec = _codec(descriptor, descriptor.type_info)
        return self._handle(
            descriptor,
            "aggregating",
            _types(descriptor, type=codec.schema),
            scope,
            lambda state_id: self._variant(descriptor, AggregatingHandle, TtlAggregatingHandle)(
                self, state_id, scope, self._compose(state_id, scope), codec, descriptor.get_agg_function()
            ),
        )

    def map_state(self, descriptor: MapStateDescriptor, scope: Scope | None = None) -> MapHandle:
        """Return the MapState of this name in a scope (default: `keyed`); the first call creates it."""
        scope = scope or self.keyed
        keys = ValueCodec(descriptor.key_type_info, f"state '{descriptor.name}'")
        values = _codec(descriptor, descriptor.value_type_info)
        return self._handle(
            descriptor,
            "map",
            _types(descriptor, key=keys.schema, value=values.schema),
            scope,
            lambda state_id: self._variant(descriptor, MapHandle, TtlMapHandle)(
                self, state_id, scope, self._compose(state_id, scope), keys, values
            ),
        )

    def broadcast_state(self, descriptor: MapStateDescriptor) -> BroadcastHandle:
        """Return the broadcast state of this name, one map for the subtask; the first call creates it."""
        who = f"state '{descriptor.name}'"
        keys = ValueCodec(descriptor.key_type_info, who)
        values = ValueCodec(descriptor.value_type_info, who)
        return self._handle(
            descriptor,
            "broadcast",
            {"key": keys.schema, "value": values.schema},
            self._broadcast,
            lambda state_id: BroadcastHandle(
                self, state_id, self._broadcast, compose_broadcast(state_id), keys, values
            ),
        )

    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastHandle:
        """Return the broadcast state of this name."""
        return self.broadcast_state(state_descriptor)

    def _variant(
        self, descriptor: StateDescriptor, plain: Callable[..., H], expiring: Callable[..., H]
    ) -> Callable[..., H]:
        """Return the constructor of the handle: the expiring one if the state has a time to live."""
        config = descriptor.ttl_config
        return plain if config is None else partial(expiring, self._expiry(config))

    def _expiry(self, config: StateTtlConfig) -> Expiry:
        expiry = Expiry(config, self._processing_time)
        self._expiries.append(expiry)
        return expiry

    def _compose(self, state_id: int, scope: Scope) -> Compose:
        if scope is self.windowed:
            return compose_windowed(state_id, self.max_parallelism, self.namespace_codec)
        return compose_keyed(state_id, self.max_parallelism)

    def _handle(
        self, descriptor: StateDescriptor, kind: str, types: Schema, scope: Scope, make: Callable[[int], H]
    ) -> H:
        path = f"{scope.name}:{descriptor.name}"
        declared: Schema = {"kind": kind, **types}
        known = self._handles.get(path)
        if known is None:
            handle = make(self.register(scope.name, descriptor.name, kind, types))
            self._handles[path] = declared, handle
            self._parts.append(handle)
            if isinstance(handle, SingleValue) and scope is self.keyed:
                self._singles.append(handle)
            return handle
        if known[0] != declared:
            raise ProgramError(
                f"is already in use as {known[0]}",
                who=f"state '{descriptor.name}'",
                got=f"a second descriptor for {declared}",
                hint="give each state of an operator its own name",
            )
        return cast(H, known[1])


def _codec(descriptor: StateDescriptor, type_info: TypeInformation | None) -> ValueCodec:
    kind = ValueCodec if descriptor.ttl_config is None else StampedCodec
    return kind(type_info, f"state '{descriptor.name}'")


def _types(descriptor: StateDescriptor, **types: Schema | None) -> Schema:
    return types if descriptor.ttl_config is None else {**types, "ttl": True}
