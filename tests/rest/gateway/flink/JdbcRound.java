// A round of Flink's JDBC driver: URL of the gateway as the argument; prints what it sees.

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.Statement;

public class JdbcRound {
    public static void main(String[] arguments) throws Exception {
        try (Connection connection = DriverManager.getConnection("jdbc:flink://" + arguments[0]);
                Statement statement = connection.createStatement()) {
            statement.execute("SET 'execution.runtime-mode' = 'batch'");
            statement.execute(
                    "CREATE TABLE t (a INT, b STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '3',"
                            + " 'fields.a.kind' = 'sequence', 'fields.a.start' = '1', 'fields.a.end' = '3')");
            statement.execute("SHOW TABLES");
            try (ResultSet tables = statement.getResultSet()) {
                while (tables.next()) {
                    System.out.println("table " + tables.getString(1));
                }
            }
            try (ResultSet rows =
                    statement.executeQuery(
                            "SELECT a, a * 1.5 AS d, CAST(a AS STRING) AS s, a > 1 AS big,"
                                    + " TIMESTAMP '2020-01-02 03:04:05.678' AS ts, DATE '2020-01-02' AS on_day,"
                                    + " CAST(NULL AS BIGINT) AS nothing FROM t ORDER BY a")) {
                ResultSetMetaData about = rows.getMetaData();
                for (int place = 1; place <= about.getColumnCount(); place++) {
                    System.out.println(about.getColumnName(place) + " " + about.getColumnTypeName(place));
                }
                while (rows.next()) {
                    System.out.println(
                            rows.getInt("a") + " " + rows.getBigDecimal(2) + " " + rows.getString(3) + " "
                                    + rows.getBoolean(4) + " " + rows.getTimestamp(5) + " " + rows.getDate(6) + " "
                                    + rows.getLong(7) + " " + rows.wasNull());
                }
            }
            try (ResultSet catalogs = connection.getMetaData().getCatalogs()) {
                while (catalogs.next()) {
                    System.out.println("catalog " + catalogs.getString(1));
                }
            }
            System.out.println("in use " + connection.getCatalog() + "." + connection.getSchema());
            try {
                statement.execute("SELECT nothing FROM t");
            } catch (Exception error) {
                System.out.println("refused");
            }
        }
    }
}
