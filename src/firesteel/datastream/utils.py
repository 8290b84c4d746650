"""Types that sources and sinks know themselves."""

from __future__ import annotations

from abc import ABC, abstractmethod

from firesteel.common.typeinfo import TypeInformation

__all__ = ["ResultTypeQueryable"]


class ResultTypeQueryable(ABC):
    """An object that knows the type of its values."""

    @abstractmethod
    def get_produced_type(self) -> TypeInformation:
        """Return the type."""
