"""Messages in Confluent's wire format, and a registry's options."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from firesteel.common.errors import ConfigurationError, UnsupportedError
from firesteel.connectors.schema_registry.client import registered_id
from firesteel.connectors.schema_registry.settings import PATIENCE_MS, RegistrySettings
from firesteel.connectors.schema_registry.wire_format import HEADER, MAGIC, header_of
from firesteel.connectors.tables.formats.avro.lanes import Lanes
from firesteel.connectors.tables.messages.message_format import BadMessage
from firesteel.connectors.tables.options import Listed, Option, Options, duration, text, truth

_LONGER: Final = "schema-registry."
"""Before the names of some options once."""


class RegistryOptions:
    """The options of a schema registry, after the name of the format."""

    def __init__(self, form: str) -> None:
        self._form = form
        self.url = text(f"{form}.url", "Its address, or several with commas between them.").needed()
        self.subject = text(
            f"{form}.subject",
            "Under which a table that is written registers its schema. Without it, the topic in Kafka with `-key` or "
            "`-value`.",
        )
        self.schema = text(
            f"{form}.schema",
            "The schema, instead of the one that the table's columns have; it must have these columns.",
        )
        self.register = truth(
            f"{form}.auto.register.schemas", "Whether a schema that is not there yet is registered."
        ).by_default("true")
        self.user_source = text(
            f"{form}.basic-auth.credentials-source", "Where name and password are.", "USER_INFO"
        )
        self.user = text(
            f"{form}.basic-auth.user-info",
            "Name and password: `me:${REGISTRY_PASSWORD}`.",
            "name:${VARIABLE}",
        )
        self.token_source = text(
            f"{form}.bearer-auth.credentials-source", "Where a token is.", "STATIC_TOKEN"
        )
        self.token = text(f"{form}.bearer-auth.token", "The token: `${REGISTRY_TOKEN}`.", "${VARIABLE}")
        self.authorities = text(
            f"{form}.ssl.truststore.location",
            "The certificates to trust. Java's stores are refused.",
            "a PEM file",
        )
        self.authorities_password = text(
            f"{form}.ssl.truststore.password", "Changes nothing: PEM files of certificates have none."
        )
        self.certificate = text(
            f"{form}.ssl.keystore.location", "The client's certificate and key.", "a PEM file"
        )
        self.certificate_password = text(
            f"{form}.ssl.keystore.password", "The password of the key: `${KEY_PASSWORD}`.", "${VARIABLE}"
        )
        self.patience = duration(
            f"{form}.retry-timeout",
            "How long a registry that is away is asked again. Flink does not have it.",
        ).by_default(f"{PATIENCE_MS} ms")
        self.properties = text(
            f"{form}.properties.*",
            f"The same by the names of Confluent's client: {', '.join(f'`{name}`' for name in self.by_property)}. "
            "Others are refused.",
        )

    @property
    def by_property(self) -> dict[str, Option[str] | Option[bool]]:
        """By the name of a property of Confluent's client, the option for the same."""
        return {
            "basic.auth.credentials.source": self.user_source,
            "basic.auth.user.info": self.user,
            "bearer.auth.credentials.source": self.token_source,
            "bearer.auth.token": self.token,
            "schema.registry.ssl.keystore.location": self.certificate,
            "schema.registry.ssl.keystore.password": self.certificate_password,
            "schema.registry.ssl.truststore.location": self.authorities,
            "schema.registry.ssl.truststore.password": self.authorities_password,
            "auto.register.schemas": self.register,
        }

    @property
    def all(self) -> Listed:
        """All of them."""
        logins = (self.user_source, self.user, self.token_source, self.token)
        files = (self.authorities, self.authorities_password, self.certificate, self.certificate_password)
        return (
            *(self.url, self.subject, self.schema, self.register, *logins, *files),
            *(self.patience, self.properties),
        )

    def given(self, options: Options) -> Options:
        """Return the options of a table, with those that are given as properties, and by older names.

        Raises UnsupportedError for another property.
        """
        found: dict[str, str] = {}
        for name, value in options.under(f"{self._form}.properties.").items():
            if name not in self.by_property:
                raise UnsupportedError(
                    "is not supported",
                    who=f"option '{options.full(self._form)}.properties.{name}'",
                    hint=f"there are {', '.join(sorted(self.by_property))}",
                )
            found[self.by_property[name].key] = value
        for option in (self.url, self.subject, self.schema):
            older = option.key.replace(f"{self._form}.", f"{self._form}.{_LONGER}", 1)
            given = options.get(text(older))
            if given is not None:
                found[option.key] = given
        return options.otherwise(found)


