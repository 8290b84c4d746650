"""What durable state costs: epochs over small and large state, recovery after a kill, and a change of parallelism.

The same job in all of them (`job`), in a process of its own (`program`) that is started, asked and killed (`driver`),
beginning with a savepoint that is made once for each number of keys (`prepared`). Every run's state is checked at
its end (`check`).
"""
