"""A value as bytes: codecs, chunks of lists, schemas and their evolution, and the expiry of values."""
