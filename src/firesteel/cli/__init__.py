"""The command line, `firesteel`: running programs, and looking at and controlling jobs."""
