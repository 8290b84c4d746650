"""The streams of the DataStream API, one module per kind."""
