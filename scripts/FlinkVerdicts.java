import java.nio.charset.StandardCharsets;
import org.apache.calcite.config.Lex;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.dialect.AnsiSqlDialect;
import org.apache.calcite.sql.parser.SqlParseException;
import org.apache.calcite.sql.parser.SqlParser;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.apache.flink.sql.parser.impl.FlinkSqlParserImpl;
import org.apache.flink.sql.parser.validate.FlinkSqlConformance;

/** Reads statements from standard input, NUL between them, and prints what Flink's parser says of each as a line of JSON. */
public class FlinkVerdicts {
    private static final SqlParser.Config CONFIG =
            SqlParser.config()
                    .withParserFactory(FlinkSqlParserImpl.FACTORY)
                    .withConformance(FlinkSqlConformance.DEFAULT)
                    .withLex(Lex.JAVA)
                    .withIdentifierMaxLength(256);

    public static void main(String[] arguments) throws Exception {
        String input = new String(System.in.readAllBytes(), StandardCharsets.UTF_8);
        for (String statement : input.split("\0")) {
            System.out.println(verdict(statement));
        }
    }

    private static String verdict(String statement) {
        try {
            SqlNode node = SqlParser.create(statement, CONFIG).parseStmt();
            return "{\"accepted\": true, \"grouped\": " + quoted(grouped(node)) + "}";
        } catch (SqlParseException error) {
            SqlParserPos place = error.getPos();
            String where =
                    place == null
                            ? "null, \"column\": null"
                            : place.getLineNum() + ", \"column\": " + place.getColumnNum();
            String message = error.getMessage().split("\n")[0];
            return "{\"accepted\": false, \"line\": " + where + ", \"message\": " + quoted(message) + "}";
        }
    }

    /** Returns the statement with every operation in parentheses. */
    private static String grouped(SqlNode node) {
        return node.toSqlString(
                        config ->
                                config.withDialect(AnsiSqlDialect.DEFAULT)
                                        .withAlwaysUseParentheses(true)
                                        .withQuoteAllIdentifiers(false))
                .getSql()
                .replaceAll("\\s+", " ");
    }

    private static String quoted(String text) {
        StringBuilder found = new StringBuilder("\"");
        for (char character : text.toCharArray()) {
            if (character == '"' || character == '\\') {
                found.append('\\').append(character);
            } else if (character < 32 || character > 126) {
                found.append(String.format("\\u%04x", (int) character));
            } else {
                found.append(character);
            }
        }
        return found.append('"').toString();
    }
}
