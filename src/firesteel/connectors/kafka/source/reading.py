"""The worker's side of a source: the messages of ranges of offsets.

One consumer reads all partitions that a subtask has: their leaders are asked together, and what they send waits in its
queue, ahead of what is asked for. Messages come out of it mixed; those of other partitions wait for their turn.

A range ends by position, not by number: offsets of aborted records, of the marks that end transactions and of records
that compaction has removed have no message. A range is at its end when a message beyond it, or the end of the log
beyond it, has come. For that the consumer tells when it is at the end of a partition.

Messages are objects of Python, made by the client's own extension: 0.30 us each on a core that does nothing else, and
0.11 us more for a column of their values, if the garbage collector waits meanwhile; with it 0.70 us and 0.12 us. Two
other ways were measured with the same million messages of 200 bytes. librdkafka's queue of a partition, by ctypes, and
numpy that gathers values from its memory: 0.09 us for a batch, 0.25 us for the column, and 0.20 us because each message
must be released by a call: more in all, and nothing that its releases promise to keep. Decoding the broker's record
batches here would need each record's length, one after the other, for that is where the next one begins: a loop in
Python, and the protocol with its ways to log in besides.
"""

from __future__ import annotations

import logging
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from firesteel.common.collector import collector_waits
from firesteel.common.errors import ConnectorError
from firesteel.connectors.kafka.partitions import KafkaTopicPartition
from firesteel.connectors.kafka.reasons import reason_of
from firesteel.connectors.kafka.settings import Properties, client_settings, new_client
from firesteel.connectors.kafka.source.cluster import is_refusal

Messages = list[Message]

MOST: Final = 10_000
"""The most messages of a batch."""

ENOUGH: Final = 8_000
"""Messages of a batch that are worth its fixed costs."""

_LINGER_S: Final = 0.05
"""How long the first messages of a batch wait for others."""

_AHEAD: Final = 50_000
"""Messages of a partition that wait for their turn, above which no more of it are fetched."""

_WAIT_S: Final = 0.1

_SETTINGS: Final = {
    "enable.auto.commit": "false",
    "enable.auto.offset.store": "false",
    "enable.partition.eof": "true",
    "allow.auto.create.topics": "false",
    # Never a jump that nobody notices.
    "auto.offset.reset": "error",
}
"""What no property can change."""

_DEFAULTS: Final = {
    "group.id": "firesteel",
    # As that of Java's client; the C library's is read_committed.
    "isolation.level": "read_uncommitted",
    # With a full queue a partition is fetched again after this time, which by default is a second.
    "fetch.queue.backoff.ms": "10",
}

_ERROR: Final = Message.error
_OFFSET: Final = Message.offset

_log = logging.getLogger(__name__)


def consumer_settings(properties: Properties, who: str) -> dict[str, Any]:
    """Return the settings of the consumer."""
    return {**_DEFAULTS, **client_settings(properties, who), **_SETTINGS}


class _Feed:
    """A partition: messages that wait, in order; `position` is where the last range stopped.

    The consumer has told everything before `reached`. `lost` is whether the log does not have `reached`.
    """

    __slots__ = ("lost", "paused", "position", "reached", "waiting")

    def __init__(self, position: int) -> None:
        self.position = self.reached = position
        self.waiting: Messages = []
        self.paused = self.lost = False

    def add(self, messages: Messages) -> None:
        if self.waiting:
            self.waiting += messages
        else:
            self.waiting = messages
        self.reached = messages[-1].offset() + 1

    def has_enough(self, end: int) -> bool:
        """Return whether there are many messages, or all before `end`."""
        return self.reached >= end or len(self.waiting) >= ENOUGH

    def take(self, end: int) -> Messages:
        """Return the messages before `end` that wait, and advance."""
        found, self.waiting = self.waiting, []
        if found and found[-1].offset() >= end:
            count = bisect_left(found, end, key=_OFFSET)
            found, self.waiting = found[:count], found[count:]
        self.position = end if self.reached >= end else self.reached
        return found


