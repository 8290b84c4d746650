"""The cost of durable state: epochs over small and large state, recovery after a kill, and a change of parallelism.

All of them use the same job (`job`), in its own process (`program`), which is started, asked and killed (`driver`). It
starts from a savepoint that is created once for each number of keys (`prepared`). The state of every run is checked at
its end (`check`).
"""
