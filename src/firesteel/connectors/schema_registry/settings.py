"""Where a schema registry is, and how to log in."""

from __future__ import annotations

import base64
import ssl
from dataclasses import dataclass

from firesteel.common.errors import ConfigurationError
from firesteel.connectors.references import REFERENCE, expanded

PATIENCE_MS = 60_000
"""How long a registry that is away is asked again by default, in milliseconds."""


@dataclass(frozen=True)
class RegistrySettings:
    """The addresses of a registry, each tried in turn, and what it wants to see.

    `user_info` is 'name:password', `token` a bearer token: both only as references to environment variables, such as
    `me:${PASSWORD}`. `authorities` is a file with the certificates to trust, `certificate` one with a client's
    certificate and key, both PEM. A registry that is away is asked again for `patience_ms`, and each request waits for
    at most `timeout_ms`.
    """

    urls: tuple[str, ...]
    user_info: str | None = None
    token: str | None = None
    authorities: str | None = None
    certificate: str | None = None
    certificate_password: str | None = None
    patience_ms: int = PATIENCE_MS
    timeout_ms: int = 10_000

    def __post_init__(self) -> None:
        for secret in (
            self.user_info and self.user_info.partition(":")[2],
            self.token,
            self.certificate_password,
        ):
            if secret and not REFERENCE.search(secret):
                raise ConfigurationError(
                    "requires a password or token that is not written out, because it is part of the job's plan",
                    who=self.who,
                    hint="refer to an environment variable of the driver and the workers, as ${REGISTRY_PASSWORD}",
                )

    @property
    def who(self) -> str:
        """The registry in errors."""
        return f"the schema registry {', '.join(self.urls)}"

    def headers(self) -> dict[str, str]:
        """Return the headers that log in. Raises ConnectorError for a variable that is not set."""
        if self.user_info is not None:
            login = base64.b64encode(expanded(self.user_info, self.who).encode()).decode()
            return {"Authorization": f"Basic {login}"}
        if self.token is not None:
            return {"Authorization": f"Bearer {expanded(self.token, self.who)}"}
        return {}

    def tls(self) -> ssl.SSLContext:
        """Return how https is spoken. Raises OSError for certificates that cannot be read."""
        context = ssl.create_default_context(cafile=self.authorities)
        if self.certificate is not None:
            password = self.certificate_password and expanded(self.certificate_password, self.who)
            context.load_cert_chain(self.certificate, password=password)
        return context


def registry_settings(registry: str | RegistrySettings) -> RegistrySettings:
    """Return the settings of a registry that may be given by its addresses, with commas between them.

    >>> registry_settings("http://a:8081, http://b:8081").urls
    ('http://a:8081', 'http://b:8081')
    """
    if isinstance(registry, RegistrySettings):
        return registry
    return RegistrySettings(tuple(url.strip() for url in registry.split(",")))
