"""Single messages are read, and written, as real Flink does (tables/flink/messages.jsonl)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firesteel.common.errors import FiresteelError
from firesteel.connectors.tables.messages.known_formats import MESSAGE_FORMATS
from firesteel.connectors.tables.messages.message_format import BadMessage
from harness.registry import SchemaRegistry
from tests.connectors.messages import KINDS, decoder, encoder, messages, rows_of, shown

HERE = Path(__file__).parent / "tables" / "flink"
REGISTRY = "http://registry"
ANSWERS = [json.loads(line) for line in (HERE / "messages.jsonl").read_text().splitlines()]
DESCRIPTORS = {"shop.Order": "shop.Order", "oldshop.Thing": "old_shop.Thing"}
BAD = "bad"

MICROS = "Flink 2.3 writes milliseconds where its own schema says microseconds; later versions do not"
DIFFERENT = {
    ("avro", "a TIMESTAMP(6), c TIMESTAMP_LTZ(3), d TIMESTAMP_LTZ(6), e TIMESTAMP(3)"): MICROS,
    ("avro", "a ARRAY<TIMESTAMP(3)>, m MAP<STRING, TIMESTAMP(3)>, r ROW<t TIMESTAMP(6)>"): MICROS,
    ("avro", "a ARRAY<TIMESTAMP(6)>"): "Flink forgets within arrays that the mapping is not the legacy one",
    (
        "avro-confluent",
        "a VARBINARY(4) NOT NULL",
    ): "Flink reads a type 'fixed' that is given, and cannot write it",
}
"""By format and columns: why the answer is another one here."""


def differs(question: dict[str, Any]) -> bool:
    return question["ask"] == "encode" and (question["format"], question["columns"]) in DIFFERENT


def named(question: dict[str, Any]) -> str:
    options = ",".join(f"{key}={value[:20]}" for key, value in question["options"].items())
    return f"{question['ask']}-{question['format']}-{question['columns'][:40]}-{options}"


@pytest.fixture(scope="module")
def registry() -> Iterator[tuple[SchemaRegistry, str]]:
    known = SchemaRegistry()
    for question in ANSWERS:
        for number, schema in question.get("schemas", {}).items():
            known.keep(int(number), schema)
    with known.serving() as url:
        yield known, url


def options_of(question: dict[str, Any], url: str) -> dict[str, str]:
    """The options here: a class of Java is a definition in a file."""
    found = {key: value.replace(REGISTRY, url) for key, value in question["options"].items()}
    name = found.pop("message-class-name", None)
    if name is not None:
        found |= {"descriptor-file": str(HERE / "shop.desc"), "message-name": DESCRIPTORS[name]}
    return found


@pytest.mark.parametrize("question", [one for one in ANSWERS if one["ask"] == "decode"], ids=named)
def test_messages_are_read_as_flink_reads_them(
    question: dict[str, Any], registry: tuple[SchemaRegistry, str]
) -> None:
    form, columns, names = question["format"], question["columns"], question.get("metadata", [])
    options = options_of(question, registry[1])
    if "refused" in question:
        with pytest.raises(FiresteelError):
            decoder(form, columns, names, **options)
        return
    reader = decoder(form, columns, names, **options)
    metadata = {name: MESSAGE_FORMATS[form].metadata[name] for name in names}
    given = [None if text is None else bytes.fromhex(text) for text in question["messages"]]
    expected = [BAD if isinstance(answer, dict) else answer for answer in question["answer"]]
    found: list[Any] = []
    for message in given:
        decoded = reader.decode(messages([message]))
        found.append(BAD if isinstance(decoded, BadMessage) else shown(decoded, columns, metadata))
    wrong = [
        (text, mine, theirs)
        for text, mine, theirs in zip(question["messages"], found, expected, strict=True)
        if mine != theirs
    ]
    assert not wrong
    good = [message for message, mine in zip(given, found, strict=True) if mine != BAD]
    together = reader.decode(messages(good))
    assert not isinstance(together, BadMessage)
    assert shown(together, columns, metadata) == [row for mine in found if mine != BAD for row in mine]
    counts = [len(mine) for mine in found if mine != BAD]
    assert together.places().tolist() == [place for place, count in enumerate(counts) for _ in range(count)]
    if BAD in found:
        decoded = reader.decode(messages(given))
        assert isinstance(decoded, BadMessage)
        assert (decoded.index, decoded.message) == (found.index(BAD), given[found.index(BAD)])


@pytest.mark.parametrize("question", [one for one in ANSWERS if one["ask"] == "encode"], ids=named)
def test_rows_are_written_as_flink_writes_them(
    question: dict[str, Any], registry: tuple[SchemaRegistry, str]
) -> None:
    form, columns = question["format"], question["columns"]
    options = options_of(question, registry[1])
    if "refused" in question:
        if differs(question) and options.get("timestamp_mapping.legacy") == "false":
            return
        with pytest.raises(FiresteelError):
            encoder(form, columns, **options)
        return
    writer = encoder(form, columns, **options)
    wrong = []
    for (kind, row), answer in zip(question["rows"], question["answer"], strict=True):
        try:
            kinds = None if kind == "+I" else np.array([KINDS[kind].value], np.int8)
            found: Any = writer.encode(rows_of(columns, [row]), kinds).to_pylist()[0]
            found = None if found is None else found.hex()
        except FiresteelError:
            found = BAD
        expected = BAD if isinstance(answer, dict) else answer
        if without_id(form, found) != without_id(form, expected) and not differs(question):
            wrong.append((row, found, expected))
    assert not wrong
    for text in question.get("registered", []):
        mine = [schema for _, schema, _ in registry[0]._schemas.values()]
        assert json.loads(text) in map(json.loads, mine)


def without_id(form: str, message: str | None) -> str | None:
    """A message without the id of its schema."""
    confluent = form.endswith("confluent") and message not in (None, BAD)
    return message[10:] if confluent and message is not None else message
