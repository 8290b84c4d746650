"""The streams of the DataStream API, a module per kind."""
