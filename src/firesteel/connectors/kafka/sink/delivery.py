"""The writers of the guarantees, and what the epochs of a process share."""

from __future__ import annotations

from typing import Final

from firesteel.connectors.kafka.sink.direct import DirectWriter
from firesteel.connectors.kafka.sink.settings import KafkaSinkSettings
from firesteel.connectors.kafka.sink.staged import StagedWriter
from firesteel.connectors.kafka.sink.topics import Topics
from firesteel.connectors.kafka.sink.writers import RecordWriter
from firesteel.functions.sink import DeliveryGuarantee, WriterContext

_topics: Final[dict[KafkaSinkSettings, Topics]] = {}


def open_writer(settings: KafkaSinkSettings, context: WriterContext) -> RecordWriter:
    """Return the writer of one subtask for one epoch."""
    if settings not in _topics:
        _topics[settings] = Topics(settings)
    topics = _topics[settings]
    if settings.guarantee is DeliveryGuarantee.EXACTLY_ONCE:
        return StagedWriter(settings, topics, context)
    return DirectWriter(settings, topics, context)
