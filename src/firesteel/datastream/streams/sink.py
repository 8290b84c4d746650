"""The end of a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firesteel.datastream.streams.node_settings import NodeSettings
from firesteel.graph import GraphBuilder, Node

if TYPE_CHECKING:
    from firesteel.datastream.stream_execution_environment import StreamExecutionEnvironment


class DataStreamSink(NodeSettings):
    """A stream that ends in a sink; its methods set the sink's settings."""

    def __init__(self, environment: StreamExecutionEnvironment, node: int) -> None:
        self._environment = environment
        self._node = node

    @property
    def _builder(self) -> GraphBuilder:
        return self._environment._builder

    def _own_node(self, call: str) -> Node:
        del call
        return self._builder[self._node]
