import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.catalog.CatalogTable;
import org.apache.flink.table.catalog.Column;
import org.apache.flink.table.catalog.ObjectIdentifier;
import org.apache.flink.table.catalog.ResolvedCatalogTable;
import org.apache.flink.table.catalog.ResolvedSchema;
import org.apache.flink.table.connector.format.DecodingFormat;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DeserializationFormatFactory;
import org.apache.flink.table.factories.DynamicTableFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.factories.SerializationFormatFactory;
import org.apache.flink.table.runtime.connector.sink.SinkRuntimeProviderContext;
import org.apache.flink.table.runtime.connector.source.ScanRuntimeProviderContext;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.utils.LogicalTypeParser;
import org.apache.flink.table.types.utils.DataTypeUtils;
import org.apache.flink.table.types.utils.TypeConversions;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.Collector;
import org.apache.flink.util.SimpleUserCodeClassLoader;
import org.apache.flink.util.UserCodeClassLoader;

/**
 * Asks real Flink what its formats make of single messages, and of rows: one question a line, one answer a line.
 *
 * Rows are shown, and given, as Flink's format 'json' writes and reads them. See ask_messages.py.
 */
public class AskMessages {
    static final ObjectMapper JSON = new ObjectMapper();
    static final ClassLoader LOADER = AskMessages.class.getClassLoader();

    public static void main(String[] args) throws Exception {
        List<String> answers = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(args[0]), StandardCharsets.UTF_8)) {
            ObjectNode question = (ObjectNode) JSON.readTree(line);
            try {
                question.set("answer", question.get("ask").asText().equals("decode") ? decoded(question) : encoded(question));
            } catch (Throwable error) {
                question.put("refused", message(error));
            }
            answers.add(JSON.writeValueAsString(question));
        }
        Files.write(Path.of(args[1]), answers, StandardCharsets.UTF_8);
    }

    static ArrayNode decoded(ObjectNode question) throws Exception {
        DataType physical = type(question);
        DecodingFormat<DeserializationSchema<RowData>> format =
                FactoryUtil.discoverFactory(LOADER, DeserializationFormatFactory.class, question.get("format").asText())
                        .createDecodingFormat(context(physical), options(question));
        List<String> metadata = new ArrayList<>();
        question.withArray("metadata").forEach(name -> metadata.add(name.asText()));
        DataType produced = physical;
        if (!metadata.isEmpty()) {
            format.applyReadableMetadata(metadata);
            List<org.apache.flink.table.api.DataTypes.Field> fields = new ArrayList<>();
            for (String name : metadata) {
                fields.add(org.apache.flink.table.api.DataTypes.FIELD(name, format.listReadableMetadata().get(name)));
            }
            produced = DataTypeUtils.appendRowFields(physical, fields);
        }
        SerializationSchema<RowData> shown = encoder("json", new Configuration(), produced);
        format.createRuntimeDecoder(ScanRuntimeProviderContext.INSTANCE, physical);
        ArrayNode answers = JSON.createArrayNode();
        for (JsonNode message : question.get("messages")) {
            DeserializationSchema<RowData> schema =
                    format.createRuntimeDecoder(ScanRuntimeProviderContext.INSTANCE, physical);
            schema.open(new Context());
            ArrayNode rows = JSON.createArrayNode();
            try {
                byte[] bytes = message.isNull() ? null : HexFormat.of().parseHex(message.asText());
                schema.deserialize(bytes, new Collector<RowData>() {
                    public void collect(RowData row) {
                        RowKind kind = row.getRowKind();
                        row.setRowKind(RowKind.INSERT);
                        ArrayNode pair = rows.addArray();
                        pair.add(kind.shortString());
                        pair.add(new String(shown.serialize(row), StandardCharsets.UTF_8));
                    }

                    public void close() {}
                });
                answers.add(rows);
            } catch (Throwable error) {
                answers.addObject().put("error", message(error));
            }
        }
        return answers;
    }

    static ArrayNode encoded(ObjectNode question) throws Exception {
        DataType type = type(question);
        Configuration lax = new Configuration();
        DeserializationSchema<RowData> reader =
                FactoryUtil.discoverFactory(LOADER, DeserializationFormatFactory.class, "json")
                        .createDecodingFormat(context(type), lax)
                        .createRuntimeDecoder(ScanRuntimeProviderContext.INSTANCE, type);
        reader.open(new Context());
        String format = question.get("format").asText();
        encoder(format, options(question), type);
        ArrayNode answers = JSON.createArrayNode();
        for (JsonNode row : question.get("rows")) {
            // What a row that fails has written before stays in the buffer of some.
            SerializationSchema<RowData> schema = encoder(format, options(question), type);
            try {
                List<RowData> rows = new ArrayList<>();
                reader.deserialize(row.get(1).asText().getBytes(StandardCharsets.UTF_8), new Collector<RowData>() {
                    public void collect(RowData one) {
                        rows.add(one);
                    }

                    public void close() {}
                });
                RowData one = rows.get(0);
                for (RowKind kind : RowKind.values()) {
                    if (kind.shortString().equals(row.get(0).asText())) {
                        one.setRowKind(kind);
                    }
                }
                byte[] message = schema.serialize(one);
                answers.add(message == null ? null : HexFormat.of().formatHex(message));
            } catch (Throwable error) {
                answers.addObject().put("error", message(error));
            }
        }
        return answers;
    }

    static SerializationSchema<RowData> encoder(String format, Configuration options, DataType type) throws Exception {
        SerializationSchema<RowData> schema =
                FactoryUtil.discoverFactory(LOADER, SerializationFormatFactory.class, format)
                        .createEncodingFormat(context(type), options)
                        .createRuntimeEncoder(new SinkRuntimeProviderContext(false), type);
        schema.open(new Context());
        return schema;
    }

    static DataType type(ObjectNode question) {
        LogicalType row = LogicalTypeParser.parse("ROW<" + question.get("columns").asText() + "> NOT NULL", LOADER);
        return TypeConversions.fromLogicalToDataType(row);
    }

    static Configuration options(ObjectNode question) {
        Map<String, String> given = new HashMap<>();
        question.get("options").fields().forEachRemaining(one -> given.put(one.getKey(), one.getValue().asText()));
        return Configuration.fromMap(given);
    }

    static DynamicTableFactory.Context context(DataType type) {
        List<Column> columns = new ArrayList<>();
        for (RowType.RowField field : ((RowType) type.getLogicalType()).getFields()) {
            columns.add(Column.physical(field.getName(), TypeConversions.fromLogicalToDataType(field.getType())));
        }
        CatalogTable table = CatalogTable.newBuilder().schema(Schema.newBuilder().build()).build();
        return new FactoryUtil.DefaultDynamicTableContext(
                ObjectIdentifier.of("c", "d", "t"),
                new ResolvedCatalogTable(table, ResolvedSchema.of(columns)),
                new HashMap<>(),
                new Configuration(),
                LOADER,
                false);
    }

    /** The innermost message that says something. */
    static String message(Throwable error) {
        String found = error.toString();
        for (Throwable one = error; one != null; one = one.getCause()) {
            found = one.toString();
        }
        return found.split("\n")[0];
    }

    static class Context
            implements DeserializationSchema.InitializationContext, SerializationSchema.InitializationContext {
        public MetricGroup getMetricGroup() {
            return new UnregisteredMetricsGroup();
        }

        public UserCodeClassLoader getUserCodeClassLoader() {
            return SimpleUserCodeClassLoader.create(LOADER);
        }
    }
}
