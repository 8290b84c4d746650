"""The command line, `firesteel`: it runs programs, and shows and controls jobs.

Its processes make some hundred thousand objects while they import modules, and nearly all of them stay: Python's
collector would look through them again and again, for an eighth of the time.
"""

import gc

gc.set_threshold(50_000, 20, 20)
