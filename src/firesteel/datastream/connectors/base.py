"""What every connector is (PyFlink: pyflink.datastream.connectors.base); subclass Source and Sink for your own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from firesteel.functions.sink import DeliveryGuarantee, Sink
from firesteel.functions.source import Source

__all__ = ["DeliveryGuarantee", "Sink", "Source", "StreamTransformer", "SupportsPreprocessing"]


class StreamTransformer(ABC):
    """Changes a stream before a sink gets it."""

    @abstractmethod
    def apply(self, ds: Any) -> Any:
        """Return the stream to write instead of `ds`."""


class SupportsPreprocessing(ABC):
    """A sink whose stream is changed before it gets it."""

    @abstractmethod
    def get_transformer(self) -> StreamTransformer | None:
        """What changes the stream, None to leave it."""
