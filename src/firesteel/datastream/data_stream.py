"""All kinds of streams."""

from __future__ import annotations

from firesteel.datastream.streams.broadcast import BroadcastStream
from firesteel.datastream.streams.connected import BroadcastConnectedStream, ConnectedStreams
from firesteel.datastream.streams.keyed import KeyedStream
from firesteel.datastream.streams.plain import CachedDataStream, DataStream
from firesteel.datastream.streams.results import CloseableIterator
from firesteel.datastream.streams.sink import DataStreamSink
from firesteel.datastream.streams.windowed import AllWindowedStream, WindowedStream

__all__ = [
    "AllWindowedStream",
    "BroadcastConnectedStream",
    "BroadcastStream",
    "CachedDataStream",
    "CloseableIterator",
    "ConnectedStreams",
    "DataStream",
    "DataStreamSink",
    "KeyedStream",
    "WindowedStream",
]
