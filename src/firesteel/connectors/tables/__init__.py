"""The connectors of tables, found by the option 'connector', and the formats of files by columns."""
