"""What files and messages look like inside (PyFlink: pyflink.datastream.formats)."""
