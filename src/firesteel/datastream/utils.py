"""Types that sources and sinks know of themselves."""

from __future__ import annotations

from abc import ABC, abstractmethod

from firesteel.common.typeinfo import TypeInformation

__all__ = ["ResultTypeQueryable"]


class ResultTypeQueryable(ABC):
    """Something that knows the type of what it produces."""

    @abstractmethod
    def get_produced_type(self) -> TypeInformation:
        """Return the type."""
