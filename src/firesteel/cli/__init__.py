"""The command line, `firesteel`: it runs programs, and shows and controls jobs."""
