"""The properties of Kafka's Java clients, as users of Flink write them, for the C library that is used here.

`checked_properties` translates them once, when a program is built; what it returns may be stored: it refers to secrets,
and has none. `client_settings` makes a client's settings of that, in the process that connects.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, NoReturn, TypeVar

from firesteel.common.errors import ConfigurationError
from firesteel.connectors.references import REFERENCE, expanded

Properties = tuple[tuple[str, str], ...]
"""Properties with the C library's names, in the order of the names."""

T = TypeVar("T")


class Property(NamedTuple):
    """A property that the source or the sink itself follows: its name, its values, what it means, and its default."""

    key: str
    what: str
    about: str
    default: str = ""

    @property
    def milliseconds(self) -> int:
        """The default of a time."""
        return int(self.default)


_RENAMED: Final = {
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "max.request.size": "message.max.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "sasl.mechanism": "sasl.mechanisms",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "socket.connection.setup.timeout.max.ms": "socket.connection.setup.timeout.ms",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "ssl.truststore.certificates": "ssl.ca.pem",
}
"""Java's name, and the C library's for the same thing."""

_WITHOUT_EFFECT: Final = frozenset(
    {
        "key.deserializer",
        "value.deserializer",
        "key.serializer",
        "value.serializer",
        # The C library has no such limits, or none of its own.
        "auto.include.jmx.reporter",
        "exclude.internal.topics",
        "max.block.ms",
        "max.poll.records",
        "metric.reporters",
        "metrics.num.samples",
        "metrics.recording.level",
        "metrics.sample.window.ms",
    }
)
"""Properties of Java's clients that Flink itself sets, or that change nothing here."""

_NOT_HERE: Final = {
    "interceptor.classes": "interceptors are classes of Java",
    "partition.assignment.strategy": "the job itself distributes partitions",
    "partitioner.class": "it is a class of Java; the sink takes a partitioner written in Python",
    "sasl.client.callback.handler.class": "it is a class of Java",
    "sasl.login.callback.handler.class": "it is a class of Java; see 'sasl.oauthbearer.method' of librdkafka",
    "sasl.login.class": "it is a class of Java",
    "security.providers": "they are classes of Java",
    "ssl.engine.factory.class": "it is a class of Java",
    "ssl.keymanager.algorithm": "it is a setting of Java",
    "ssl.trustmanager.algorithm": "it is a setting of Java",
    "ssl.provider": "it is a setting of Java",
    "ssl.truststore.password": "certificates in PEM need none",
}

_SECRET: Final = re.compile(r"password|secret|\.key$|key\.pem$|private\.key|jaas\.config$")
_JAAS: Final = re.compile(
    r"\s*(?:[\w.]+\.)?(?P<module>\w+)\s+(?:required|requisite|sufficient|optional)(?P<options>[^;]*);?\s*"
)
_JAAS_OPTION: Final = re.compile(r"""(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+))""")
_JAAS_PASSWORDS: Final = ("PlainLoginModule", "ScramLoginModule")

_LIKE_JAVA: Final[Mapping[str, Any]] = {"reconnect.backoff.max.ms": "1000"}
"""Where the C library's default is another one than that of Java's client: it may wait for ten seconds."""

_QUIET: Final[Mapping[str, Any]] = {"log_level": 0}
"""The C library prints to standard error; what it has to say is in the errors of the connectors."""


def require_client(who: str) -> None:
    """Raise ConfigurationError, with the command to run, if the client is not installed."""
    if importlib.util.find_spec("confluent_kafka") is None:
        raise ConfigurationError(
            "requires a client of Kafka, which is not installed",
            who=who,
            hint='pip install "firesteel[kafka]"',
        )


def checked_properties(given: Mapping[str, object], who: str) -> Properties:
    """Return the properties in the form that is stored, with the names of the C library, librdkafka.

    Names of librdkafka itself are taken, too. Raises ConfigurationError for a property that only Java's client can
    follow, and for a secret in plain text: refer to an environment variable of the driver and the workers instead.

    >>> checked_properties({"sasl.mechanism": "PLAIN", "fetch.max.wait.ms": 100}, "KafkaSource")
    (('fetch.wait.max.ms', '100'), ('sasl.mechanisms', 'PLAIN'))
    >>> checked_properties({"ssl.key.password": "abc"}, "KafkaSource")
    Traceback (most recent call last):
    ...
    firesteel.common.errors.ConfigurationError: KafkaSource requires a reference to a secret as the property
      'ssl.key.password', because properties are written to the state directory; got a text without one
      hint: refer to an environment variable of the driver and the workers, as ${KAFKA_PASSWORD}
    """
    require_client(who)
    found: dict[str, str] = {}
    for name, value in given.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        _check_secret(name, text, who)
        if name in _NOT_HERE:
            raise ConfigurationError(
                f"cannot have the property {name!r}", who=who, got=repr(text), hint=_NOT_HERE[name]
            )
        found.update(_translated(name, text, given, who))
    return tuple(sorted(found.items()))


