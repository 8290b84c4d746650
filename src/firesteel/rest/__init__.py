"""Firesteel as a service: a dispatcher of jobs, and Flink's REST over what their state directories say.

`dispatcher` starts a driver process for each job and watches it, `standing` says how a job stands, `routes` answers
requests, and `server` is the only module that knows the web framework.
"""
