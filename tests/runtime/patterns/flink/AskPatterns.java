import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.cep.configuration.SharedBufferCacheConfig;
import org.apache.flink.cep.nfa.NFA;
import org.apache.flink.cep.nfa.NFAState;
import org.apache.flink.cep.nfa.State;
import org.apache.flink.cep.nfa.StateTransition;
import org.apache.flink.cep.nfa.StateTransitionAction;
import org.apache.flink.cep.nfa.aftermatch.AfterMatchSkipStrategy;
import org.apache.flink.cep.nfa.aftermatch.SkipToFirstStrategy;
import org.apache.flink.cep.nfa.aftermatch.SkipToLastStrategy;
import org.apache.flink.cep.nfa.compiler.NFACompiler;
import org.apache.flink.cep.nfa.sharedbuffer.SharedBuffer;
import org.apache.flink.cep.nfa.sharedbuffer.SharedBufferAccessor;
import org.apache.flink.cep.pattern.Pattern;
import org.apache.flink.cep.pattern.WithinType;
import org.apache.flink.cep.pattern.conditions.IterativeCondition;
import org.apache.flink.cep.pattern.conditions.SimpleCondition;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * Answers what Flink's automaton finds: reads cases, a JSON object a line, and writes them with their answers.
 *
 * <p>A case has the calls that define the pattern, and runs: lists of events, each a letter, a number and a time. The
 * answers of a run are matches ("m") and partial matches that ran out of time ("t"), each with its time and the numbers
 * of its events by step. Time goes on millisecond by millisecond, and for a while after the last event.
 */
public class AskPatterns {
    private static final long AFTERWARDS = 25;
    private static final ObjectMapper JSON = new ObjectMapper();

    static List<Event> events;

