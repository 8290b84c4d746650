"""The types of what a text selects, as far as the types of the stream's fields are known.

Whole numbers are computed as LONG, since Python's numbers do not overflow where INT does; with a float the result is
DOUBLE, with a BIG_DEC (and no float) BIG_DEC.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from firesteel.cep.text.nodes import Call, Expression, Literal, Parameter, Path
from firesteel.common.typeinfo import RowTypeInfo, TupleTypeInfo, TypeInformation, Types

__all__ = ["ResultTypes", "fields_of"]

_WHOLE: Final = (Types.BYTE(), Types.SHORT(), Types.INT(), Types.LONG())
_FLOATING: Final = (Types.FLOAT(), Types.DOUBLE())
_OF_VALUES: Final[dict[type, TypeInformation]] = {
    bool: Types.BOOLEAN(),
    float: Types.DOUBLE(),
    int: Types.LONG(),
    str: Types.STRING(),
    Decimal: Types.BIG_DEC(),
}
_OF_FUNCTIONS: Final = {
    "ceil": Types.LONG(),
    "count": Types.LONG(),
    "floor": Types.LONG(),
    "length": Types.LONG(),
    "lower": Types.STRING(),
    "round": Types.LONG(),
    "sqrt": Types.DOUBLE(),
    "trim": Types.STRING(),
    "upper": Types.STRING(),
}
"""The functions whose results have one type, whatever they are called with."""


def fields_of(info: TypeInformation | None) -> dict[str, TypeInformation]:
    """Return the fields of events of a type; none if it does not tell them.

    >>> fields_of(Types.TUPLE([Types.STRING(), Types.INT()]))
    {'f0': String, 'f1': Integer}
    """
    if isinstance(info, RowTypeInfo):
        return dict(zip(info.get_field_names(), info.get_field_types(), strict=True))
    if isinstance(info, TupleTypeInfo):
        return {f"f{place}": each for place, each in enumerate(info.get_field_types())}
    return {}


class ResultTypes:
    """The types of expressions; None for one that is not known.

    `event` is the type of all events, `steps` are the names of steps, `repeated` those that may have several events.
    """

    def __init__(
        self,
        event: TypeInformation | None,
        steps: Collection[str],
        repeated: Collection[str],
        parameters: Mapping[str, Any],
    ) -> None:
        self._event = None if event is None or event.is_pickled else event
        self._steps = steps
        self._repeated = repeated
        self._parameters = parameters

    def row(self, columns: Sequence[tuple[str, Expression]]) -> TypeInformation | None:
        """Return the type of rows with these columns; None if no column's type is known."""
        types = [self._column(node) for _, node in columns]
        if not any(types):
            return None
        known = [info or Types.PICKLED_BYTE_ARRAY() for info in types]
        return Types.ROW_NAMED([name for name, _ in columns], known)

    def _column(self, node: Expression) -> TypeInformation | None:
        if isinstance(node, Path) and len(node.names) == 1 and node.names[0] in self._repeated:
            return _list_of(self._event)
        return self.of(node)

    def of(self, node: Expression) -> TypeInformation | None:
        """Return the type of an expression's value."""
        if isinstance(node, Literal):
            return _of_value(node.value)
        if isinstance(node, Parameter):
            return _of_value(self._parameters.get(node.name))
        if isinstance(node, Path):
            return self._field(node.names[1:]) if node.names[0] in self._steps else None
        if isinstance(node, Call):
            return self._of_call(node)
        if node.operator == "minus":
            return _sum_of([self.of(node.operands[0])])
        if node.operator == "||":
            return Types.STRING()
        if node.operator == "/":
            found = _sum_of(list(map(self.of, node.operands)))
            return Types.DOUBLE() if found == Types.LONG() else found
        if node.operator in ("+", "-", "*", "%"):
            return _sum_of(list(map(self.of, node.operands)))
        return Types.BOOLEAN()

    def _field(self, names: Sequence[str]) -> TypeInformation | None:
        info = self._event
        for name in names:
            info = fields_of(info).get(name)
        return info

    def _of_call(self, node: Call) -> TypeInformation | None:
        function = node.function
        if function in _OF_FUNCTIONS:
            return _OF_FUNCTIONS[function]
        types = list(map(self.of, node.arguments))
        if function == "coalesce":
            same = all(info == types[0] for info in types)
            return types[0] if same else _sum_of(types)
        if function == "list":
            return _list_of(types[0])
        if function in ("abs", "sum"):
            return _sum_of(types)
        if function == "avg":
            found = _sum_of(types)
            return Types.DOUBLE() if found == Types.LONG() else found
        return types[0]  # first, last, min, max


def _of_value(value: Any) -> TypeInformation | None:
    info = _OF_VALUES.get(type(value))
    if type(value) is int and not -(2**63) <= value < 2**63:
        return Types.BIG_INT()
    return info


def _list_of(info: TypeInformation | None) -> TypeInformation | None:
    return None if info is None else Types.LIST(info)


def _sum_of(types: Sequence[TypeInformation | None]) -> TypeInformation | None:
    """Return the type of the sum of numbers of these types; None if one is no number, or not known."""
    if all(info in _WHOLE for info in types):
        return Types.LONG()
    if all(info in (*_WHOLE, *_FLOATING) for info in types):
        return Types.DOUBLE()
    if all(info in (*_WHOLE, Types.BIG_DEC()) for info in types):
        return Types.BIG_DEC()
    return None
