"""A value as bytes: codecs, chunks of lists, schemas, which may become which, and when values expire."""
