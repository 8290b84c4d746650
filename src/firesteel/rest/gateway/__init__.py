"""Flink's SQL gateway: sessions in which statements are executed over REST.

Statements are executed in a process of their own, the gateway: `firesteel.rest.gateway.process`. The server starts it
when it is first needed, and hands requests on to it (`forwarding`); when the server ends, it ends. A query runs in the
gateway and goes with it. An INSERT becomes a job of the cluster (`jobs`), which needs neither.

Bottom up: `type_json` and `rows` are what goes over the wire, `results` pages the rows of a statement, `operations` and
`sessions` are Flink's, `statements` says what each statement does here, `serving` answers requests. `client` is the
other side: the shell and the DB-API driver use it.
"""
