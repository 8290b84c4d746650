"""Sources and sinks, one file per system; `formats` says how records are laid out in files."""
