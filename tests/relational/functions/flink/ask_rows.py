"""Evaluate expressions with Flink's generated code row by row, so that a row that fails costs no job.

`env.execute_sql` ends with the first row that fails. Here the code that Flink generates for an expression is called
for each row of a table on its own, inside the JVM of the gateway.
"""

from __future__ import annotations

from typing import Any

from pyflink.java_gateway import get_gateway

NAME = "EachRow"
EACH_ROW = """
import java.lang.invoke.MethodHandle;
import java.util.List;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.binary.BinaryStringData;
import org.apache.flink.table.utils.print.RowDataToStringConverter;

public class EachRow {
  public static String[] cells(
      MethodHandle code, List rows, RowData.FieldGetter[] columns, RowDataToStringConverter shown) {
    String[] cells = new String[rows.size()];
    for (int place = 0; place < cells.length; place++) {
      Object[] values = new Object[columns.length];
      for (int column = 0; column < columns.length; column++) {
        values[column] = columns[column].getFieldOrNull((RowData) rows.get(place));
      }
      try {
        GenericRowData result = new GenericRowData(1);
        Object value = code.invokeWithArguments(values);
        result.setField(0, value instanceof String ? BinaryStringData.fromString((String) value) : value);
        cells[place] = shown.convert(result)[0];
      } catch (Throwable failure) {
        cells[place] = null;
      }
    }
    return cells;
  }
}
"""
PLANNER = "org.apache.flink.table.planner"
FACTORY = f"{PLANNER}.codegen.calls.BridgingFunctionGenUtil$DefaultExpressionEvaluatorFactory"
CONTEXT = f"{PLANNER}.codegen.CodeGeneratorContext"
CONVERTER = f"{PLANNER}.functions.casting.RowDataToStringConverterImpl"


def an_array(kind: Any, values: list[Any]) -> Any:
    array = get_gateway().new_array(kind, len(values))
    for place, value in enumerate(values):
        array[place] = value
    return array


class Rows:
    """The rows of the table `t` and what is needed to run code over them."""

    def __init__(self, env: Any, zone: str) -> None:
        jvm = get_gateway().jvm
        self._kinds = jvm.org.apache.flink.table.types.utils.DataTypeUtils
        self._fields = jvm.org.apache.flink.table.api.DataTypes
        self._zone = jvm.java.time.ZoneId.of(zone)
        planner = env._j_tenv.getPlanner()
        self._loader = planner.getClass().getClassLoader()
        self._context = planner.getFlinkContext()
        self._evaluators = self._made(
            FACTORY, [self._context.getTableConfig(), self._loader, self._context.getRexFactory()]
        )
        compiler = jvm.org.apache.flink.table.runtime.generated.CompileUtils
        methods = compiler.compile(self._loader, NAME, EACH_ROW).getMethods()
        [self._each_row] = [method for method in methods if method.getName() == "cells"]
        self._read(env)

    def _read(self, env: Any) -> None:
        jvm = get_gateway().jvm
        getter = jvm.org.apache.flink.table.data.RowData
        columns = env.sql_query("SELECT * FROM t")._j_table.getResolvedSchema().getColumns()
        kinds = [self._kinds.toInternalDataType(column.getDataType()) for column in columns]
        self._arguments = an_array(
            jvm.org.apache.flink.table.api.DataTypes.Field,
            [self._fields.FIELD(column.getName(), kind) for column, kind in zip(columns, kinds, strict=True)],
        )
        self._getters = an_array(
            jvm.org.apache.flink.table.data.RowData.FieldGetter,
            [getter.createFieldGetter(kind.getLogicalType(), place) for place, kind in enumerate(kinds)],
        )
        self._rows = jvm.java.util.ArrayList()
        found = env.execute_sql("SELECT * FROM t")._j_table_result.collectInternal()
        while found.hasNext():
            self._rows.add(found.next())
        found.close()

    def _made(self, name: str, arguments: list[Any]) -> Any:
        """Return an object of a class that only the planner's own loader knows."""
        jvm = get_gateway().jvm
        kind = jvm.java.lang.Class.forName(name, True, self._loader)
        [maker] = [one for one in kind.getConstructors() if one.getParameterCount() == len(arguments)]
        return maker.newInstance(an_array(jvm.java.lang.Object, arguments))

    def cells(self, expression: str, kind: Any) -> list[str | None]:
        """Return the cells of an expression of a type; None for a row that it fails for.

        Py4JJavaError is raised if there is no code for the expression alone.
        """
        jvm = get_gateway().jvm
        is_text = str(kind.getLogicalType().getTypeRoot()) in ("CHAR", "VARCHAR")
        result = (kind if is_text else self._kinds.toInternalDataType(kind)).nullable()
        evaluator = self._evaluators.createEvaluator(expression, result, self._arguments)
        code = evaluator.open(jvm.org.apache.flink.table.functions.FunctionContext(None, self._loader, None))
        row = self._fields.ROW(
            an_array(jvm.org.apache.flink.table.api.DataTypes.Field, [self._fields.FIELD("r", result)])
        )
        generator = self._made(CONTEXT, [self._context.getTableConfig(), self._loader])
        shown = self._made(CONVERTER, [row, self._zone, self._loader, False, generator])
        values = an_array(jvm.java.lang.Object, [code, self._rows, self._getters, shown])
        return list(self._each_row.invoke(None, values))
