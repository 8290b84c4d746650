import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.cep.CEP;
import org.apache.flink.cep.functions.PatternProcessFunction;
import org.apache.flink.cep.functions.TimedOutPartialMatchHandler;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/**
 * Answers what Flink's operator finds in streams: reads cases, a JSON object a line, and writes them with their answers.
 *
 * <p>A case has patterns, and events in the order of their arrival: a key, a letter, a number, a time, and the watermark
 * after the event. The answers of a pattern are those of AskPatterns, and late events ("l").
 */
public class AskOperator {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final OutputTag<String> TIMED_OUT = new OutputTag<>("timed out", Types.STRING);
    private static final OutputTag<Integer> LATE = new OutputTag<>("late", Types.INT);

    private static List<String> keys;
    private static List<Long> watermarks;

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            ObjectNode asked = (ObjectNode) JSON.readTree(line);
            answer(asked);
            System.out.println(JSON.writeValueAsString(asked));
        }
    }

    private static void answer(ObjectNode asked) throws Exception {
        AskPatterns.events = new ArrayList<>();
        keys = new ArrayList<>();
        watermarks = new ArrayList<>();
        List<Integer> ids = new ArrayList<>();
        for (JsonNode event : asked.get("events")) {
            ids.add(ids.size());
            keys.add(event.get(0).asText());
            watermarks.add(event.get(4).asLong());
            AskPatterns.events.add(
                    new AskPatterns.Event(
                            keys.size() - 1,
                            event.get(1).asText().charAt(0),
                            event.get(2).asInt(),
                            event.get(3).asLong()));
        }
        StreamExecutionEnvironment env = StreamExecutionEnvironment.createLocalEnvironment(1);
        KeyedStream<Integer, String> stream =
                env.fromData(Types.INT, ids.toArray(new Integer[0]))
                        .assignTimestampsAndWatermarks(
                                WatermarkStrategy.<Integer>forGenerator(context -> new AsGiven())
                                        .withTimestampAssigner((id, time) -> AskPatterns.events.get(id).time()))
                        .keyBy(id -> keys.get(id), Types.STRING);
        DataStream<String> all = null;
        int number = 0;
        for (JsonNode calls : asked.get("patterns")) {
            final int place = number++;
            try {
                AskPatterns.compiled(AskPatterns.pattern(calls));
            } catch (RuntimeException refused) {
                continue;
            }
            SingleOutputStreamOperator<String> found =
                    CEP.pattern(stream, AskPatterns.pattern(calls))
                            .sideOutputLateData(LATE)
                            .process(new Found(place), Types.STRING);
            DataStream<String> late = found.getSideOutput(LATE).map(id -> place + " [\"l\"," + id + "]", Types.STRING);
            DataStream<String> each = found.union(found.getSideOutput(TIMED_OUT), late);
            all = all == null ? each : all.union(each);
        }
        List<ArrayNode> answers = new ArrayList<>();
        ArrayNode answered = asked.putArray("answers");
        for (int place = 0; place < number; place++) {
            answers.add(answered.addArray());
        }
        try (CloseableIterator<String> results = all.executeAndCollect()) {
            while (results.hasNext()) {
                String[] result = results.next().split(" ", 2);
                answers.get(Integer.parseInt(result[0])).add(JSON.readTree(result[1]));
            }
        }
    }

    private static class AsGiven implements WatermarkGenerator<Integer> {
        @Override
        public void onEvent(Integer id, long time, WatermarkOutput output) {
            output.emitWatermark(new Watermark(watermarks.get(id)));
        }

        @Override
        public void onPeriodicEmit(WatermarkOutput output) {}
    }

    private static class Found extends PatternProcessFunction<Integer, String>
            implements TimedOutPartialMatchHandler<Integer> {
        private final int place;

        Found(int place) {
            this.place = place;
        }

        @Override
        public void processMatch(Map<String, List<Integer>> match, Context context, Collector<String> out) {
            out.collect(place + " " + AskPatterns.result("m", context.timestamp(), match));
        }

        @Override
        public void processTimedOutMatch(Map<String, List<Integer>> match, Context context) {
            context.output(TIMED_OUT, place + " " + AskPatterns.result("t", context.timestamp(), match));
        }
    }
}
