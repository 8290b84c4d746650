"""Models: what statements make of them, what ML_PREDICT gives, and errors that name the model and the row."""

from __future__ import annotations

from typing import Any

import pytest

from firesteel.common.errors import FiresteelError
from firesteel.table import DataTypes, EnvironmentSettings, ModelDescriptor, Schema, TableEnvironment
from firesteel.testing import executing

SUMS = (
    "CREATE MODEL sums INPUT (x BIGINT, y BIGINT) OUTPUT (total BIGINT, asked BIGINT) "
    "WITH ('provider' = 'python', 'function' = 'tests.table.models:Sums', 'plus' = '100')"
)
GIVEN = "(SELECT * FROM (VALUES (1, 2), (3, 4), (5, CAST(NULL AS INT))) AS t (a, b))"


def session(*statements: str, batch: bool = False) -> TableEnvironment:
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    env = TableEnvironment.create(settings)
    for statement in statements:
        env.execute_sql(statement)
    return env


def model(name: str, kind: str, inputs: str = "a INT", outputs: str = "p INT", more: str = "") -> str:
    return (
        f"CREATE MODEL {name} INPUT ({inputs}) OUTPUT ({outputs}) "
        f"WITH ('provider' = 'python', 'function' = 'tests.table.models:{kind}'{more})"
    )


def rows(env: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in env.execute_sql(query).collect())


def error(env: TableEnvironment, query: str) -> str:
    with pytest.raises(FiresteelError) as found, executing():
        list(env.execute_sql(query).collect())
    return str(found.value)


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize("parallelism", [1, 3])
def test_a_model_is_asked_for_batches_of_rows(batch, parallelism):
    env = session(SUMS, batch=batch)
    with executing(parallelism=parallelism):
        found = rows(env, f"SELECT a, b, total FROM ML_PREDICT(TABLE {GIVEN}, MODEL sums, DESCRIPTOR(a, b))")
        assert found == [(1, 2, 103), (3, 4, 107), (5, None, None)]
        asked = "SELECT MAX(asked) FROM ML_PREDICT(INPUT => TABLE n, MODEL => MODEL sums, ARGS => DESCRIPTOR(n, n))"
        env.execute_sql(
            "CREATE TABLE n (n INT) WITH ('connector' = 'datagen', 'number-of-rows' = '100', "
            "'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '100')"
        )
        ((most,),) = rows(env, asked)[-1:]
        assert most >= 30


def test_an_answer_keeps_all_columns_and_changes_names_that_are_taken():
    env = session(SUMS)
    query = f"SELECT * FROM ML_PREDICT(TABLE (SELECT a, b, 'x' AS total FROM {GIVEN}), MODEL sums, DESCRIPTOR(a, b))"
    assert env.sql_query(query).get_schema().get_field_names() == ["a", "b", "total", "total0", "asked"]
    with executing():
        assert rows(env, f"SELECT total0 - 100, asked FROM ({query}) WHERE b IS NOT NULL") == [(3, 2), (7, 2)]


@pytest.mark.timeout(60)
def test_an_asynchronous_model_is_asked_about_many_rows_at_once():
    env = session(model("remote", "Remote", outputs="p STRING", more=", 'together' = '3'"))
    query = "SELECT a, p FROM ML_PREDICT(TABLE {}, MODEL remote, DESCRIPTOR(a){})"
    with executing(parallelism=1):
        for config in ("", ", MAP['async', 'true', 'max-concurrent-operations', '3']"):
            assert rows(env, query.format(GIVEN, config)) == [(1, "said 1"), (3, "said 3"), (5, "said 5")]
    config = ", MAP['max-concurrent-operations', '2', 'timeout', '100 ms']"
    assert "model default_catalog.default_database.remote cannot predict; got TimeoutError" in error(
        env, query.format(GIVEN, config)
    )


