import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.format.Json;
import java.util.Properties;

/** Prints what Debezium says of a database of PostgreSQL: a line for each message, the key, a tab, and the value. */
public class RecordChanges {
    public static void main(String[] args) throws Exception {
        Properties properties = new Properties();
        properties.setProperty("name", "shop");
        properties.setProperty("connector.class", "io.debezium.connector.postgresql.PostgresConnector");
        properties.setProperty("offset.storage", "org.apache.kafka.connect.storage.MemoryOffsetBackingStore");
        properties.setProperty("offset.flush.interval.ms", "1000");
        properties.setProperty("database.hostname", "127.0.0.1");
        properties.setProperty("database.port", args[0]);
        properties.setProperty("database.user", args[1]);
        properties.setProperty("database.password", System.getenv("PASSWORD"));
        properties.setProperty("database.dbname", args[2]);
        properties.setProperty("slot.name", args[3]);
        properties.setProperty("slot.drop.on.stop", "true");
        properties.setProperty("publication.name", args[3]);
        properties.setProperty("topic.prefix", "shop");
        properties.setProperty("plugin.name", "pgoutput");
        properties.setProperty("converter.schemas.enable", args[4]);
        properties.setProperty("poll.interval.ms", "50");
        DebeziumEngine<ChangeEvent<String, String>> engine =
                DebeziumEngine.create(Json.class).using(properties).notifying(RecordChanges::print).build();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> close(engine)));
        new Thread(engine).start();
        while (System.in.read() >= 0) {}
        close(engine);
        System.exit(0);
    }

    static void print(ChangeEvent<String, String> event) {
        System.out.println(event.key() + "\t" + event.value());
        System.out.flush();
    }

    static void close(DebeziumEngine<?> engine) {
        try {
            engine.close();
        } catch (Exception error) {
            System.err.println(error);
        }
    }
}
