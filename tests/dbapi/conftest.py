"""What tests may ask for."""

from tests.rest.gateway.shared import listening, url

__all__ = ["listening", "url"]
