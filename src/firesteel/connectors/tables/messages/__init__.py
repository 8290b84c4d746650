"""Formats of single messages, for connectors whose records are bytes: decoded and encoded by the batch."""
