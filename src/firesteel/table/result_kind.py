"""ResultKind: whether a statement has rows to show."""

from __future__ import annotations

from enum import Enum

__all__ = ["ResultKind"]


class ResultKind(Enum):
    """What a TableResult holds.

    SUCCESS: the statement was executed, and its only row is OK. SUCCESS_WITH_CONTENT: it has rows.
    """

    SUCCESS = 0
    SUCCESS_WITH_CONTENT = 1
