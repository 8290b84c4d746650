"""Who may do what: tokens with roles, and requests that another site's page made a browser send."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from firesteel.common.errors import ConfigurationError
from firesteel.rest.calls import Refusal, Right

_LEAST: Final = 16
"""A token that is shorter can be guessed."""

_LOCAL_NAMES: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})


@dataclass(frozen=True)
class Security:
    """The rules of a server. Without tokens everybody who reaches it may do all, so it then serves this machine alone.

    `hosts` are further names under which the server is addressed; a page of another site that has its own name lead
    here (DNS rebinding) is not among them.
    """

    tokens: Mapping[str, Right] = field(default_factory=dict, repr=False)
    hosts: frozenset[str] = frozenset()

    def check(self, right: Right, headers: Mapping[str, str]) -> Right:
        """Return the right that a request comes with. Raises Refusal (401, 403) for one that may not do this."""
        self._check_site(headers)
        if not self.tokens:
            return Right.SUBMITTER
        scheme, _, sent = headers.get("authorization", "").partition(" ")
        held = self._right_of(sent.strip()) if scheme.lower() == "bearer" else None
        if held is None:
            raise Refusal(401, "requires a valid token: Authorization: Bearer TOKEN")
        if held < right:
            raise Refusal(
                403, f"requires the {right.name.lower()}'s right; this token has the {held.name.lower()}'s"
            )
        return held

    def _right_of(self, sent: str) -> Right | None:
        found = None
        for token, right in self.tokens.items():  # all of them, so that the time tells nothing
            if hmac.compare_digest(token.encode(), sent.encode()):
                found = right
        return found

    def _check_site(self, headers: Mapping[str, str]) -> None:
        host = headers.get("host", "").lower()
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        if not self.tokens and name not in _LOCAL_NAMES and name not in self.hosts:
            raise Refusal(403, f"this server is not addressed as {name!r}")
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2].lower() != host:
            raise Refusal(403, "requests of other sites are refused")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise Refusal(403, "requests of other sites are refused")


def read_tokens(text: str) -> dict[str, Right]:
    """Read lines of `ROLE TOKEN`; a role is viewer, operator or submitter. Raises ConfigurationError.

    >>> read_tokens("viewer 0123456789abcdef")
    {'0123456789abcdef': <Right.VIEWER: 1>}
    """
    tokens: dict[str, Right] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        role, _, token = line.strip().partition(" ")
        if role.upper() not in Right.__members__ or len(token.strip()) < _LEAST:
            raise ConfigurationError(
                f"requires lines of ROLE TOKEN: viewer, operator or submitter, and at least {_LEAST} characters",
                who=f"line {number} of the tokens",
            )
        tokens[token.strip()] = Right[role.upper()]
    return tokens


def require_protection(host: str, tokens: Mapping[str, Right], *, tls: bool) -> None:
    """Raise ConfigurationError if a server would listen beyond this machine without tokens and TLS."""
    if _is_loopback(host):
        return
    if not tokens:
        raise ConfigurationError(
            "requires tokens to listen beyond this machine",
            who=f"--host {host}",
            got="none",
            hint="give --tokens FILE, with lines of ROLE TOKEN",
        )
    if not tls:
        raise ConfigurationError(
            "requires TLS to listen beyond this machine: tokens would be sent readable",
            who=f"--host {host}",
            got="no certificate",
            hint="give --tls-certificate and --tls-key",
        )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
