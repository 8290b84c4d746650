"""The formats of files and messages (PyFlink: pyflink.datastream.formats)."""
