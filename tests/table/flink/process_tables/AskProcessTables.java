import static org.apache.flink.table.annotation.ArgumentTrait.OPTIONAL_PARTITION_BY;
import static org.apache.flink.table.annotation.ArgumentTrait.PASS_COLUMNS_THROUGH;
import static org.apache.flink.table.annotation.ArgumentTrait.REQUIRE_ON_TIME;
import static org.apache.flink.table.annotation.ArgumentTrait.REQUIRE_UPDATE_BEFORE;
import static org.apache.flink.table.annotation.ArgumentTrait.ROW_SEMANTIC_TABLE;
import static org.apache.flink.table.annotation.ArgumentTrait.SET_SEMANTIC_TABLE;
import static org.apache.flink.table.annotation.ArgumentTrait.SUPPORT_UPDATES;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.ExplainDetail;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.functions.ChangelogFunction;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.table.functions.TableSemantics;
import org.apache.flink.types.ColumnList;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.CloseableIterator;

/** Asks Flink what queries with process table functions give: `AskProcessTables TABLES QUERIES ANSWERS`. */
public class AskProcessTables {

    public static class Counted {
        public Long n;
    }

    public static class Counting extends ProcessTableFunction<String> {
        public void eval(@StateHint Counted seen, @ArgumentHint(SET_SEMANTIC_TABLE) Row r) {
            seen.n = seen.n == null ? 1 : seen.n + 1;
            collect(r.getField("v") + " is " + seen.n);
        }
    }

    public static class Kinds extends ProcessTableFunction<String> {
        public void eval(
                Context ctx,
                @ArgumentHint({SET_SEMANTIC_TABLE, SUPPORT_UPDATES, OPTIONAL_PARTITION_BY}) Row r) {
            collect(r.getKind().shortString() + " " + r.getField(1) + " " + mode(ctx, "r"));
        }
    }

    public static class BothKinds extends ProcessTableFunction<String> {
        public void eval(
                Context ctx,
                @ArgumentHint({SET_SEMANTIC_TABLE, SUPPORT_UPDATES, REQUIRE_UPDATE_BEFORE}) Row r) {
            collect(r.getKind().shortString() + " " + r.getField(1) + " " + mode(ctx, "r"));
        }
    }

    public static class RowKinds extends ProcessTableFunction<String> {
        public void eval(Context ctx, @ArgumentHint({ROW_SEMANTIC_TABLE, SUPPORT_UPDATES}) Row r) {
            collect(r.getKind().shortString() + " " + r.getField(1) + " " + mode(ctx, "r"));
        }
    }

    public static class Sorted extends ProcessTableFunction<String> {
        public void eval(
                Context ctx, @ArgumentHint({SET_SEMANTIC_TABLE, OPTIONAL_PARTITION_BY}) Row r) {
            TableSemantics table = ctx.tableSemanticsFor("r");
            StringBuilder order = new StringBuilder();
            for (int i = 0; i < table.orderByColumns().length; i++) {
                order.append(" ").append(table.orderByColumns()[i]);
                order.append(" ").append(table.orderByDirections()[i]);
            }
            collect(r.getField("v") + order.toString());
        }
    }

    public static class SortedLater extends ProcessTableFunction<String> {
        public void eval(
                Context ctx, @ArgumentHint({SET_SEMANTIC_TABLE, REQUIRE_ON_TIME}) Row r) {
            TimeContext<Long> time = ctx.timeContext(Long.class);
            time.registerOnTime("later", time.time() + 2000);
            collect(r.getField("v") + " at " + time.time() % 100000);
        }

        public void onTimer(OnTimerContext ctx) {
            collect(ctx.currentTimer() + " at " + ctx.timeContext(Long.class).time() % 100000);
        }
    }

    @DataTypeHint("ROW<n BIGINT>")
    public static class Upserting extends ProcessTableFunction<Row> implements ChangelogFunction {
        public void eval(@StateHint Counted seen, @ArgumentHint(SET_SEMANTIC_TABLE) Row r) {
            if (r.<Integer>getFieldAs("v") < 0) {
                collect(Row.ofKind(RowKind.DELETE, seen.n));
                seen.n = null;
            } else if (seen.n == null) {
                seen.n = 1L;
                collect(Row.ofKind(RowKind.INSERT, seen.n));
            } else {
                seen.n++;
                collect(Row.ofKind(RowKind.UPDATE_AFTER, seen.n));
            }
        }

        @Override
        public ChangelogMode getChangelogMode(ChangelogContext context) {
            return ChangelogMode.upsert(false);
        }
    }

    @DataTypeHint("ROW<n BIGINT>")
    public static class Retracting extends ProcessTableFunction<Row> implements ChangelogFunction {
        public void eval(
                Context ctx, @StateHint Counted seen, @ArgumentHint(SET_SEMANTIC_TABLE) Row r) {
            if (seen.n == null) {
                seen.n = 1L;
                collect(Row.ofKind(RowKind.INSERT, seen.n));
            } else {
                if (ctx.getChangelogMode().contains(RowKind.UPDATE_BEFORE)) {
                    collect(Row.ofKind(RowKind.UPDATE_BEFORE, seen.n));
                }
                seen.n++;
                collect(Row.ofKind(RowKind.UPDATE_AFTER, seen.n));
            }
        }

        @Override
        public ChangelogMode getChangelogMode(ChangelogContext context) {
            return ChangelogMode.all();
        }
    }