class PartitionReader:
    """Reads ranges of partitions.

    Contract: `batches(partition, start, end)` yields the messages of `[start, end)` in order, and waits for them up to
    `patience_s`. Where `start` is not where the last range of the partition ended, it is read anew from there. A record
    that is not there any more is an error, but with `forgiving` the first record that is there comes next. Raises
    ConnectorError for that, for what the broker refuses, and after the patience.
    """

    def __init__(
        self,
        properties: Properties,
        who: str,
        patience_s: float,
        *,
        forgiving: bool = False,
        make: Callable[[dict[str, Any]], Any] = Consumer,
    ) -> None:
        self._who = who
        self._patience_s = patience_s
        self._forgiving = forgiving
        self._feeds: dict[KafkaTopicPartition, _Feed] = {}
        self._consumer = new_client(make, consumer_settings(properties, who), who)
        self._trouble = "no answer"

    def batches(self, partition: KafkaTopicPartition, start: int, end: int) -> Iterator[Messages]:
        """Yield the messages of a range."""
        feed = self._feeds.get(partition)
        if feed is None or feed.position != start or feed.lost:
            feed = self._begin(partition, start)
        while feed.position < end:
            self._gather(partition, feed, end)
            found = feed.take(end)
            for first in range(0, len(found), MOST):
                yield found[first : first + MOST]

    def close(self) -> None:
        """Close the consumer."""
        self._consumer.close()

    def _begin(self, partition: KafkaTopicPartition, start: int) -> _Feed:
        """Let the consumer read a partition from an offset on; nothing that it has fetched of it before counts."""
        if partition in self._feeds:
            self._consumer.incremental_unassign([TopicPartition(*partition)])
        self._consumer.incremental_assign([TopicPartition(*partition, start)])
        feed = self._feeds[partition] = _Feed(start)
        return feed

    def _gather(self, partition: KafkaTopicPartition, feed: _Feed, end: int) -> None:
        """Wait for messages before `end`: for many, because each batch costs something, but not for long."""
        began = heard = time.monotonic()
        while not feed.has_enough(end):
            before = feed.reached
            self._fetch(partition, feed, end)
            now = time.monotonic()
            if feed.waiting and now - began > _LINGER_S:
                return
            if feed.reached > before:
                heard = now
            elif now - heard > self._patience_s:
                raise self._silent(partition, feed.reached)

    def _fetch(self, partition: KafkaTopicPartition, feed: _Feed, end: int) -> None:
        if feed.paused:
            feed.paused = False
            self._consumer.resume([TopicPartition(*partition)])
        try:
            with collector_waits():
                messages = self._consumer.consume(min(MOST, end - feed.reached), _WAIT_S)
        except KafkaException as error:
            raise self._refused(partition, error.args[0]) from error
        if any(map(_ERROR, messages)):
            messages = self._without_errors(messages)
        self._distribute(partition, messages)
        if feed.lost and feed.reached < end:
            self._find_again(partition, feed)

    def _distribute(self, wanted: KafkaTopicPartition, messages: Messages) -> None:
        if not messages:
            return
        if len(self._feeds) == 1:
            self._feeds[wanted].add(messages)
            return
        # Partitions of one topic are told apart by their numbers, which is cheaper.
        several = len({one.topic for one in self._feeds}) > 1
        for _, run in groupby(messages, _partition_of if several else Message.partition):
            of_one = [*run]
            partition = _partition_of(of_one[0])
            feed = self._feeds[partition]
            feed.add(of_one)
            if partition != wanted and not feed.paused and len(feed.waiting) > _AHEAD:
                feed.paused = True
                self._consumer.pause([TopicPartition(*partition)])

    def _without_errors(self, messages: Messages) -> Messages:
        """Take what the consumer tells about partitions out of messages.

        The end of a partition is told after its messages, which are distributed first.
        """
        kept: Messages = []
        for message in messages:
            error = message.error()
            if error is None:
                kept.append(message)
                continue
            partition = _partition_of(message)
            code = error.code()
            if code == KafkaError._PARTITION_EOF:
                self._distribute(partition, kept)
                kept = []
                feed = self._feeds[partition]
                feed.reached = max(feed.reached, message.offset())
            elif code in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
                self._feeds[partition].lost = True
            elif is_refusal(error) or code == KafkaError._LOG_TRUNCATION:
                raise self._refused(partition, error)
            else:
                self._trouble = reason_of(error)
        return kept

    def _find_again(self, partition: KafkaTopicPartition, feed: _Feed) -> None:
        """Go on where the log begins if its first records are gone and that is forgiven."""
        try:
            low, high = self._consumer.get_watermark_offsets(TopicPartition(*partition), self._patience_s)
        except KafkaException as error:
            raise self._refused(partition, error.args[0]) from error
        if feed.reached >= low or not self._forgiving:
            raise ConnectorError(
                f"requires the record at offset {feed.reached} of {partition}",
                who=self._who,
                got=f"a log with the offsets from {low} up to {high}: retention has deleted older records",
                hint="'auto.offset.reset' = 'earliest' goes on with the first record that there is",
            )
        _log.warning(
            "%s: %s has lost the records from offset %d up to %d before they were read",
            self._who,
            partition,
            feed.reached,
            low,
        )
        self._begin(partition, low)
        again = self._feeds[partition] = feed
        again.lost, again.reached = False, low

    def _refused(self, partition: KafkaTopicPartition, error: KafkaError) -> ConnectorError:
        return ConnectorError(f"could not read {partition}", who=self._who, got=reason_of(error))

    def _silent(self, partition: KafkaTopicPartition, offset: int) -> ConnectorError:
        return ConnectorError(
            f"requires the records of {partition} from offset {offset} on within {self._patience_s:g} s",
            who=self._who,
            got=self._trouble,
            hint="its leader may be away; the property 'default.api.timeout.ms' says how long to wait",
        )


def _partition_of(message: Message) -> KafkaTopicPartition:
    return KafkaTopicPartition(message.topic(), message.partition())
