"""Kill a job again and again, and compare its output with that of an uninterrupted run.

    python -m chaos                      100 kills (about ten minutes)
    python -m chaos --kills 10           a short form
    python -m chaos --minutes 5          what it gets done in five minutes, on any machine
    python -m chaos --sql                a job of SQL instead of streams
    python -m chaos --kafka              a job of streams from Kafka to Kafka, whose broker is killed, too
    python -m chaos --service            a cluster's server, session and drivers, while jobs are submitted and stopped
    python -m chaos --service --own      the same, with a Spark application for each job
    python -m chaos --seed 7             the same steps as the run that printed this seed

It starts its own standalone Spark cluster (a master and two workers, each a process) and PostgreSQL server.
The exit code is 0 if no row was lost or repeated. All processes end with this one, however it ends.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
from math import inf
from pathlib import Path

from chaos.driver import ChaosError
from chaos.kafka_job import KafkaJob
from chaos.run import Outcome, Run
from chaos.service import ServiceOutcome, ServiceRun
from chaos.sql_job import SqlJob
from chaos.stream_job import StreamJob
from harness.guard import guard


def main() -> int:
    """Run the command line."""
    arguments = _arguments()
    seed = secrets.randbelow(10**6) if arguments.seed is None else arguments.seed
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="firesteel-chaos-") as directory:
        guard().remove(Path(directory))
        place = arguments.keep or Path(directory)
        if arguments.service:
            return _service(place, seed, arguments.kills, session=not arguments.own)
        job = SqlJob() if arguments.sql else KafkaJob() if arguments.kafka else StreamJob()
        run = Run(job, place, seed, lambda what: print(what, flush=True))
        spread = max(1, arguments.kills // 12)
        try:
            outcome = run(
                arguments.kills,
                savepoints=spread,
                rescales=3 * spread,
                database_failures=3 * spread if arguments.kafka else spread,
                minutes=arguments.minutes,
            )
        except ChaosError as error:
            print(f"\nseed {seed}: {error}", file=sys.stderr)
            return 1
    print(report(outcome))
    return 1 if outcome.differences else 0


def _service(place: Path, seed: int, kills: int, *, session: bool) -> int:
    try:
        outcome = ServiceRun(place, seed, lambda what: print(what, flush=True), session=session)(kills)
    except ChaosError as error:
        print(f"\nseed {seed}: {error}", file=sys.stderr)
        return 1
    print(report_service(outcome))
    return 1 if outcome.differences else 0


def report_service(outcome: ServiceOutcome) -> str:
    """Print the outcome of a run of the service in a few lines."""
    counts = "\n".join(f"  {what:<24}{count:6d}" for what, count in sorted(outcome.counts.items()))
    verdict = "\n".join(outcome.differences) or "no job lost, none twice; each word counted once"
    return (
        f"\nseed {outcome.seed}: {outcome.seconds:.0f} s\n{counts}\n"
        f"{outcome.jobs} jobs, {outcome.words} words\n{verdict}"
    )


def report(outcome: Outcome) -> str:
    """Print the outcome in a few lines."""
    counts = "\n".join(f"  {what:<24}{count:6d}" for what, count in sorted(outcome.counts.items()))
    verdict = "\n".join(outcome.differences) or "equal to an uninterrupted run, row for row"
    return (
        f"\nseed {outcome.seed}: {outcome.kills} kills in {outcome.seconds:.0f} s\n{counts}\n"
        f"{outcome.events} events in, {outcome.results} results out, {outcome.epochs} epochs\n{verdict}"
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="chaos", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=100, help="how many processes to kill")
    parser.add_argument("--minutes", type=float, default=inf, help="begin no further step after so long")
    parser.add_argument("--sql", action="store_true", help="kill the job of SQL")
    parser.add_argument(
        "--kafka", action="store_true", help="kill the job from Kafka to Kafka, and the broker"
    )
    parser.add_argument("--service", action="store_true", help="kill the processes of a cluster")
    parser.add_argument("--own", action="store_true", help="with --service: without a session")
    parser.add_argument("--seed", type=int, help="the seed of an earlier run")
    parser.add_argument("--keep", type=Path, help="an empty directory to work in, which is kept")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
