"""The kinds of state that an operator can declare: for each, the descriptor, the types and the handles.

The name of a kind and the fields of its types are those of its schema (`firesteel.state.values.schemas`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

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
from firesteel.state.live.expiring import (
    TtlAggregatingHandle,
    TtlListHandle,
    TtlMapHandle,
    TtlReducingHandle,
    TtlValueHandle,
)
from firesteel.state.live.handles import AggregatingHandle, ReducingHandle, ValueHandle
from firesteel.state.live.lists import ListHandle
from firesteel.state.live.maps import BroadcastHandle, MapHandle
from firesteel.state.live.place import StatePart, StatePlace
from firesteel.state.ttl import StateTtlConfig
from firesteel.state.values.codecs import ValueCodec
from firesteel.state.values.expiry import Expiry, StampedCodec, ttl_schema
from firesteel.state.values.schemas import Schema

D = TypeVar("D", bound=StateDescriptor)
H = TypeVar("H", bound=StatePart)


def _none(_: StateDescriptor) -> tuple[()]:
    return ()


@dataclass(frozen=True)
class StateKind(Generic[D, H]):
    """One kind of state: how its descriptor `D` becomes a handle `H`.

    `types` returns the declared types by the field of the schema; the last is that of the values, which get a stamp if
    the state expires. `plain` makes the handle from its place, a codec for each type, and what `functions` returns;
    `expiring` makes that of a state with a time to live, from the same and its `Expiry`. It is None if states of this
    kind never expire; a time to live is then ignored.
    """

    name: str
    descriptor: type[D]
    types: Callable[[D], dict[str, TypeInformation | None]]
    plain: Callable[..., H]
    expiring: Callable[..., H] | None
    functions: Callable[[D], tuple[Any, ...]] = _none

    def ttl_config(self, descriptor: D) -> StateTtlConfig | None:
        """Return when the described state expires, None if it does not."""
        return None if self.expiring is None else descriptor.ttl_config

    def codecs(self, descriptor: D) -> dict[str, ValueCodec]:
        """Return the codecs of the described state, by the field of the schema."""
        who = f"state '{descriptor.name}'"
        types = self.types(descriptor)
        codecs = {field: ValueCodec(type_info, who) for field, type_info in types.items()}
        if self.ttl_config(descriptor) is not None:
            field, type_info = [*types.items()][-1]
            codecs[field] = StampedCodec(type_info, who)
        return codecs

    def schema(self, descriptor: D, codecs: dict[str, ValueCodec]) -> Schema:
        """Return the schema of the described state, without its place."""
        config = self.ttl_config(descriptor)
        ttl = {} if config is None else {"ttl": ttl_schema(config)}
        return {"kind": self.name, **{field: codec.schema for field, codec in codecs.items()}, **ttl}

    def handle(
        self, place: StatePlace, descriptor: D, codecs: dict[str, ValueCodec], expiry: Expiry | None
    ) -> H:
        """Return a new handle of the described state."""
        arguments = (place, *codecs.values(), *self.functions(descriptor))
        if expiry is None or self.expiring is None:
            return self.plain(*arguments)
        return self.expiring(*arguments, expiry)


def _map_types(descriptor: MapStateDescriptor) -> dict[str, TypeInformation | None]:
    return {"key": descriptor.key_type_info, "value": descriptor.value_type_info}


VALUE: Final = StateKind(
    "value", ValueStateDescriptor, lambda d: {"type": d.type_info}, ValueHandle, TtlValueHandle
)
LIST: Final = StateKind(
    "list", ListStateDescriptor, lambda d: {"type": d.elem_type_info}, ListHandle, TtlListHandle
)
MAP: Final = StateKind("map", MapStateDescriptor, _map_types, MapHandle, TtlMapHandle)
REDUCING: Final = StateKind(
    "reducing",
    ReducingStateDescriptor,
    lambda d: {"type": d.type_info},
    ReducingHandle,
    TtlReducingHandle,
    lambda d: (d.reducer,),
)
AGGREGATING: Final = StateKind(
    "aggregating",
    AggregatingStateDescriptor,
    lambda d: {"type": d.type_info},
    AggregatingHandle,
    TtlAggregatingHandle,
    lambda d: (d.get_agg_function(),),
)
BROADCAST: Final = StateKind("broadcast", MapStateDescriptor, _map_types, BroadcastHandle, None)

_KEYED: Final[tuple[StateKind[Any, Any], ...]] = (VALUE, LIST, MAP, REDUCING, AGGREGATING)


def kind_of(descriptor: Any) -> StateKind[Any, Any]:
    """Return the kind of keyed state that a descriptor describes. Raises ProgramError if it is no descriptor.

    >>> kind_of(ListStateDescriptor("seen")).name
    'list'
    """
    for kind in _KEYED:
        if isinstance(descriptor, kind.descriptor):
            return kind
    raise ProgramError(
        "requires a state descriptor", got=f"a {type(descriptor).__name__}: {descriptor!r:.80}"
    )
