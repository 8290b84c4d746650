"""Records to topics of Kafka.

What the guarantees mean:

- `EXACTLY_ONCE`: the writers store an epoch's records with the job's checkpoints. When the epoch is committed, the
  driver produces them in one transaction, which also has the mark of the epoch: the offset of a consumer group of the
  sink. A publishing that is done again finds the mark. Readers with `read_committed` see an epoch's records of a
  partition all or none.
- `AT_LEAST_ONCE`: the writers produce; an epoch ends when the brokers have all of its records. An epoch that is tried
  again writes its records again.
- `NONE`: nobody waits for the brokers' answers; records may be lost, too.

Why not Flink's way, an open transaction of each writer that the commit ends: the broker aborts it after
`transaction.timeout.ms`, so a job that is down for longer loses committed records. Several transactions make an epoch
visible in parts. And an open transaction holds up all readers of its partitions, during the whole epoch. With stored
records, a record costs about a fifth more processor time, the broker's part included, than at least once.
"""

from firesteel.connectors.kafka.sink.sink import KafkaSink

__all__ = ["KafkaSink"]
