"""The web page of the service: its files, and what it shows of all jobs.

`files` serves the plain ES modules and the CSS in `static` as they are: there is no build step and no library. `board`
has what the overview shows, computed once for all pages that look at it, and `shared` keeps other such answers.
"""
