"""What users subclass: function classes, windows, triggers, and the source and sink interfaces, a module per kind."""
