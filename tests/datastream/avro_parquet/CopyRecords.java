import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.parquet.avro.AvroParquetReader;
import org.apache.parquet.avro.AvroParquetWriter;
import org.apache.parquet.hadoop.ParquetReader;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.LocalOutputFile;

/**
 * Copies records of Avro from one Parquet file to another, with Java's library on both sides: so it reads what Firesteel
 * has written, and writes what Firesteel must read.
 *
 * <p>java -cp "parquet-avro-1.17.0.jar:parquet-variant-1.17.0.jar:PYSPARK/jars/*" CopyRecords.java SCHEMA FROM TO
 */
public class CopyRecords {
    public static void main(String[] given) throws Exception {
        Schema schema = new Schema.Parser().parse(Files.readString(Path.of(given[0])));
        // Without conversions: values are what is stored.
        GenericData plain = new GenericData();
        try (ParquetReader<GenericRecord> reader =
                        AvroParquetReader.<GenericRecord>builder(new LocalInputFile(Path.of(given[1])))
                                .withDataModel(plain)
                                .build();
                ParquetWriter<GenericRecord> writer =
                        AvroParquetWriter.<GenericRecord>builder(new LocalOutputFile(Path.of(given[2])))
                                .withSchema(schema)
                                .withDataModel(plain)
                                .withCompressionCodec(CompressionCodecName.SNAPPY)
                                .build()) {
            for (GenericRecord record = reader.read(); record != null; record = reader.read()) {
                writer.write(record);
            }
        }
    }
}
