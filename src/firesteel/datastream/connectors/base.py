"""The base classes of connectors (PyFlink: pyflink.datastream.connectors.base); subclass Source and Sink."""

from __future__ import annotations

from firesteel.functions.sink import DeliveryGuarantee, Sink, StreamTransformer, SupportsPreprocessing
from firesteel.functions.source import Source

__all__ = ["DeliveryGuarantee", "Sink", "Source", "StreamTransformer", "SupportsPreprocessing"]
