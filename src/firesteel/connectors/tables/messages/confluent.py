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
from firesteel.connectors.tables.options import Options, duration, text, truth

_PROPERTIES: Final = {
    "basic.auth.credentials.source": "basic-auth.credentials-source",
    "basic.auth.user.info": "basic-auth.user-info",
    "bearer.auth.credentials.source": "bearer-auth.credentials-source",
    "bearer.auth.token": "bearer-auth.token",
    "schema.registry.ssl.keystore.location": "ssl.keystore.location",
    "schema.registry.ssl.keystore.password": "ssl.keystore.password",
    "schema.registry.ssl.truststore.location": "ssl.truststore.location",
    "schema.registry.ssl.truststore.password": "ssl.truststore.password",
    "auto.register.schemas": "auto.register.schemas",
}
"""By the name of a property of Confluent's client, the option for the same."""


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
    given = {key: options.get(text(f"{form}.{key}")) for key in _PROPERTIES.values()}
    for name, value in options.under(f"{form}.properties.").items():
        if name not in _PROPERTIES:
            raise UnsupportedError(
                "is not supported",
                who=f"option '{options.full(form)}.properties.{name}'",
                hint=f"there are {', '.join(sorted(_PROPERTIES))}",
            )
        if given[_PROPERTIES[name]] is None:
            given[_PROPERTIES[name]] = value
    urls = _with_fallback(options, form, "url")
    if urls is None:
        options.required(text(f"{form}.url"))
    assert urls is not None
    settings = RegistrySettings(
        tuple(url.strip() for url in urls.split(",")),
        user_info=_login(options, form, given, "basic-auth", "user-info", "USER_INFO"),
        token=_login(options, form, given, "bearer-auth", "token", "STATIC_TOKEN"),
        authorities=_pem(options, form, given["ssl.truststore.location"], "ssl.truststore.location"),
        certificate=_pem(options, form, given["ssl.keystore.location"], "ssl.keystore.location"),
        certificate_password=given["ssl.keystore.password"],
        patience_ms=options.get(duration(f"{form}.retry-timeout"), PATIENCE_MS),
    )
    automatic = given["auto.register.schemas"]
    return Registry(
        settings,
        _with_fallback(options, form, "subject") or subject,
        _with_fallback(options, form, "schema"),
        automatic is None or truth("").read(automatic),
    )


def _with_fallback(options: Options, form: str, key: str) -> str | None:
    """Return an option, which had a longer name once."""
    return options.get(text(f"{form}.{key}")) or options.get(text(f"{form}.schema-registry.{key}"))


def _login(
    options: Options, form: str, given: dict[str, str | None], way: str, secret: str, source: str
) -> str | None:
    named = given[f"{way}.credentials-source"]
    if named is not None and named != source:
        raise UnsupportedError(
            "is not supported",
            who=f"option '{options.full(form)}.{way}.credentials-source' = '{named}'",
            hint=f"{source} is",
        )
    return given[f"{way}.{secret}"]


def _pem(options: Options, form: str, path: str | None, key: str) -> str | None:
    if path is not None and PurePath(path).suffix.lower() in (".jks", ".p12", ".pfx"):
        raise UnsupportedError(
            "is not supported: stores of Java cannot be read",
            who=f"option '{options.full(form)}.{key}' = '{path}'",
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
