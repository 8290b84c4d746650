"""What must hold of one field of an event for a condition to be true, so that events are found by the field's value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

__all__ = ["Demand", "Demands"]

Order = Literal["<", "<=", ">", ">="]

_NUMBERS: Final = (int, float)


@dataclass(frozen=True)
class Demand:
    """A field equals one of `values` (`in`), or stands in an order to the only one of them, which is a number.

    The field is never NULL then. All values are hashable, and equal to themselves.
    """

    field: str
    operator: Literal["in"] | Order
    values: tuple[Any, ...]

    @staticmethod
    def of(field: str, operator: str, values: tuple[Any, ...]) -> Demand | None:
        """Return the demand that a comparison makes; None if it makes none that events can be found by.

        >>> Demand.of("price", ">", (10,))
        Demand(field='price', operator='>', values=(10,))
        >>> Demand.of("price", ">", ("ten",)) is None
        True
        """
        try:
            hash(values)
        except TypeError:
            return None
        if any(value is None or value != value for value in values):
            return None
        if operator in ("=", "in"):
            return Demand(field, "in", values)
        if operator in ("<", "<=", ">", ">=") and type(values[0]) in _NUMBERS:
            return Demand(field, operator, values)  # type: ignore[arg-type]  # just compared
        return None


@dataclass(frozen=True)
class Demands:
    """What a condition demands: each of `each` must hold; if `whole`, the condition is nothing else."""

    each: tuple[Demand, ...] = ()
    whole: bool = False