def client_settings(properties: Iterable[tuple[str, str]], who: str = "Kafka") -> dict[str, Any]:
    """Return a client's settings, with the secrets. Raises ConnectorError for a variable that is not set."""
    return {**_LIKE_JAVA, **{name: expanded(value, who) for name, value in properties}, **_QUIET}


def new_client(kind: Callable[[dict[str, Any]], T], settings: dict[str, Any], who: str) -> T:
    """Return a client with these settings. Raises ConfigurationError for one that the C library does not take."""
    from confluent_kafka import KafkaException

    try:
        return kind(settings)
    except KafkaException as error:
        reason = error.args[0]
        raise ConfigurationError(
            "requires properties that Kafka's C library takes",
            who=who,
            got=reason.str(),
            hint="they are listed in librdkafka's CONFIGURATION.md",
        ) from None


def _translated(name: str, text: str, given: Mapping[str, object], who: str) -> dict[str, str]:
    if name in _WITHOUT_EFFECT:
        return {}
    if name == "sasl.jaas.config":
        return _login(text, who)
    if name == "buffer.memory":
        return {"queue.buffering.max.kbytes": str(max(1, int(text) // 1024))}
    if name == "request.timeout.ms":
        return {name: text, "socket.timeout.ms": text}
    if name == "ssl.endpoint.identification.algorithm":
        return {name: text or "none"}
    if name.startswith(("ssl.truststore.", "ssl.keystore.")) and name not in _RENAMED:
        return _store(name, text, given, who)
    return {_RENAMED.get(name, name): text}


def _store(name: str, text: str, given: Mapping[str, object], who: str) -> dict[str, str]:
    """Translate the files of certificates: PEM, and PKCS12 for the client's own."""
    kind = name.split(".")[1]
    form = str(given.get(f"ssl.{kind}.type", "JKS")).upper()
    if name.endswith(".type"):
        return {}
    if kind == "truststore" and form == "PEM":
        return {"ssl.ca.location": text}
    if kind == "keystore" and form == "PKCS12":
        return {name: text}
    if kind == "keystore" and form == "PEM" and name.endswith(".location"):
        return {"ssl.certificate.location": text, "ssl.key.location": text}
    raise ConfigurationError(
        f"requires certificates in PEM as the property {name!r}",
        who=who,
        got=f"the type {form}",
        hint="a keystore may be of the type PKCS12, too; 'ssl.ca.location' of librdkafka names a file of PEM",
    )


def _login(config: str, who: str) -> dict[str, str]:
    """Translate the login of JAAS: the user and the password that PLAIN and SCRAM need."""
    found = _JAAS.fullmatch(config)
    if found is None:
        _refuse_login("a text of another form", who)
    if found["module"] not in _JAAS_PASSWORDS:
        _refuse_login(f"the module {found['module']}", who)
    options = {one[1]: one[2] or one[3] or one[4] or "" for one in _JAAS_OPTION.finditer(found["options"])}
    if not {"username", "password"} <= options.keys():
        _refuse_login("a login without username and password", who)
    if not REFERENCE.search(options["password"]):
        _refuse_secret("sasl.jaas.config", who)
    return {"sasl.username": options["username"], "sasl.password": options["password"]}


def _refuse_login(got: str, who: str) -> NoReturn:
    raise ConfigurationError(
        "requires PlainLoginModule or ScramLoginModule with a username and a password as 'sasl.jaas.config'",
        who=who,
        got=got,
        hint="librdkafka's properties of the other mechanisms are taken, such as 'sasl.kerberos.keytab'",
    )


def _check_secret(name: str, text: str, who: str) -> None:
    if _SECRET.search(name) and not REFERENCE.search(text):
        _refuse_secret(name, who)


def _refuse_secret(name: str, who: str) -> NoReturn:
    raise ConfigurationError(
        f"requires a reference to a secret as the property {name!r}, because properties are written to the state "
        "directory",
        who=who,
        got="a text without one",
        hint="refer to an environment variable of the driver and the workers, as ${KAFKA_PASSWORD}",
    )
