"""The names of states: an operator's id for its entries, with a slash and another name for an arrangement."""

from __future__ import annotations


def state_name(operator_id: str, arrangement: str) -> str:
    """Return the name of an arrangement's state.

    >>> state_name("0123", "counts"), operator_of("0123/counts"), arrangement_of("0123/counts")
    ('0123/counts', '0123', 'counts')
    """
    return f"{operator_id}/{arrangement}"


def operator_of(state: str) -> str:
    """Return the id of the operator that has a state."""
    return state.partition("/")[0]


def arrangement_of(state: str) -> str:
    """Return the own name of an arrangement; empty for the entries of an operator."""
    return state.partition("/")[2]


def moved(state: str, operator_id: str) -> str:
    """Return the name that a state has under another operator's id.

    >>> moved("0123", "4567"), moved("0123/counts", "4567")
    ('4567', '4567/counts')
    """
    name = arrangement_of(state)
    return state_name(operator_id, name) if name else operator_id
