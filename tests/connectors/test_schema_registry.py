"""The client of schema registries: against a stand-in of the interface, with faults of servers and networks."""

from __future__ import annotations

import base64
import datetime as dt
import json
import pickle
from collections.abc import Iterator
from decimal import Decimal

import pytest

from firesteel.common.errors import ConfigurationError, ConnectorError, UnsupportedError
from firesteel.connectors.schema_registry.client import (
    RegistryClient,
    UnknownSchemaError,
    registered_id,
    registered_schema,
)
from firesteel.connectors.schema_registry.settings import RegistrySettings
from firesteel.connectors.tables.messages.message_format import BadMessage, Decoded
from harness.faulty_proxy import FaultyProxy
from harness.registry import SchemaRegistry
from tests.connectors.messages import decoder, encoder, messages, read, rows_of, written

COLUMNS = "id BIGINT NOT NULL, name STRING"
ROWS = ['{"id": 1, "name": "x"}', '{"id": 2}']


class Clock:
    """Time that passes only while somebody waits."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


@pytest.fixture
def registry() -> SchemaRegistry:
    return SchemaRegistry()


@pytest.fixture
def url(registry: SchemaRegistry) -> Iterator[str]:
    with registry.serving() as address:
        yield address


@pytest.fixture
def proxy(url: str) -> Iterator[FaultyProxy]:
    with FaultyProxy(url).serving() as serving:
        yield serving


def client(url: str, clock: Clock, **settings: int) -> RegistryClient:
    return RegistryClient(RegistrySettings((url,), **settings), lambda: clock.now, clock.pause)


def ids(registry: SchemaRegistry) -> list[str]:
    return [path for _, path in registry.asked if path.startswith("/schemas/ids/")]


def test_what_is_written_has_the_id_of_its_schema_and_is_read_back(
    registry: SchemaRegistry, url: str
) -> None:
    found = written("avro-confluent", COLUMNS, ROWS, url=url, subject="orders-value")
    assert [message[:5] for message in found if message] == [b"\x00\x00\x00\x00\x01"] * 2
    assert read("avro-confluent", COLUMNS, found, url=url) == [(1, "x"), (2, None)]


def test_an_id_is_asked_for_once_in_a_process(registry: SchemaRegistry, url: str) -> None:
    found = written("avro-confluent", COLUMNS, ROWS, url=url, subject="orders-value")
    for _ in range(3):
        copy = pickle.loads(pickle.dumps(decoder("avro-confluent", COLUMNS, url=url)))
        assert isinstance(copy.decode(messages(found)), Decoded)
    assert ids(registry) == ["/schemas/ids/1"]
    encoding = encoder("avro-confluent", COLUMNS, url=url, subject="orders-value")
    for _ in range(3):
        encoding.encode(rows_of(COLUMNS, ROWS))
    assert registry.asked.count(("POST", "/subjects/orders-value/versions")) == 1


def test_nothing_is_asked_when_a_job_is_planned(registry: SchemaRegistry, url: str) -> None:
    decoder("avro-confluent", COLUMNS, url=url)
    encoder("avro-confluent", COLUMNS, url=url, subject="s")
    assert registry.asked == []


def test_a_schema_evolves_message_by_message(registry: SchemaRegistry, url: str) -> None:
    old = written(
        "avro-confluent", "id INT NOT NULL, gone STRING", ['{"id": 1, "gone": "g"}'], url=url, subject="s"
    )
    new = written("avro-confluent", COLUMNS, ['{"id": 2, "name": "x"}'], url=url, subject="s")
    mixed = [new[0], old[0], None, old[0], new[0]]
    found = decoder("avro-confluent", COLUMNS, url=url).decode(messages(mixed))
    assert isinstance(found, Decoded)
    assert [tuple(row.values()) for row in found.rows.to_pylist()] == [
        (2, "x"),
        (1, None),
        (1, None),
        (2, "x"),
    ]
    assert found.places().tolist() == [0, 1, 3, 4]


def test_fields_that_a_writer_did_not_know_have_defaults_of_every_kind(
    registry: SchemaRegistry, url: str
) -> None:
    registry.keep(7, '{"type": "record", "name": "r", "fields": []}')
    inner = {"type": "record", "name": "In", "fields": [{"name": "x", "type": "int", "default": 3}]}
    at = {"type": "long", "logicalType": "timestamp-millis"}
    price = {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}
    kinds = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
    defaults: list[tuple[str, object, object]] = [
        ("a", {"type": "array", "items": "int"}, [1, 2]),
        ("m", {"type": "map", "values": ["null", "string"]}, {"k": None}),
        ("r", inner, {}),
        ("y", "bytes", "\u00ff"),
        ("p", price, "\u00ff"),
        ("e", kinds, "B"),
        ("t", at, 1500),
        ("b", "boolean", True),
    ]
    fields = [{"name": name, "type": kind, "default": default} for name, kind, default in defaults]
    columns = (
        "a ARRAY<INT NOT NULL> NOT NULL, m MAP<STRING NOT NULL, STRING> NOT NULL, r ROW<x INT NOT NULL> NOT NULL, "
        "y BYTES NOT NULL, p DECIMAL(6, 2) NOT NULL, e STRING NOT NULL, t TIMESTAMP(3) NOT NULL, b BOOLEAN NOT NULL"
    )
    schema = json.dumps({"type": "record", "name": "r", "fields": fields})
    found = read("avro-confluent", columns, [b"\x00\x00\x00\x00\x07"] * 2, url=url, schema=schema)
    at_1500 = dt.datetime(1970, 1, 1, 0, 0, 1, 500000)
    expected = ([1, 2], [("k", None)], {"x": 3}, b"\xff", Decimal("-0.01"), "B", at_1500, True)
    assert found == [expected, expected]


def test_the_first_bad_message_of_several_schemas_is_named(registry: SchemaRegistry, url: str) -> None:
    good = written("avro-confluent", COLUMNS, ROWS, url=url, subject="s")
    assert good[0] is not None
    registry.keep(7, '{"type": "record", "name": "r", "fields": []}')
    unknown, unfit = b"\x00\x00\x00\x00\x63\x02", b"\x00\x00\x00\x00\x07"
    for bad, why in ((unknown, "schema 99 is unknown"), (unfit, "has no field 'id'"), (b"{", "no 5 bytes")):
        found = decoder("avro-confluent", COLUMNS, url=url).decode(
            messages([good[0], None, bad, unknown, good[0][:-1]])
        )
        assert isinstance(found, BadMessage)
        assert found.index == 2
        assert why in found.why
    error = found.error("the message at offset 3 of 'orders' [0]")
    assert "offset 3 of 'orders'" in str(error)


def test_a_registry_that_fails_is_asked_again(registry: SchemaRegistry, proxy: FaultyProxy) -> None:
    number = registry.register("s", '"int"')
    clock = Clock()
    proxy.refuse(2, 503)
    proxy.drop(1)
    proxy.cut(1)
    proxy.refuse(1, 429)
    found = client(proxy.url, clock).get(f"/schemas/ids/{number}")
    assert found == {"schema": '"int"'}
    assert clock.pauses == [0.1, 0.2, 0.4, 0.8, 1.6]


def test_a_registry_that_stays_away_is_named(proxy: FaultyProxy) -> None:
    clock = Clock()
    proxy.refuse(1 << 20, 503, body=b"no leader")
    with pytest.raises(ConnectorError, match="within 30 seconds to /schemas/ids/1") as error:
        client(proxy.url, clock, patience_ms=30_000).get("/schemas/ids/1")
    assert proxy.url in str(error.value)
    assert "no leader" in str(error.value)
    assert 20 < clock.now <= 30
    assert max(clock.pauses) == 5.0


def test_a_registry_that_does_not_answer_is_asked_again(registry: SchemaRegistry, proxy: FaultyProxy) -> None:
    number = registry.register("s", '"int"')
    proxy.hang()
    clock = Clock()
    clock_pause = clock.pause

    def pause(seconds: float) -> None:
        proxy.resume()
        clock_pause(seconds)

    settings = RegistrySettings((proxy.url,), timeout_ms=200)
    found = RegistryClient(settings, lambda: clock.now, pause).get(f"/schemas/ids/{number}")
    assert found == {"schema": '"int"'}


def test_another_address_answers_at_once(registry: SchemaRegistry, url: str, proxy: FaultyProxy) -> None:
    number = registry.register("s", '"int"')
    proxy.refuse(1 << 20, 503)
    clock = Clock()
    settings = RegistrySettings((proxy.url, url))
    assert RegistryClient(settings, lambda: clock.now, clock.pause).get(f"/schemas/ids/{number}")
    assert clock.pauses == []


def test_a_registry_that_is_away_fails_a_batch_with_its_name() -> None:
    reading = decoder("avro-confluent", COLUMNS, url="http://127.0.0.1:1", **{"retry-timeout": "1 ms"})
    with pytest.raises(ConnectorError, match=r"the schema registry http://127\.0\.0\.1:1"):
        reading.decode(messages([b"\x00\x00\x00\x00\x01\x02\x00"]))


def test_a_schema_that_is_refused_is_an_error_at_once(registry: SchemaRegistry, url: str) -> None:
    registry.incompatible.add("s")
    with pytest.raises(ConnectorError, match="incompatible with an earlier schema"):
        written("avro-confluent", COLUMNS, ROWS, url=url, subject="s")
    assert len(registry.asked) == 1


def test_schemas_need_not_be_registered_by_the_job(registry: SchemaRegistry, url: str) -> None:
    options = {"url": url, "subject": "s", "properties.auto.register.schemas": "false"}
    with pytest.raises(UnknownSchemaError, match="Subject 's' not found"):
        written("avro-confluent", COLUMNS, ROWS, **options)
    written("avro-confluent", COLUMNS, ROWS, url=url, subject="s")
    found = written("avro-confluent", COLUMNS, ROWS, **options)
    assert found[0] is not None
    assert found[0][:5] == b"\x00\x00\x00\x00\x01"


def test_a_schema_may_refer_to_others(registry: SchemaRegistry, url: str) -> None:
    inner = '{"type": "record", "name": "In", "fields": [{"name": "x", "type": "int"}]}'
    outer = '{"type": "record", "name": "Out", "fields": [{"name": "in", "type": "In"}]}'
    registry.register("inner", inner)
    number = registry.register("outer", outer, references=[{"name": "In", "subject": "inner", "version": 1}])
    message = b"\x00" + number.to_bytes(4, "big") + b"\x54"
    assert read("avro-confluent", "`in` ROW<x INT>", [message], url=url) == [({"x": 42},)]


def test_a_schema_of_another_kind_is_bad(registry: SchemaRegistry, url: str) -> None:
    number = registry.register("s", '{"type": "object"}', "JSON")
    found = read("avro-confluent", COLUMNS, [b"\x00" + number.to_bytes(4, "big")], url=url)
    assert isinstance(found, BadMessage)
    assert "one of JSON" in found.why


def test_a_login_comes_from_the_environment(
    registry: SchemaRegistry, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.login = f"Basic {base64.b64encode(b'me:secret').decode()}"
    registry.keep(1, json.dumps("int"))
    with pytest.raises(ConnectorError, match="status 401"):
        registered_schema(RegistrySettings((url,)), 1)
    settings = RegistrySettings((url,), user_info="me:${REGISTRY_PASSWORD}")
    with pytest.raises(ConnectorError, match="environment variable REGISTRY_PASSWORD"):
        registered_schema(settings, 1)
    monkeypatch.setenv("REGISTRY_PASSWORD", "secret")
    assert registered_schema(settings, 1).text == '"int"'
    registry.login = "Bearer abc"
    monkeypatch.setenv("TOKEN", "abc")
    assert registered_id(RegistrySettings((url,), token="${TOKEN}"), "s", '"int"') == 1


def test_passwords_are_not_written_out() -> None:
    options = {"url": "http://r", "basic-auth.credentials-source": "USER_INFO"}
    with pytest.raises(ConfigurationError, match="password or token that is not written out"):
        decoder("avro-confluent", COLUMNS, **options, **{"basic-auth.user-info": "me:secret"})
    decoder("avro-confluent", COLUMNS, **options, **{"properties.basic.auth.user.info": "me:${PW}"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "requires the option 'avro-confluent.url'"),
        ({"url": "http://r", "bearer-auth.credentials-source": "OAUTHBEARER"}, "STATIC_TOKEN is"),
        ({"url": "http://r", "properties.use.latest.version": "true"}, "use.latest.version"),
        ({"url": "http://r", "ssl.truststore.location": "trust.jks"}, "stores of Java"),
        ({"url": "http://r", "schema": '{"type": "int"}'}, "schema of records"),
        ({"url": "http://r", "auto.register.schema": "true"}, "options that 'test' has"),
    ],
)
def test_options_that_are_wrong(options: dict[str, str], message: str) -> None:
    with pytest.raises((ConfigurationError, UnsupportedError), match=message):
        decoder("avro-confluent", COLUMNS, **options)


def test_a_table_that_is_written_needs_a_subject() -> None:
    with pytest.raises(ConfigurationError, match=r"'avro-confluent\.subject'"):
        encoder("avro-confluent", COLUMNS, url="http://r")
