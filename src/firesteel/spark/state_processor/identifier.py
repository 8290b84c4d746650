"""The identity of an operator in saved state."""

from __future__ import annotations

from dataclasses import dataclass

from firesteel.common.errors import ProgramError
from firesteel.graph.uids import id_of_uid
from firesteel.saved.inspection import SavedOperator, SavedState


@dataclass(frozen=True, slots=True)
class OperatorIdentifier:
    """An operator by the uid a program gives it, or by its id (Flink: OperatorIdentifier).

    >>> OperatorIdentifier.for_uid("counts").operator_id[:8]
    'd66e9bf6'
    """

    operator_id: str
    uid: str | None = None

    @staticmethod
    def for_uid(uid: str) -> OperatorIdentifier:
        """Return the operator to which a program gives `.uid(uid)`."""
        return OperatorIdentifier(id_of_uid(uid), uid)

    @staticmethod
    def for_uid_hash(uid_hash: str) -> OperatorIdentifier:
        """Return the operator with this id: 32 hexadecimal digits, as `set_uid_hash` takes them."""
        digits = uid_hash.lower()
        if len(digits) != 32 or not set(digits) <= set("0123456789abcdef"):
            raise ProgramError(
                "requires 32 hexadecimal digits", who="OperatorIdentifier.for_uid_hash", got=repr(uid_hash)
            )
        return OperatorIdentifier(digits)


Operator = OperatorIdentifier | str
"""An operator as an argument: its identifier, or its uid, its name, or the beginning of its id."""


def find_operator(saved: SavedState, operator: Operator) -> SavedOperator:
    """Return an operator of a saved state. Raises StateError, which lists the operators, if it does not exist."""
    if isinstance(operator, OperatorIdentifier):
        return saved.operator(operator.uid or operator.operator_id, operator.operator_id)
    return saved.operator(operator, id_of_uid(operator))
