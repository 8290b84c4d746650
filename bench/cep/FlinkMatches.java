import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichFilterFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.cep.CEP;
import org.apache.flink.cep.functions.PatternProcessFunction;
import org.apache.flink.cep.pattern.Pattern;
import org.apache.flink.cep.pattern.conditions.SimpleCondition;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.functions.source.legacy.RichParallelSourceFunction;
import org.apache.flink.util.Collector;

/**
 * Looks for matches with Flink's CEP library: "FlinkMatches CASE KEYS PER_MS WITHIN_MS SPREAD KINDS COUNT...".
 *
 * <p>Runs the job over so many events each time, after a run over the first number that does not count, and prints a line
 * of JSON. KINDS is a file; `events.py` describes the events.
 */
public class FlinkMatches {
    private static final int PARALLELISM = 2;

    private static String[] kinds;
    private static long keys;
    private static long perMs;
    private static long withinMs;
    private static long spread;

    public static void main(String[] arguments) throws Exception {
        keys = Long.parseLong(arguments[1]);
        perMs = Long.parseLong(arguments[2]);
        withinMs = Long.parseLong(arguments[3]);
        spread = Long.parseLong(arguments[4]);
        kinds = Files.readString(Path.of(arguments[5])).split("");
        boolean matching = arguments[0].equals("matches");
        run(Long.parseLong(arguments[6]), matching);
        List<String> found = new ArrayList<>();
        for (int place = 6; place < arguments.length; place++) {
            found.add(run(Long.parseLong(arguments[place]), matching));
        }
        System.out.println(found);
    }

    private static String run(long count, boolean matching) throws Exception {
        Configuration configuration = new Configuration();
        configuration.set(PipelineOptions.OBJECT_REUSE, true);
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.createLocalEnvironment(PARALLELISM, configuration);
        KeyedStream<Tuple3<Long, String, Long>, Long> events =
                env.addSource(new Events(count), "events", Types.TUPLE(Types.LONG, Types.STRING, Types.LONG))
                        .assignTimestampsAndWatermarks(
                                WatermarkStrategy.<Tuple3<Long, String, Long>>forMonotonousTimestamps()
                                        .withTimestampAssigner((event, time) -> event.f2 / perMs))
                        .keyBy(event -> event.f0, Types.LONG);
        DataStream<?> results =
                matching
                        ? CEP.pattern(events, pattern()).process(new Between(), Types.LONG).filter(new Count())
                        : events.filter(event -> event.f2 < 0);
        results.sinkTo(new DiscardingSink<>());
        OperatingSystemMXBean system =
                ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        long used = system.getProcessCpuTime();
        long began = System.nanoTime();
        JobExecutionResult job = env.execute();
        double seconds = (System.nanoTime() - began) / 1e9;
        double cpu = (system.getProcessCpuTime() - used) / 1e9;
        return String.format(
                Locale.ROOT,
                "{\"events\": %d, \"seconds\": %.3f, \"cpu\": %.2f, \"results\": [%d, %d]}",
                count,
                seconds,
                cpu,
                matching ? job.<Long>getAccumulatorResult("results") : 0,
                matching ? job.<Long>getAccumulatorResult("total") : 0);
    }

    private static Pattern<Tuple3<Long, String, Long>, ?> pattern() {
        return Pattern.<Tuple3<Long, String, Long>>begin("a")
                .where(SimpleCondition.of(event -> event.f1.equals("A")))
                .followedBy("b")
                .where(SimpleCondition.of(event -> event.f1.equals("B")))
                .within(Duration.ofMillis(withinMs));
    }

    /** Each subtask generates its lane: every second event. */
    private static class Events extends RichParallelSourceFunction<Tuple3<Long, String, Long>> {
        private final long count;
        private volatile boolean running = true;

        Events(long count) {
            this.count = count;
        }

        @Override
        public void run(SourceContext<Tuple3<Long, String, Long>> context) {
            int lane = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
            for (long number = lane; number < count && running; number += PARALLELISM) {
                String kind = kinds[(int) (number % kinds.length)];
                synchronized (context.getCheckpointLock()) {
                    context.collect(Tuple3.of(number * spread % keys, kind, number));
                }
            }
        }

        @Override
        public void cancel() {
            running = false;
        }
    }

    /** Returns how many events lie between the two of a match. */
    private static class Between extends PatternProcessFunction<Tuple3<Long, String, Long>, Long> {
        @Override
        public void processMatch(
                Map<String, List<Tuple3<Long, String, Long>>> match, Context context, Collector<Long> out) {
            out.collect(match.get("b").get(0).f2 - match.get("a").get(0).f2);
        }
    }

    /** Counts matches and adds up their numbers; the functions of CEP itself have no accumulators. */
    private static class Count extends RichFilterFunction<Long> {
        private final LongCounter results = new LongCounter();
        private final LongCounter total = new LongCounter();

        @Override
        public void open(OpenContext context) {
            getRuntimeContext().addAccumulator("results", results);
            getRuntimeContext().addAccumulator("total", total);
        }

        @Override
        public boolean filter(Long between) {
            results.add(1);
            total.add(between);
            return false;
        }
    }
}