def test_errors_name_the_model_and_the_row():
    env = session(
        *(model(kind.lower(), kind) for kind in ("Picky", "Short", "Lost", "Nowhere", "NOT_A_MODEL"))
    )
    query = "SELECT * FROM ML_PREDICT(TABLE (SELECT * FROM (VALUES (1), (7), (8)) AS t (n)), MODEL {}, DESCRIPTOR(n))"
    assert (
        "model default_catalog.default_database.picky cannot predict; "
        "got ValueError: I do not like 7, for the row (a=7)"
    ) in error(env, query.format("picky"))
    assert (
        "model default_catalog.default_database.short requires a value for each row of p INT; got"
        in error(env, query.format("short"))
    )
    lost = error(env, query.format("lost"))
    assert "default_catalog.default_database.lost" in lost
    assert "no weights" in lost
    assert "'module:attribute' of a class that can be imported; got 'tests.table.models:Nowhere'" in error(
        env, query.format("nowhere")
    )
    assert "requires the option 'function' with a subclass of PredictFunction" in error(
        env, query.format("not_a_model")
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("TABLE t, MODEL summs, DESCRIPTOR(a, b)", "requires the name of a model; got summs, which does not exist"),
        ("TABLE t, sums, DESCRIPTOR(a, b)", "requires a model"),
        ("TABLE t, MODEL sums, DESCRIPTOR(a)", "requires a column for each input of the model: x BIGINT, y BIGINT"),
        ("TABLE t, MODEL sums, DESCRIPTOR(a, c)", "requires BIGINT for the input y of the model; got c STRING"),
        ("TABLE t, MODEL sums, DESCRIPTOR(a, z)", "requires the name of a column; got z"),
        ("TABLE t, MODEL sums", "requires the arguments of ML_PREDICT(INPUT, MODEL, ARGS [, CONFIG]); got no ARGS"),
        ("TABLE t, MODEL sums, DESCRIPTOR(a, b), MAP['asink', 'true']", "requires a key that config has"),
        ("TABLE t, MODEL sums, DESCRIPTOR(a, b), MAP['async', 'maybe']", "requires true or false for 'async'"),
        ("TABLE t, MODEL sums, DESCRIPTOR(a, b), MAP['async', 'true']", "requires a subclass of AsyncPredictFunction"),
        ("TABLE changing, MODEL sums, DESCRIPTOR(n, n)", "doesn't support consuming update"),
    ],
)  # fmt: skip
def test_what_is_wrong_says_so(arguments, said):
    env = session(
        SUMS,
        "CREATE TABLE t (a INT, b INT, c STRING) WITH ('connector' = 'datagen')",
        "CREATE VIEW changing AS SELECT COUNT(*) AS n FROM t GROUP BY a",
    )
    assert said in error(env, f"SELECT * FROM ML_PREDICT({arguments})")


def test_statements_about_models(tmp_path):
    for catalog in ("('type' = 'generic_in_memory')", f"('type' = 'filesystem', 'path' = '{tmp_path}/c')"):
        env = session(f"CREATE CATALOG c WITH {catalog}", "USE CATALOG c")
        env.execute_sql(
            "CREATE MODEL m INPUT (a INT, b STRING) OUTPUT (p DOUBLE COMMENT 'x') COMMENT 'c' "
            "WITH ('provider' = 'openai', 'endpoint' = 'x')"
        )
        env.execute_sql(
            "CREATE MODEL IF NOT EXISTS m INPUT (a INT) OUTPUT (p DOUBLE) WITH ('provider' = 'nope')"
        )
        env.execute_sql(
            "CREATE TEMPORARY MODEL tm INPUT (a INT) OUTPUT (p DOUBLE) WITH ('provider' = 'nope')"
        )
        assert rows(env, "SHOW MODELS") == [("m",)]
        assert (env.list_models(), env.list_temporary_models()) == (["m", "tm"], ["tm"])
        assert rows(env, "DESCRIBE MODEL m") == [
            ("a", "INT", True, True, None),
            ("b", "STRING", True, True, None),
            ("p", "DOUBLE", True, False, "x"),
        ]
        shown = (
            "CREATE MODEL `c`.`default`.`m`\nINPUT (`a` INT, `b` VARCHAR(2147483647))\n"
            "OUTPUT (`p` DOUBLE COMMENT 'x')\nCOMMENT 'c'\n"
            "WITH (\n  'endpoint' = 'x',\n  'provider' = 'openai'\n)\n"
        )
        assert rows(env, "SHOW CREATE MODEL m") == [(shown,)]
        env.execute_sql("ALTER MODEL m SET ('k' = 'v')")
        env.execute_sql("ALTER MODEL m RESET ('endpoint')")
        env.execute_sql("ALTER MODEL m RENAME TO m2")
        assert "'k' = 'v'" in rows(env, "SHOW CREATE MODEL m2")[0][0]
        assert "requires a model that exists" in error(env, "DROP MODEL m")
        assert "requires a name that no other model has" in error(
            env, "CREATE MODEL m2 INPUT (a INT) OUTPUT (p INT) WITH ('task' = 'x')"
        )
        assert "requires INPUT and OUTPUT with columns; got no OUTPUT" in error(
            env, "CREATE MODEL m3 INPUT (a INT) WITH ('task' = 'x')"
        )
        assert "requires options" in error(env, "CREATE MODEL m3 INPUT (a INT) OUTPUT (p INT)")
        env.execute_sql("DROP MODEL m2")
        env.execute_sql("DROP MODEL IF EXISTS m2")
        env.execute_sql("DROP TEMPORARY MODEL tm")
        assert env.list_models() == []


def test_a_model_is_declared_without_sql():
    env = session()
    inputs = Schema.new_builder().column("x", DataTypes.BIGINT()).column("y", DataTypes.BIGINT()).build()
    outputs = Schema.new_builder().column("total", "BIGINT").column("asked", "BIGINT").build()
    described = ModelDescriptor.for_provider("python").input_schema(inputs).output_schema(outputs)
    descriptor = described.option("function", "tests.table.models:Sums").comment("adds").build()
    env.create_temporary_model("sums", descriptor)
    env.create_model("kept", descriptor)
    assert env.list_models() == ["kept", "sums"]
    with executing():
        query = f"SELECT total FROM ML_PREDICT(TABLE {GIVEN}, MODEL sums, DESCRIPTOR(a, b)) WHERE a = 1"
        assert rows(env, query) == [(3,)]
    assert (env.drop_temporary_model("sums"), env.drop_model("kept"), env.drop_model("kept")) == (
        True,
        True,
        False,
    )
