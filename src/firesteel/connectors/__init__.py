"""Sources and sinks: a package or file per system. They do not know each other."""
