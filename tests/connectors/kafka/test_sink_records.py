"""Records on their way to topics: their columns, their bytes, their sizes, and what the producer gets."""

from __future__ import annotations

import pyarrow as pa
import pytest

from firesteel.common.errors import ConnectorError
from firesteel.connectors.kafka.sink.records import TopicRecords, joined, pack, unpack

HEADERS = [[{"key": "h", "value": b"1"}, {"key": "h", "value": None}], [], None]


def test_columns_that_no_record_has_are_left_out():
    records = TopicRecords.of("t", [b"a", None], keys=[None, None], timestamps=[None, None])
    assert records.rows.schema.names == ["value"]
    assert len(records) == 2


def test_what_the_producer_gets():
    records = TopicRecords.of(
        "t",
        [b"a", None, b"c"],
        keys=[b"k", None, b""],
        timestamps=[5, None, 7],
        partitions=[2, None, 0],
        headers=HEADERS,
    )
    note = object()
    assert list(records.messages(note)) == [
        (b"a", b"k", 2, note, None, 5, [("h", b"1"), ("h", None)]),
        (None, None, -1, note, None, 0, []),
        (b"c", b"", 0, note, None, 7, []),
    ]
    assert list(TopicRecords.of("t", [b"a"]).messages(note)) == [(b"a", None, -1, note, None, 0)]


def test_records_survive_being_packed():
    parts = [
        TopicRecords.of("t", [b"a", b""], keys=[b"k", None], headers=HEADERS[:2]),
        TopicRecords.of("ü", pa.array([b"b"]), timestamps=pa.array([3])),
        TopicRecords.of("t", [None]),
    ]
    found = list(unpack(pack(parts)))
    assert [(part.topic, part.rows.to_pydict()) for part in found] == [
        (part.topic, part.rows.to_pydict()) for part in joined(parts)
    ]
    assert [(part.topic, len(part)) for part in found] == [("t", 3), ("ü", 1)]
    assert found[0].rows.column("headers").to_pylist() == [*HEADERS[:2], None]


def test_a_part_of_a_batch_is_packed_alone():
    whole = TopicRecords.of("t", [b"%06d" % number for number in range(10_000)])
    part = TopicRecords("t", whole.rows.slice(5_000, 10))
    assert len(pack([part])) < 2_000
    assert part.nbytes < 1_000


@pytest.mark.parametrize(
    ("more", "fits"),
    [({}, 872), ({"keys": [b"k" * 100]}, 772), ({"headers": [[{"key": "hh", "value": b"v" * 88}]]}, 772)],
)
def test_a_record_that_is_too_large_is_named(more, fits):
    TopicRecords.of("t", [b"v" * fits], **more).check_sizes(1_000, "KafkaSink")
    records = TopicRecords.of("t", [b"v" * (fits + 1)], **more)
    with pytest.raises(
        ConnectorError, match=r"topic 't' takes: of at most 1000 bytes; got a record with .*b'vvvv"
    ) as raised:
        records.check_sizes(1_000, "KafkaSink")
    assert "1001 bytes" in str(raised.value)
    assert len(str(raised.value)) < 700


def test_only_the_sizes_of_single_records_count():
    records = TopicRecords.of("t", [b"v" * 500] * 10)
    records.check_sizes(1_000, "KafkaSink")
    with pytest.raises(ConnectorError, match="b'w"):
        TopicRecords.of("t", [b"v" * 500] * 10 + [b"w" * 900] + [None]).check_sizes(1_000, "KafkaSink")