@dataclass(frozen=True)
class Registry:
    """A registry, the subject of a table, the schema that the table gives, and whether schemas may be registered."""

    settings: RegistrySettings
    subject: str | None
    schema: str | None
    register: bool

    def header(self, schema: str, kind: str) -> bytes:
        """Return what is before data with a schema, which is registered if need be.

        Raises ConnectorError as `registered_id` does.
        """
        assert self.subject is not None
        number = registered_id(self.settings, self.subject, schema, kind, register=self.register)
        return header_of(number)


def registry(options: Options, form: str, subject: str | None) -> Registry:
    """Return the registry of the options of a format. Raises ConfigurationError for those that are wrong."""
    known = RegistryOptions(form)
    given = known.given(options)
    for source, name in ((known.user_source, "USER_INFO"), (known.token_source, "STATIC_TOKEN")):
        _require_source(given, source, name)
    settings = RegistrySettings(
        tuple(url.strip() for url in given.get(known.url).split(",")),
        user_info=given.get(known.user),
        token=given.get(known.token),
        authorities=_pem(given, known.authorities),
        certificate=_pem(given, known.certificate),
        certificate_password=given.get(known.certificate_password),
        patience_ms=given.get(known.patience),
    )
    options.know((known.authorities_password,))
    return Registry(
        settings,
        given.get(known.subject) or subject,
        given.get(known.schema),
        given.get(known.register),
    )


def _require_source(options: Options, option: Option[str], source: str) -> None:
    named = options.get(option)
    if named is not None and named != source:
        raise UnsupportedError(
            "is not supported", who=f"option '{options.full(option.key)}' = '{named}'", hint=f"{source} is"
        )


def _pem(options: Options, option: Option[str]) -> str | None:
    path = options.get(option)
    if path is not None and PurePath(path).suffix.lower() in (".jks", ".p12", ".pfx"):
        raise UnsupportedError(
            "is not supported: stores of Java cannot be read",
            who=f"option '{options.full(option.key)}' = '{path}'",
            hint="give a PEM file: keytool and openssl convert them",
        )
    return path


def require_subject(found: Registry, options: Options, form: str) -> None:
    """Raise ConfigurationError if a table that is written has no subject."""
    if found.subject is None:
        raise ConfigurationError(
            f"requires the option '{options.full(form)}.subject' to write", who=f"the format {form!r}"
        )


def schema_ids(messages: pa.Array) -> npt.NDArray[np.int64] | BadMessage:
    """Return the ids of the schemas of messages, none of them NULL; or the first message that does not begin so.

    >>> schema_ids(pa.array([bytes([0, 0, 0, 1, 2, 9])])).tolist()
    [258]
    >>> schema_ids(pa.array([b"{}   "])).why
    'it begins with 123, and not with 0'
    """
    lanes = Lanes.of(messages)
    short = lanes.end - lanes.pos < HEADER
    if not short.any():
        first = lanes.bytes()
        if not first.any():
            return np.asarray(lanes.words(">u4").astype(np.int64))
        index = int(np.argmax(first != MAGIC))
        return BadMessage(index, messages[index].as_py(), f"it begins with {first[index]}, and not with 0")
    index = int(np.argmax(short))
    before = schema_ids(messages[:index]) if index else None
    if isinstance(before, BadMessage):
        return before
    return BadMessage(index, messages[index].as_py(), f"it has no {HEADER} bytes")
