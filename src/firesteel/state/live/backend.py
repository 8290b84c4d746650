"""The keyed state backend: all state of one operator subtask.

Contract, in call order: `restore_schemas` once, before any state is declared; then handles are made (`value_state`,
...), in `open` or later. For each epoch: `begin(reader, keep, processing_time)`; the runtime sets `keyed.current` or
`windowed.current` and user functions use the handles; `relax` may be called between blocks; `changes` at the end gives
what the epoch changed, sorted by composite key. Handles stay valid for the life of the backend.

Memory is bounded by `relax`: it drops entries that could be read again, and when what the epoch changed is too much by
itself, it moves that into a file (`Spill`) which is read on top of the snapshot. For the parts that is as if an epoch
had ended well and another had begun.
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
    """What a backend is made of: the cache of one state."""

    state_id: int

    def begin(self, keep: bool, /) -> None:
        """Start an epoch: what was changed is now in the store (`keep`), or everything cached is void."""

    def changes(self) -> Iterator[Entry]:
        """Return what the epoch changed, sorted."""

    def clean_entries(self) -> int:
        """Return how many cached entries could be read again from the store."""

    def relax(self) -> None:
        """Drop the older half of the clean entries."""

    def weigh(self) -> Weight:
        """Return how much memory the part takes, an estimate that is cheap to make."""


H = TypeVar("H", bound=StatePart)


class Scope:
    """What the handles of a scope point at: a state key, or a pair of state key and namespace; at first None."""

    __slots__ = ("current", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.current: Any = None


class KeyedStateBackend:
    """The state of one operator subtask; see the module for the contract.

    `keyed` is the scope of a key, `windowed` that of a key and a namespace (a window). `key_kinds` knows the kinds of
    the keys of all `changes`. `groups` are the key groups of the subtask (default: all). `cache_limit` bounds the clean
    entries that are kept in memory, and `memory_limit` the bytes of all that is kept (default: what the other
    backends of the process leave of its `Memory`).
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
        """Give back the disk that the changes of an epoch have taken; they are lost."""
        if self._spill is not None:
            self._spill.close()
            self._spill = None

    def begin(self, reader: StateReader, keep: bool, processing_time: int = 0) -> None:
        """Start an epoch on the snapshot `reader`; with `keep` it is exactly what the last `changes` led to.

        `processing_time` (milliseconds) is the time in this epoch by which state expires; 0 where none does.
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
        """Return everything the epoch changed, sorted by composite key; may be called again before the next `begin`.

        Among it are deletes of entries that have expired, which the epoch did not touch (see `Sweep`).
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
        """Take over the schemas of the manifest, before any state is declared."""
        self._catalog.restore(schemas)

    @property
    def cached_entries(self) -> int:
        """How many clean entries are cached."""
        return sum(part.clean_entries() for part in self._parts)

    def expect(self, keys: list[Any]) -> None:
        """Say which state keys are current next: states that read each from the store will read them together."""
        for state in self._singles:
            state.expect(keys)

    def relax(self) -> None:
        """Keep memory within its limits; call it between blocks, and after some hundred timers.

        Most calls do nothing: how full memory is gets looked at so often that it cannot be much too full meanwhile.
        """
        self._quiet -= 1
        if self._quiet <= 0:
            self._look()

    def spill(self) -> None:
        """Move what the epoch changed into a file. StateError: it has no room."""
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
        """Return how full memory is; `_look` comes again before half of what is left can be used."""
        return max(weight.kept / limit, self.cached_entries / max(1, self._cache_limit))

    def _drop(self) -> Weight:
        for part in self._parts:
            part.relax()
        return self._weigh()

    def _weigh(self) -> Weight:
        weights = [part.weigh() for part in self._parts]
        return Weight(*map(sum, zip(*weights, strict=True))) if weights else Weight(0, 0, 0)

    def register(self, scope: str, name: str, kind: str, types: Schema) -> int:
        """Return the id of a state, after checking it against what the manifest recorded (StateMismatchError)."""
        return self._catalog.declare(scope, name, kind, types)

    def add_part(self, part: StatePart) -> None:
        """Make a part's changes part of the backend's."""
        self._parts.append(part)

    def value_state(self, descriptor: ValueStateDescriptor, scope: Scope | None = None) -> ValueHandle:
        """Return the ValueState of this name in a scope (default: `keyed`), made on first use."""
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
        """Return the ListState of this name in a scope (default: `keyed`), made on first use."""
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
        """Return the ReducingState of this name in a scope (default: `keyed`), made on first use."""
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
        """Return the AggregatingState of this name in a scope (default: `keyed`), made on first use."""
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
        """Return the MapState of this name in a scope (default: `keyed`), made on first use."""
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
        """Return the broadcast state of this name, one map for the subtask, made on first use."""
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
        """Return what makes the handle: the one that expires if the state has a time to live."""
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