    record Event(int id, char letter, int number, long time) {}

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, false, "UTF-8");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            ObjectNode asked = (ObjectNode) JSON.readTree(line);
            try {
                Pattern<Integer, ?> pattern = pattern(asked.get("calls"));
                NFACompiler.NFAFactory<Integer> factory = compiled(pattern);
                ArrayNode answers = asked.putArray("answers");
                for (JsonNode run : asked.get("runs")) {
                    answers.add(answer(factory, pattern.getAfterMatchSkipStrategy(), run));
                }
            } catch (RuntimeException refused) {
                asked.put("refused", refused.getClass().getSimpleName() + ": " + refused.getMessage());
                asked.remove("answers");
            }
            out.println(JSON.writeValueAsString(asked));
        }
        out.flush();
    }

    static NFACompiler.NFAFactory<Integer> compiled(Pattern<Integer, ?> pattern) {
        NFACompiler.NFAFactory<Integer> factory = NFACompiler.compileFactory(pattern, true);
        for (State<Integer> state : factory.createNFA().getStates()) {
            refuseEndless(state, new HashSet<>());
        }
        return factory;
    }

    /** Refuses what Flink accepts and then never comes to an end of: states that proceed to themselves. */
    private static void refuseEndless(State<Integer> state, HashSet<State<Integer>> before) {
        if (!before.add(state)) {
            throw new IllegalStateException("endless");
        }
        for (StateTransition<Integer> transition : state.getStateTransitions()) {
            if (transition.getAction() == StateTransitionAction.PROCEED) {
                refuseEndless(transition.getTargetState(), before);
            }
        }
        before.remove(state);
    }

    @SuppressWarnings("unchecked")
    static Pattern<Integer, Integer> pattern(JsonNode calls) {
        Pattern<Integer, Integer> pattern = null;
        for (JsonNode call : calls) {
            pattern = (Pattern<Integer, Integer>) apply(pattern, call.get(0).asText(), call);
        }
        return pattern;
    }

    private static Pattern<Integer, ?> apply(Pattern<Integer, Integer> pattern, String name, JsonNode call) {
        JsonNode first = call.get(1);
        boolean group = first != null && first.isArray();
        switch (name) {
            case "begin":
                AfterMatchSkipStrategy skip = skip(call.get(2));
                return group ? Pattern.begin(pattern(first), skip) : Pattern.begin(first.asText(), skip);
            case "next":
                return group ? pattern.next(pattern(first)) : pattern.next(first.asText());
            case "followed_by":
                return group ? pattern.followedBy(pattern(first)) : pattern.followedBy(first.asText());
            case "followed_by_any":
                return group ? pattern.followedByAny(pattern(first)) : pattern.followedByAny(first.asText());
            case "not_next":
                return pattern.notNext(first.asText());
            case "not_followed_by":
                return pattern.notFollowedBy(first.asText());
            case "where":
                return pattern.where(condition(first.asText()));
            case "or_":
                return pattern.or(condition(first.asText()));
            case "until":
                return pattern.until(condition(first.asText()));
            case "within":
                return pattern.within(Duration.ofMillis(first.asLong()));
            case "within_previous":
                return pattern.within(Duration.ofMillis(first.asLong()), WithinType.PREVIOUS_AND_CURRENT);
            case "optional":
                return pattern.optional();
            case "greedy":
                return pattern.greedy();
            case "consecutive":
                return pattern.consecutive();
            case "allow_combinations":
                return pattern.allowCombinations();
            case "one_or_more":
                return first == null ? pattern.oneOrMore() : pattern.oneOrMore(Duration.ofMillis(first.asLong()));
            case "times_or_more":
                return pattern.timesOrMore(first.asInt());
            case "times":
                return times(pattern, call);
            default:
                throw new IllegalStateException(name);
        }
    }

    private static Pattern<Integer, ?> times(Pattern<Integer, Integer> pattern, JsonNode call) {
        int least = call.get(1).asInt();
        JsonNode most = call.get(2);
        JsonNode limit = call.get(3);
        if (limit != null) {
            return pattern.times(least, most.asInt(), Duration.ofMillis(limit.asLong()));
        }
        return most == null ? pattern.times(least) : pattern.times(least, most.asInt());
    }

    private static AfterMatchSkipStrategy skip(JsonNode skip) {
        if (skip == null) {
            return AfterMatchSkipStrategy.noSkip();
        }
        switch (skip.get(0).asText()) {
            case "skip_to_next":
                return AfterMatchSkipStrategy.skipToNext();
            case "skip_past_last_event":
                return AfterMatchSkipStrategy.skipPastLastEvent();
            case "skip_to_first":
                SkipToFirstStrategy first = AfterMatchSkipStrategy.skipToFirst(skip.get(1).asText());
                return skip.has(2) ? first.throwExceptionOnMiss() : first;
            default:
                SkipToLastStrategy last = AfterMatchSkipStrategy.skipToLast(skip.get(1).asText());
                return skip.has(2) ? last.throwExceptionOnMiss() : last;
        }
    }

    /** A condition: "ab" is one of these letters; "ab>c" also a number above all numbers of the events of step c. */
    private static IterativeCondition<Integer> condition(String text) {
        String[] parts = text.split(">");
        if (parts.length == 1) {
            return new SimpleCondition<>() {
                @Override
                public boolean filter(Integer event) {
                    return parts[0].indexOf(events.get(event).letter()) >= 0;
                }
            };
        }
        return new IterativeCondition<>() {
            @Override
            public boolean filter(Integer event, Context<Integer> context) throws Exception {
                if (parts[0].indexOf(events.get(event).letter()) < 0) {
                    return false;
                }
                for (Integer before : context.getEventsForPattern(parts[1])) {
                    if (events.get(event).number() <= events.get(before).number()) {
                        return false;
                    }
                }
                return true;
            }
        };
    }

    private static ArrayNode answer(NFACompiler.NFAFactory<Integer> factory, AfterMatchSkipStrategy skip, JsonNode run)
            throws Exception {
        events = new ArrayList<>();
        for (JsonNode event : run) {
            events.add(
                    new Event(
                            events.size(),
                            event.get(0).asText().charAt(0),
                            event.get(1).asInt(),
                            event.get(2).asLong()));
        }
        ArrayNode found = JSON.createArrayNode();
        NFA<Integer> nfa = factory.createNFA();
        NFAState state = nfa.createInitialNFAState();
        SharedBuffer<Integer> buffer =
                new SharedBuffer<>(
                        new Store().store(), IntSerializer.INSTANCE, SharedBufferCacheConfig.of(new Configuration()));
        try {
            long now = events.get(0).time() - 1;
            for (Event event : events) {
                for (; now < event.time(); now++) {
                    advance(nfa, buffer, state, now + 1, skip, found);
                }
                try (SharedBufferAccessor<Integer> accessor = buffer.getAccessor()) {
                    for (Map<String, List<Integer>> match :
                            nfa.process(accessor, state, event.id(), event.time(), skip, () -> 0L)) {
                        found.add(result("m", event.time(), match));
                    }
                }
            }
            for (long end = now + AFTERWARDS; now < end; now++) {
                advance(nfa, buffer, state, now + 1, skip, found);
            }
        } catch (RuntimeException failed) {
            found.add(failed.getClass().getSimpleName() + ": " + failed.getMessage());
        } finally {
            buffer.releaseCacheStatisticsTimer();
        }
        return found;
    }

    private static void advance(
            NFA<Integer> nfa,
            SharedBuffer<Integer> buffer,
            NFAState state,
            long time,
            AfterMatchSkipStrategy skip,
            ArrayNode found)
            throws Exception {
        try (SharedBufferAccessor<Integer> accessor = buffer.getAccessor()) {
            Tuple2<Collection<Map<String, List<Integer>>>, Collection<Tuple2<Map<String, List<Integer>>, Long>>> due =
                    nfa.advanceTime(accessor, state, time, skip);
            for (Map<String, List<Integer>> match : due.f0) {
                found.add(result("m", time, match));
            }
            for (Tuple2<Map<String, List<Integer>>, Long> late : due.f1) {
                found.add(result("t", late.f1, late.f0));
            }
        }
    }

    static ArrayNode result(String kind, long time, Map<String, List<Integer>> match) {
        ArrayNode result = JSON.createArrayNode().add(kind).add(time);
        ArrayNode steps = result.addArray();
        for (Map.Entry<String, List<Integer>> step : match.entrySet()) {
            ArrayNode taken = steps.addArray().add(step.getKey()).addArray();
            step.getValue().forEach(taken::add);
        }
        return result;
    }

    /** State in maps, by name. */
    private static class Store {
        private final Map<String, Object> states = new HashMap<>();

        KeyedStateStore store() {
            return (KeyedStateStore)
                    Proxy.newProxyInstance(
                            Store.class.getClassLoader(),
                            new Class<?>[] {KeyedStateStore.class},
                            (proxy, method, arguments) -> {
                                if (!method.getName().equals("getMapState")) {
                                    throw new UnsupportedOperationException(method.getName());
                                }
                                String name =
                                        ((org.apache.flink.api.common.state.StateDescriptor<?, ?>) arguments[0])
                                                .getName();
                                return states.computeIfAbsent(name, unused -> new Entries<>());
                            });
        }
    }

    private static class Entries<K, V> implements MapState<K, V> {
        private final Map<K, V> entries = new HashMap<>();

        public V get(K key) {
            return entries.get(key);
        }

        public void put(K key, V value) {
            entries.put(key, value);
        }

        public void putAll(Map<K, V> map) {
            entries.putAll(map);
        }

        public void remove(K key) {
            entries.remove(key);
        }

        public boolean contains(K key) {
            return entries.containsKey(key);
        }

        public Iterable<Map.Entry<K, V>> entries() {
            return entries.entrySet();
        }

        public Iterable<K> keys() {
            return entries.keySet();
        }

        public Iterable<V> values() {
            return entries.values();
        }

        public Iterator<Map.Entry<K, V>> iterator() {
            return entries.entrySet().iterator();
        }

        public boolean isEmpty() {
            return entries.isEmpty();
        }

        public void clear() {
            entries.clear();
        }
    }
}
