"""`firesteel sql`: statements from a terminal, a file or the command line."""
