"""The tag of a side output."""

from __future__ import annotations

from firesteel.common.errors import ProgramError
from firesteel.common.typeinfo import TypeInformation, Types

__all__ = ["OutputTag"]


class OutputTag:
    """The name and type of a side output; a function emits to it with `yield tag, value`.

    `type_info` is a TypeInformation, a list of them (short for `Types.ROW`), or None for values of any type. Tags with
    the same `tag_id` are equal. Raises ProgramError for an empty `tag_id` or another kind of `type_info`.

    >>> OutputTag("late", Types.STRING())
    OutputTag('late')
    >>> OutputTag("late") == OutputTag("late", Types.STRING())
    True
    """

    __slots__ = ("tag_id", "type_info")

    tag_id: str
    type_info: TypeInformation

    def __init__(self, tag_id: str, type_info: TypeInformation | list[TypeInformation] | None = None) -> None:
        if not isinstance(tag_id, str) or not tag_id:
            raise ProgramError("requires a tag_id that is not empty", who="OutputTag", got=f"{tag_id!r}")
        if type_info is None:
            type_info = Types.PICKLED_BYTE_ARRAY()
        elif isinstance(type_info, list):
            type_info = Types.ROW(type_info)
        elif not isinstance(type_info, TypeInformation):
            raise ProgramError(
                "requires a type_info that is a TypeInformation, a list of them or None",
                who=f"OutputTag {tag_id!r}",
                got=f"a {type(type_info).__name__}: {type_info!r}",
                hint="write it as Types.STRING(), Types.LONG(), ...",
            )
        self.tag_id = tag_id
        self.type_info = type_info

    def __eq__(self, other: object) -> bool:
        return type(other) is OutputTag and other.tag_id == self.tag_id

    def __hash__(self) -> int:
        return hash((OutputTag, self.tag_id))

    def __repr__(self) -> str:
        return f"OutputTag({self.tag_id!r})"
