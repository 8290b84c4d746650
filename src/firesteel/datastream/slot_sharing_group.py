"""Slot sharing groups and their resources, accepted so that programs run unchanged.

Spark's own settings determine resources.
"""

from __future__ import annotations

from functools import total_ordering
from typing import Any, Final, TypeVar

from firesteel.common.errors import ProgramError
from firesteel.datastream.unsupported import gap

__all__ = ["MemorySize", "SlotSharingGroup"]

_MEBI: Final = 1 << 20


@total_ordering
class MemorySize:
    """A number of bytes.

    >>> MemorySize.of_mebi_bytes(3).get_kibi_bytes()
    3072
    >>> str(MemorySize.of_mebi_bytes(2))
    '2 mb'
    """

    __slots__ = ("_bytes",)

    def __init__(self, j_memory_size: Any = None, bytes_size: int | None = None) -> None:
        size = bytes_size if j_memory_size is None else j_memory_size
        if not isinstance(size, int) or size < 0:
            raise ProgramError(
                "requires a number of bytes that is not negative", who="MemorySize", got=repr(size)
            )
        self._bytes = size

    @staticmethod
    def of_mebi_bytes(mebi_bytes: int) -> MemorySize:
        """Return the size of that many MiB."""
        return MemorySize(bytes_size=mebi_bytes * _MEBI)

    def get_bytes(self) -> int:
        """Return the size in bytes."""
        return self._bytes

    def get_kibi_bytes(self) -> int:
        """Return the size in KiB, rounded down."""
        return self._bytes >> 10

    def get_mebi_bytes(self) -> int:
        """Return the size in MiB, rounded down."""
        return self._bytes >> 20

    def get_gibi_bytes(self) -> int:
        """Return the size in GiB, rounded down."""
        return self._bytes >> 30

    def get_tebi_bytes(self) -> int:
        """Return the size in TiB, rounded down."""
        return self._bytes >> 40

    @gap("pyflink.datastream.MemorySize.get_java_memory_size")
    def get_java_memory_size(self) -> None: ...

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MemorySize) and other._bytes == self._bytes

    def __lt__(self, other: MemorySize) -> bool:
        return self._bytes < other._bytes

    def __hash__(self) -> int:
        return hash(self._bytes)

    def __str__(self) -> str:
        for unit, bits in (("tb", 40), ("gb", 30), ("mb", 20), ("kb", 10)):
            if self._bytes and self._bytes % (1 << bits) == 0:
                return f"{self._bytes >> bits} {unit}"
        return f"{self._bytes} bytes"

    def __repr__(self) -> str:
        return f"MemorySize(bytes_size={self._bytes})"


