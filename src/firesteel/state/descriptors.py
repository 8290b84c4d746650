"""State descriptors: the name, the types and the functions of a state, with PyFlink's signatures.

A type may be left out; values are then kept as they are. With a type, they are coerced as Flink's serialiser would.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from firesteel.common.errors import ProgramError
from firesteel.common.typeinfo import TypeInformation, Types
from firesteel.state.ttl import StateTtlConfig

_AGGREGATE_METHODS = ("create_accumulator", "add", "get_result", "merge")


class StateDescriptor:
    """What names and describes a state; the name is unique within an operator."""

    def __init__(self, name: str, type_info: TypeInformation | None) -> None:
        if not isinstance(name, str) or not name:
            raise ProgramError("requires a name that is a string", who=type(self).__name__, got=repr(name))
        self.name = name
        self.type_info = type_info
        self._ttl_config: StateTtlConfig | None = None

    def get_name(self) -> str:
        """Return the name of the state."""
        return self.name

    def enable_time_to_live(self, ttl_config: StateTtlConfig) -> None:
        """Let keyed state expire: values, elements of a list and entries of a map each by their own last access.

        Give it before the state is got. Broadcast state does not expire, as in Flink. State that was saved without a
        time to live may be given one, and the reverse; how long it is may change.

        >>> from firesteel.common.time import Time
        >>> descriptor = ValueStateDescriptor("count")
        >>> descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.hours(1)).build())
        """
        if not isinstance(ttl_config, StateTtlConfig):
            raise ProgramError(
                "requires a StateTtlConfig",
                who=f"state '{self.name}'",
                got=repr(ttl_config),
                hint="StateTtlConfig.new_builder(Time.hours(1)).build()",
            )
        self._ttl_config = ttl_config

    @property
    def ttl_config(self) -> StateTtlConfig | None:
        """When the state expires, None if it does not."""
        config = self._ttl_config
        return config if config is not None and config.is_enabled() else None


class ValueStateDescriptor(StateDescriptor):
    """Describes a ValueState.

    >>> ValueStateDescriptor("count").get_name()
    'count'
    """

    def __init__(self, name: str, value_type_info: TypeInformation | None = None) -> None:
        super().__init__(name, value_type_info)


class ListStateDescriptor(StateDescriptor):
    """Describes a ListState; `elem_type_info` is the type of an element."""

    def __init__(self, name: str, elem_type_info: TypeInformation | None = None) -> None:
        super().__init__(name, _list_type(elem_type_info))
        self.elem_type_info = elem_type_info


class MapStateDescriptor(StateDescriptor):
    """Describes a MapState or a BroadcastState."""

    def __init__(
        self,
        name: str,
        key_type_info: TypeInformation | None = None,
        value_type_info: TypeInformation | None = None,
    ) -> None:
        super().__init__(name, _map_type(key_type_info, value_type_info))
        self.key_type_info = key_type_info
        self.value_type_info = value_type_info


class ReducingStateDescriptor(StateDescriptor):
    """Describes a ReducingState; the function is a ReduceFunction or a callable of two values.

    >>> ReducingStateDescriptor("sum", lambda a, b: a + b).reducer(1, 2)
    3
    """

    def __init__(self, name: str, reduce_function: Any, type_info: TypeInformation | None = None) -> None:
        super().__init__(name, type_info)
        reducer = getattr(reduce_function, "reduce", reduce_function)
        if not callable(reducer):
            raise ProgramError(
                "requires a ReduceFunction or a callable of two values",
                who=f"state '{name}'",
                got=repr(reduce_function),
            )
        self.reducer: Callable[[Any, Any], Any] = reducer
        self._reduce_function = reduce_function

    def get_reduce_function(self) -> Any:
        """Return the function as it was given."""
        return self._reduce_function


class AggregatingStateDescriptor(StateDescriptor):
    """Describes an AggregatingState; `state_type_info` is the type of the accumulator."""

    def __init__(self, name: str, agg_function: Any, state_type_info: TypeInformation | None = None) -> None:
        super().__init__(name, state_type_info)
        if not all(callable(getattr(agg_function, method, None)) for method in _AGGREGATE_METHODS):
            raise ProgramError(
                "requires an AggregateFunction",
                who=f"state '{name}'",
                got=repr(agg_function),
                hint=f"define {', '.join(_AGGREGATE_METHODS)}",
            )
        self._agg_function = agg_function

    def get_agg_function(self) -> Any:
        """Return the function as it was given."""
        return self._agg_function


def _list_type(element: TypeInformation | None) -> TypeInformation | None:
    return None if element is None else Types.LIST(element)


def _map_type(key: TypeInformation | None, value: TypeInformation | None) -> TypeInformation | None:
    return None if key is None or value is None else Types.MAP(key, value)
