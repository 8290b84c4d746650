"""Properties of Java's clients become those of the C library, or errors."""

from __future__ import annotations

import pytest

from firesteel.common.errors import ConfigurationError, ConnectorError
from firesteel.connectors.kafka.settings import checked_properties, client_settings, new_client

_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"bootstrap.servers": "a:9092"}, {"bootstrap.servers": "a:9092"}),
        ({"fetch.max.wait.ms": 100}, {"fetch.wait.max.ms": "100"}),
        ({"enable.auto.commit": False}, {"enable.auto.commit": "false"}),
        ({"buffer.memory": 4096}, {"queue.buffering.max.kbytes": "4"}),
        ({"request.timeout.ms": "5000"}, {"request.timeout.ms": "5000", "socket.timeout.ms": "5000"}),
        ({"ssl.endpoint.identification.algorithm": ""}, {"ssl.endpoint.identification.algorithm": "none"}),
        ({"value.deserializer": "a.b.C", "max.poll.records": 5}, {}),
        (
            {"sasl.jaas.config": f'{_PLAIN} required username="me" password="${{SECRET}}";'},
            {"sasl.username": "me", "sasl.password": "${SECRET}"},
        ),
        (
            {"ssl.truststore.type": "PEM", "ssl.truststore.location": "/ca.pem"},
            {"ssl.ca.location": "/ca.pem"},
        ),
        (
            {"ssl.keystore.type": "PKCS12", "ssl.keystore.location": "/me.p12"},
            {"ssl.keystore.location": "/me.p12"},
        ),
        (
            {"ssl.keystore.type": "PEM", "ssl.keystore.location": "/me.pem"},
            {"ssl.certificate.location": "/me.pem", "ssl.key.location": "/me.pem"},
        ),
    ],
)
def test_properties_are_translated(given: dict[str, object], expected: dict[str, str]) -> None:
    assert dict(checked_properties(given, "source")) == expected


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"interceptor.classes": "a.B"}, "cannot have the property 'interceptor.classes'"),
        ({"sasl.password": "open"}, "requires a reference to a secret"),
        ({"sasl.jaas.config": "${WHOLE}"}, "requires PlainLoginModule or ScramLoginModule"),
        (
            {"sasl.jaas.config": f'{_PLAIN} required username="${{USER}}" password="open";'},
            "requires a reference to a secret",
        ),
        (
            {"sasl.jaas.config": 'a.Krb5LoginModule required keyTab="${FILE}";'},
            "got the module Krb5LoginModule",
        ),
        ({"ssl.truststore.location": "/a.jks"}, "got the type JKS"),
    ],
)
def test_what_only_java_can_follow_is_refused(given: dict[str, object], error: str) -> None:
    with pytest.raises(ConfigurationError, match=error):
        checked_properties(given, "source")


def test_secrets_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    properties = checked_properties({"sasl.username": "me", "sasl.password": "${SECRET}"}, "source")
    monkeypatch.delenv("SECRET", raising=False)
    with pytest.raises(ConnectorError, match="source requires the environment variable SECRET"):
        client_settings(properties, "source")
    monkeypatch.setenv("SECRET", "open")
    assert client_settings(properties, "source")["sasl.password"] == "open"


def test_a_property_that_nobody_knows_is_named() -> None:
    from confluent_kafka import Consumer

    properties = checked_properties({"group.id": "g", "fetch.min.bites": "1"}, "source")
    with pytest.raises(ConfigurationError, match=r'source requires .* got .*"fetch.min.bites"'):
        new_client(Consumer, client_settings(properties), "source")
