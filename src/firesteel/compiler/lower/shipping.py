"""Pickling of the parts of a plan that go to the workers."""

from __future__ import annotations

from firesteel.common import pickles
from firesteel.common.errors import SerializationError
from firesteel.common.typeinfo import TypeInformation


def shipped(value: object, who: str) -> bytes:
    """Return `value` pickled. Raises SerializationError, which names `who`, if it cannot be pickled."""
    try:
        return pickles.dumps(value)
    except Exception as error:
        raise SerializationError(
            "requires functions that can be shipped to the workers",
            who=who,
            got=f"{type(error).__name__}: {error}",
            hint="open connections, locks and files in open(), not when the function is created",
        ) from error


def declared(type_info: TypeInformation | None) -> TypeInformation | None:
    """Return the type if it restricts the values; None for values of any type, which are pickled."""
    return None if type_info is None or type_info.is_pickled else type_info


def shipped_type(type_info: TypeInformation | None, who: str) -> bytes | None:
    """Return the type pickled, None for values of any type."""
    type_info = declared(type_info)
    return None if type_info is None else shipped(type_info, who)