    public static class Adapting extends Retracting {
        @Override
        public ChangelogMode getChangelogMode(ChangelogContext context) {
            return context.getRequiredChangelogMode().contains(RowKind.UPDATE_BEFORE)
                    ? ChangelogMode.all()
                    : ChangelogMode.upsert(false);
        }
    }

    /** Says that it inserts, and updates. */
    @DataTypeHint("ROW<n BIGINT>")
    public static class Lying extends ProcessTableFunction<Row> {
        public void eval(@ArgumentHint(SET_SEMANTIC_TABLE) Row r) {
            collect(Row.ofKind(RowKind.UPDATE_AFTER, 1L));
        }
    }

    public static class Updating extends ProcessTableFunction<String> implements ChangelogFunction {
        public void eval(@ArgumentHint(ROW_SEMANTIC_TABLE) Row r) {
            collect("x");
        }

        @Override
        public ChangelogMode getChangelogMode(ChangelogContext context) {
            return ChangelogMode.all();
        }
    }

    public static class Passing extends ProcessTableFunction<String> {
        public void eval(@ArgumentHint({SET_SEMANTIC_TABLE, PASS_COLUMNS_THROUGH}) Row r) {
            collect("x" + r.getField("v"));
        }
    }

    public static class Optional extends ProcessTableFunction<String> {
        public void eval(
                @ArgumentHint(SET_SEMANTIC_TABLE) Row r,
                @ArgumentHint(isOptional = true) Integer factor,
                String word,
                @ArgumentHint(isOptional = true) Double part) {
            collect(r.getField("v") + " " + factor + " " + word + " " + part);
        }
    }

    public static class Describing extends ProcessTableFunction<String> {
        public void eval(
                ColumnList first,
                @ArgumentHint(isOptional = true) ColumnList second,
                @DataTypeHint("DESCRIPTOR NOT NULL") ColumnList third) {
            collect(names(first) + " " + names(second) + " " + names(third));
        }

        private static Object names(ColumnList columns) {
            return columns == null ? null : columns.getNames();
        }
    }

    public static class Generating extends ProcessTableFunction<String> {
        public void eval(Integer count) {
            for (int i = 0; i < count; i++) {
                collect("row " + i);
            }
        }
    }

    public static class Pairing extends ProcessTableFunction<String> {
        public void eval(
                @StateHint(type = @DataTypeHint("ROW<a STRING, b STRING>")) Row last,
                @ArgumentHint(SET_SEMANTIC_TABLE) Row a,
                @ArgumentHint(SET_SEMANTIC_TABLE) Row b) {
            if (a != null) {
                last.setField("a", String.valueOf(a.getField("v")));
            } else {
                last.setField("b", String.valueOf(b.getField(1)));
            }
        }
    }

    private static String mode(ProcessTableFunction.Context ctx, String argument) {
        StringBuilder found = new StringBuilder();
        ChangelogMode mode = ctx.tableSemanticsFor(argument).changelogMode().get();
        for (RowKind kind : RowKind.values()) {
            if (mode.contains(kind)) {
                found.append(kind.shortString());
            }
        }
        return found.toString();
    }

    public static void main(String[] given) throws Exception {
        TableEnvironment env = TableEnvironment.create(EnvironmentSettings.inStreamingMode());
        env.getConfig().set("parallelism.default", "1");
        env.getConfig().set("restart-strategy.type", "none");
        env.getConfig().set("table.local-time-zone", "UTC");
        for (Class<?> one : AskProcessTables.class.getDeclaredClasses()) {
            if (ProcessTableFunction.class.isAssignableFrom(one)) {
                env.createTemporarySystemFunction(
                        one.getSimpleName(), one.asSubclass(ProcessTableFunction.class));
            }
        }
        for (String statement : Files.readString(Path.of(given[0])).split(";\n")) {
            env.executeSql(statement.replace("{here}", Path.of(given[0]).getParent().toString()));
        }
        ObjectMapper mapper = new ObjectMapper();
        List<String> lines = new ArrayList<>();
        for (String query : Files.readString(Path.of(given[1])).split(";\n")) {
            lines.add(mapper.writeValueAsString(answer(env, query.trim())));
        }
        Files.write(Path.of(given[2]), lines);
    }

    private static Map<String, Object> answer(TableEnvironment env, String query) {
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("query", query);
        boolean fails = false;
        try {
            Table table = env.sqlQuery(query);
            String plan = env.explainSql(query, ExplainDetail.CHANGELOG_MODE);
            List<String> calls = new ArrayList<>();
            for (String line : plan.split("== Optimized Execution Plan ==")[0].split("\n")) {
                int start = line.indexOf("ProcessTableFunction(");
                if (start >= 0 && line.contains("changelogMode")) {
                    calls.add(line.substring(start));
                }
            }
            found.put("calls", calls);
            found.put("names", table.getResolvedSchema().getColumnNames());
            fails = true;
            List<List<String>> rows = new ArrayList<>();
            try (CloseableIterator<Row> results = table.execute().collect()) {
                while (results.hasNext()) {
                    Row row = results.next();
                    List<String> fields = new ArrayList<>();
                    fields.add(row.getKind().shortString());
                    for (int i = 0; i < row.getArity(); i++) {
                        fields.add(String.valueOf(row.getField(i)));
                    }
                    rows.add(fields);
                }
            }
            found.put("rows", rows);
        } catch (Throwable error) {
            Throwable cause = error;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            found.put("refused", String.valueOf(cause.getMessage()).split("\n")[0]);
            found.put("fails", fails);
        }
        return found;
    }
}
