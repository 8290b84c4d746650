"""What tests may ask for."""

from tests.rest.gateway.shared import gateway, url

__all__ = ["gateway", "url"]
