"""The settings of the operation behind a stream or a sink: name, uid, parallelism, chaining."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Final, Self

from firesteel.common.errors import ProgramError
from firesteel.datastream.slot_sharing_group import SlotSharingGroup
from firesteel.graph import Location, Node
from firesteel.graph.operations import SourceOp

if TYPE_CHECKING:
    from firesteel.graph import GraphBuilder

MAX_PARALLELISM: Final = 1 << 15
"""The largest number of key groups (Flink: KeyGroupRangeAssignment.UPPER_BOUND_MAX_PARALLELISM)."""


class NodeSettings(ABC):
    """Settings of one operation; every method returns the object that it was called on."""

    @property
    @abstractmethod
    def _builder(self) -> GraphBuilder:
        """The operation's graph."""

    @abstractmethod
    def _own_node(self, call: str) -> Node:
        """Return the operation that `call` sets something on, or raise ProgramError."""

    def _change(self, call: str, **changes: Any) -> Self:
        self._builder.replace(self._own_node(call).id, **changes)
        return self

    def name(self, name: str) -> Self:
        """Set the name that logs, errors and metrics use."""
        return self._change("name", name=require_text("name", name))

    def uid(self, uid: str) -> Self:
        """Set the id under which a changed program finds its state after a restart; no two operations may share one."""
        return self._change("uid", uid=require_text("uid", uid))

    def set_uid_hash(self, uid_hash: str) -> Self:
        """Set the operator id itself: 32 hexadecimal digits. Raises ProgramError for anything else."""
        digits = require_text("set_uid_hash", uid_hash)
        if len(digits) != 32 or not set(digits.lower()) <= set("0123456789abcdef"):
            raise ProgramError(
                "requires 32 hexadecimal digits", who=call_site("set_uid_hash"), got=repr(uid_hash)
            )
        return self._change("set_uid_hash", uid_hash=digits)

    def set_parallelism(self, parallelism: int) -> Self:
        """Set the number of subtasks (-1: the environment's). Raises ProgramError if the operation cannot have that
        many.
        """
        call = "set_parallelism"
        wanted = require_parallelism(call, parallelism)
        node = self._own_node(call)
        if wanted is not None and wanted > 1 and _is_non_parallel(node):
            raise ProgramError(
                "requires 1 for an operation that is not parallel", who=call_site(call), got=str(parallelism)
            )
        require_at_most(call, wanted, node.max_parallelism)
        return self._change(call, parallelism=wanted)

    def set_description(self, description: str) -> Self:
        """Set the text that the execution plan shows."""
        return self._change("set_description", description=require_text("set_description", description))

    def disable_chaining(self) -> Self:
        """Put the operation into a separate chain.

        Plans show it, and values are coerced to their declared types at the end of a chain, as in PyFlink. Operations
        of one level run in the same tasks, chained or not.
        """
        return self._change("disable_chaining", chaining="never")

    def slot_sharing_group(self, slot_sharing_group: str | SlotSharingGroup) -> Self:
        """Set the operation's slot sharing group, which a chain does not cross.

        Otherwise only plans show it: all subtasks of a level share Spark's tasks.
        """
        call = "slot_sharing_group"
        if isinstance(slot_sharing_group, SlotSharingGroup):
            slot_sharing_group = slot_sharing_group.get_name()
        return self._change(call, slot_sharing_group=require_text(call, slot_sharing_group))


class StreamSettings(NodeSettings):
    """Settings of an operation whose result is a stream."""

    def get_name(self) -> str:
        """Return the operation's name."""
        return self._own_node("get_name").name

    def set_max_parallelism(self, max_parallelism: int) -> Self:
        """Set the number of key groups, 1 to 32768: the limit of the parallelism for the job's whole life."""
        call = "set_max_parallelism"
        return self._change(call, max_parallelism=require_max_parallelism(call, max_parallelism))

    def force_non_parallel(self) -> Self:
        """Run the operation in one subtask, for good."""
        return self._change("force_non_parallel", parallelism=1, max_parallelism=1)

    def set_buffer_timeout(self, timeout_millis: int) -> Self:
        """Check the timeout (milliseconds, -1: the default). No effect: records move at the pace of epochs."""
        self._own_node("set_buffer_timeout")
        require_buffer_timeout("set_buffer_timeout", timeout_millis)
        return self

    def start_new_chain(self) -> Self:
        """Start a chain with the operation; `disable_chaining` describes the effect."""
        return self._change("start_new_chain", chaining="head")


def call_site(call: str) -> str:
    """Return a name for a call and its line in the program, for errors."""
    return f"{call} ({Location.of_caller()})"


def require_text(call: str, value: object) -> str:
    """Return `value` if it is a string that is not empty, else raise ProgramError."""
    if isinstance(value, str) and value:
        return value
    raise ProgramError(
        "requires a string that is not empty",
        who=call_site(call),
        got=f"{type(value).__name__}: {value!r:.80}",
    )


def require_parallelism(call: str, value: object) -> int | None:
    """Return a parallelism of at least 1, None for -1 (the default), else raise ProgramError."""
    if isinstance(value, int) and not isinstance(value, bool) and (value >= 1 or value == -1):
        return None if value == -1 else value
    raise ProgramError(
        "requires a parallelism of at least 1, or -1 for the default",
        who=call_site(call),
        got=f"{type(value).__name__}: {value!r:.80}",
    )


def require_max_parallelism(call: str, value: object) -> int:
    """Return a max parallelism from 1 to 32768, else raise ProgramError."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MAX_PARALLELISM:
        return value
    raise ProgramError(
        f"requires a max parallelism from 1 to {MAX_PARALLELISM}",
        who=call_site(call),
        got=f"{type(value).__name__}: {value!r:.80}",
    )


def require_at_most(call: str, parallelism: int | None, max_parallelism: int | None) -> None:
    """Raise ProgramError for a parallelism above the max parallelism; None is not known yet."""
    if parallelism is not None and max_parallelism is not None and parallelism > max_parallelism:
        raise ProgramError(
            f"requires a parallelism of at most the max parallelism {max_parallelism}",
            who=call_site(call),
            got=str(parallelism),
            hint="call set_max_parallelism(...) first, or lower the parallelism",
        )


def require_buffer_timeout(call: str, value: object) -> int:
    """Return a timeout of at least -1 (milliseconds), else raise ProgramError."""
    if isinstance(value, int) and value >= -1:
        return value
    raise ProgramError("requires a timeout of at least -1", who=call_site(call), got=repr(value))


def _is_non_parallel(node: Node) -> bool:
    source = node.operation.source if isinstance(node.operation, SourceOp) else None
    return node.max_parallelism == 1 or (source is not None and source.preferred_parallelism == 1)