class SlotSharingGroup:
    """A named group of operations with the resources that it requests.

    >>> group = SlotSharingGroup.builder("io").set_cpu_cores(1.5).set_task_heap_memory_mb(256).build()
    >>> group.get_name(), group.get_cpu_cores(), str(group.get_task_heap_memory())
    ('io', 1.5, '256 mb')
    """

    def __init__(self, name: str, resources: dict[str, Any]) -> None:
        self._name = name
        self._resources = resources

    def get_name(self) -> str:
        """Return the group's name."""
        return self._name

    def get_managed_memory(self) -> MemorySize | None:
        """Return the requested managed memory."""
        return self._resources.get("managed_memory")

    def get_task_heap_memory(self) -> MemorySize | None:
        """Return the requested heap memory."""
        return self._resources.get("task_heap_memory")

    def get_task_off_heap_memory(self) -> MemorySize | None:
        """Return the requested off-heap memory."""
        return self._resources.get("task_off_heap_memory")

    def get_cpu_cores(self) -> float | None:
        """Return the requested number of cores."""
        return self._resources.get("cpu_cores")

    def get_external_resources(self) -> dict[str, float]:
        """Return the other requested resources, by name."""
        return dict(self._resources.get("external", {}))

    @gap("pyflink.datastream.SlotSharingGroup.get_java_slot_sharing_group")
    def get_java_slot_sharing_group(self) -> None: ...

    @staticmethod
    def builder(name: str) -> SlotSharingGroup.Builder:
        """Start a group with this name."""
        return SlotSharingGroup.Builder(name)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, SlotSharingGroup)
            and other._name == self._name
            and other._resources == self._resources
        )

    def __hash__(self) -> int:
        return hash(self._name)

    class Builder:
        """Collects the resources of a group.

        Setters raise ProgramError for an amount that is not positive if Flink requires a positive one.
        """

        def __init__(self, j_builder: str) -> None:
            self._name = j_builder
            self._resources: dict[str, Any] = {}

        def set_cpu_cores(self, cpu_cores: float) -> SlotSharingGroup.Builder:
            """Request a number of cores."""
            return self._with("cpu_cores", _positive("set_cpu_cores", cpu_cores, (int, float), 0))

        def set_task_heap_memory(self, task_heap_memory: MemorySize) -> SlotSharingGroup.Builder:
            """Request heap memory."""
            size = _positive(
                "set_task_heap_memory", task_heap_memory, (MemorySize,), MemorySize(bytes_size=0)
            )
            return self._with("task_heap_memory", size)

        def set_task_heap_memory_mb(self, task_heap_memory_mb: int) -> SlotSharingGroup.Builder:
            """Request heap memory, in MiB."""
            return self.set_task_heap_memory(MemorySize.of_mebi_bytes(task_heap_memory_mb))

        def set_task_off_heap_memory(self, task_off_heap_memory: MemorySize) -> SlotSharingGroup.Builder:
            """Request off-heap memory."""
            return self._with("task_off_heap_memory", task_off_heap_memory)

        def set_task_off_heap_memory_mb(self, task_off_heap_memory_mb: int) -> SlotSharingGroup.Builder:
            """Request off-heap memory, in MiB."""
            return self._with("task_off_heap_memory", MemorySize.of_mebi_bytes(task_off_heap_memory_mb))

        def set_managed_memory(self, managed_memory: MemorySize) -> SlotSharingGroup.Builder:
            """Request managed memory."""
            return self._with("managed_memory", managed_memory)

        def set_managed_memory_mb(self, managed_memory_mb: int) -> SlotSharingGroup.Builder:
            """Request managed memory, in MiB."""
            return self._with("managed_memory", MemorySize.of_mebi_bytes(managed_memory_mb))

        def set_external_resource(self, name: str, value: float) -> SlotSharingGroup.Builder:
            """Request another resource."""
            return self._with("external", {**self._resources.get("external", {}), name: value})

        def build(self) -> SlotSharingGroup:
            """Return the group; in a group with resources, off-heap and managed memory are 0 unless set.

            Raises ProgramError if resources were requested, but not both cores and heap memory.
            """
            if not self._resources:
                return SlotSharingGroup(self._name, {})
            if not {"cpu_cores", "task_heap_memory"} <= self._resources.keys():
                raise ProgramError(
                    "requires both cores and heap memory if it has resources",
                    who=f"SlotSharingGroup {self._name!r}",
                    got=", ".join(sorted(self._resources)),
                    hint="call set_cpu_cores() and set_task_heap_memory()",
                )
            none = MemorySize(bytes_size=0)
            return SlotSharingGroup(
                self._name, {"task_off_heap_memory": none, "managed_memory": none, **self._resources}
            )

        def _with(self, resource: str, amount: Any) -> SlotSharingGroup.Builder:
            self._resources[resource] = amount
            return self


A = TypeVar("A", float, MemorySize)


def _positive(setter: str, amount: A, kinds: tuple[type, ...], zero: A) -> A:
    if not isinstance(amount, kinds) or not amount > zero:
        raise ProgramError(
            "requires a positive amount", who=f"SlotSharingGroup.Builder.{setter}", got=repr(amount)
        )
    return amount
