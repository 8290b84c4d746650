// Node's test runner runs this beside a copy of the page's files: what needs no browser.

import assert from "node:assert/strict";
import test from "node:test";
import { split } from "./static/arguments.js";
import { wrapped } from "./static/boxes.js";
import { bytes, counted, duration, fine, number, rate, share, watermark } from "./static/format.js";
import { layout } from "./static/layout.js";
import { lineOf as pathOf, recall, remember } from "./static/chart.js";
import { framesOf, hottest } from "./static/flame.js";
import { subtasksOf } from "./static/groups.js";
import { pause } from "./static/poll.js";
import { durationOf, phasesOf } from "./static/timeline.js";
import { bestColumns, ticks } from "./static/sql/chart.js";
import { Changelog } from "./static/sql/changelog.js";
import { effect } from "./static/sql/effects.js";
import { withoutSecrets } from "./static/sql/history.js";
import { filledIn, parameters } from "./static/sql/parameters.js";
import { parts, readPlan } from "./static/sql/plan.js";
import { cause, pointedAt } from "./static/sql/session.js";
import { offsetOf, placeOf, statementAt, statements } from "./static/sql/tokens.js";
import { lineOf } from "./static/views/exceptions.js";
import { classOf } from "./static/views/log.js";
import { formatOf } from "./static/views/metrics.js";

const graph = (edges) => Object.entries(edges).map(([id, inputs]) => ({ id, inputs }));
const column = (places, id) => places.get(id).column;

test("a vertex is to the right of all that it reads", () => {
  const places = layout(graph({ a: [], b: ["a"], c: ["b"], d: ["a", "c"] }));
  assert.deepEqual(["a", "b", "c", "d"].map((id) => column(places, id)), [0, 1, 2, 3]);
});

test("vertices are listed in any order", () => {
  const places = layout(graph({ d: ["a", "c"], c: ["b"], b: ["a"], a: [] }));
  assert.deepEqual(["a", "b", "c", "d"].map((id) => column(places, id)), [0, 1, 2, 3]);
});

test("arrows that would cross do not", () => {
  const places = layout(graph({ a: [], b: [], c: ["b"], d: ["a"] }));
  assert.equal(places.get("a").row < places.get("b").row, places.get("d").row < places.get("c").row);
});

test("an arrow back moves nothing, and no two vertices are at one place", () => {
  const places = layout(graph({ a: [], b: ["a", "c"], c: ["b"], d: ["c"] }));
  assert.equal(new Set([...places.values()].map(({ column, row }) => `${column} ${row}`)).size, 4);
  assert.equal(column(places, "a"), 0);
});

test("an input that is no vertex is passed over", () => {
  assert.deepEqual([...layout(graph({ a: ["gone"] })).values()], [{ column: 0, row: 0 }]);
});

test("a chain of 20,000 vertices is laid out", () => {
  const vertices = Array.from({ length: 20_000 }, (_, place) => ({ id: `${place}`, inputs: place > 0 ? [`${place - 1}`] : [] }));
  assert.equal(column(layout(vertices.reverse()), "19999"), 19_999);
});

test("numbers are short and what is unknown is a dash", () => {
  assert.deepEqual([0, 7, 999, 1000, 1234567, 0.25].map(number), ["0", "7", "999", "1 k", "1.23 M", "0.25"]);
  assert.deepEqual([0, 1536, -1].map(bytes), ["0 B", "1.5 KiB", "–"]);
  assert.deepEqual([12.5, null].map(rate), ["12.5/s", "–"]);
  assert.deepEqual([0, 1, 2].map((value) => counted(value, "key")), ["0 keys", "1 key", "2 keys"]);
  assert.deepEqual([0, 0.456, undefined].map(share), ["0 %", "46 %", "–"]);
});

test("durations have two units at most", () => {
  const times = [-1, 0, 850, 12_000, 185_000, 3_600_000, 7_440_000, 266_400_000];
  assert.deepEqual(times.map(duration), ["–", "0 ms", "850 ms", "12 s", "3 min 5 s", "1 h", "2 h 4 min", "3 d 2 h"]);
});

test("the ends of time are named", () => {
  assert.deepEqual([null, -(2 ** 63), 2 ** 63 - 1].map(watermark), ["–", "none yet", "the end"]);
});

test("a server that does not answer is asked less and less often", () => {
  assert.deepEqual([0, 1, 2, 3, 4, 5, 50].map((failures) => pause(1000, failures)), [1000, 2000, 4000, 8000, 16000, 30000, 30000]);
});

test("the line of the program is the innermost that is named", () => {
  assert.equal(lineOf('  File "/lib/x.py", line 3, in run\n  File "/home/me/job.py", line 12, in f\nZeroDivisionError'), "/home/me/job.py:12");
  assert.equal(lineOf("map 'divide' (job.py:3) failed: raised ZeroDivisionError at /home/me/job.py:4; got 1"), "/home/me/job.py:4");
  assert.equal(lineOf("its driver ended"), null);
});

const one = (text) => statements(text)[0];
const changelog = (changes, most) => {
  const log = new Changelog(most);
  for (const [kind, ...fields] of changes) log.add({ kind: { "+": "INSERT", "-": "DELETE", b: "UPDATE_BEFORE", a: "UPDATE_AFTER" }[kind], fields });
  return log;
};
const shown = (log) => log.all().map((row) => row.fields.join());

test("a text is split at semicolons that are none of a string, a comment or a statement set", () => {
  const set = "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END";
  const found = statements(`-- one; two\nSELECT ';' AS \`a;b\` /* ; */;\n\n${set};`).map((each) => each.text);
  assert.deepEqual(found, ["SELECT ';' AS `a;b`", set]);
  assert.deepEqual(statements("  -- nothing\n;;"), []);
});

test("the statement of the cursor is the one that it is in or behind", () => {
  const text = "SELECT 1;\n\nSELECT 2;\n";
  assert.deepEqual([0, 9, 10, 11, 15, 21].map((cursor) => statementAt(text, cursor).text), ["SELECT 1", "SELECT 1", "SELECT 1", "SELECT 2", "SELECT 2", "SELECT 2"]);
  assert.equal(statementAt("  SELECT 1", 0).text, "SELECT 1");
  assert.equal(statementAt("-- x", 2), null);
});

test("lines and columns are those of the server, which counts characters", () => {
  const text = "SELECT '😀', a\nFROM t";
  assert.equal(text[offsetOf(text, 1, 13)], "a");
  assert.deepEqual(placeOf(text, text.indexOf("a")), { line: 1, column: 13 });
  assert.equal(text.slice(offsetOf(text, 2, 6)), "t");
  assert.equal(offsetOf(text, 9, 9), text.length);
});

test("parameters are put in as literals, whatever is in them", () => {
  const statement = one("SELECT ':no', `:nor`, a FROM t WHERE b = :b AND c>:c AND d = :b");
  assert.deepEqual(parameters(statement).map((each) => each.name), ["b", "c", "b"]);
  const values = new Map([["b", { kind: "text", text: "x' OR '1'='1" }], ["c", { kind: "number", text: " 1.5 " }]]);
  const { text, back } = filledIn(statement, values);
  assert.equal(text, "SELECT ':no', `:nor`, a FROM t WHERE b = 'x'' OR ''1''=''1' AND c>1.5 AND d = 'x'' OR ''1''=''1'");
  assert.equal(statement.text.slice(back(text.indexOf("AND d"))).slice(0, 5), "AND d");
  assert.equal(statement.text.slice(back(text.indexOf("1.5") + 1)).slice(0, 2), ":c");
  assert.throws(() => filledIn(statement, new Map([["b", { kind: "number", text: "1; DROP TABLE t" }]])), /parameter b is no number/);
});

test("what a statement will do is said in words, or it only looks", () => {
  const title = (text) => effect(one(text))?.title ?? null;
  assert.equal(title("INSERT INTO a.`b c` SELECT 1"), "INSERT into a.`b c`");
  assert.equal(title("CREATE TABLE IF NOT EXISTS t AS SELECT 1"), "A new table t, filled by a query");
  assert.equal(title("STOP JOB 'x'"), "Stop a job");
  assert.deepEqual(["SELECT 1", "CREATE TABLE t (a INT)", "SHOW JOBS", "EXPLAIN INSERT INTO t SELECT 1"].map(title), [null, null, null, null]);
});

test("insertions and retractions move rows, and an update stays where it was", () => {
  const log = changelog([["+", "a", "1"], ["+", "b", "1"], ["b", "a", "1"]]);
  assert.deepEqual(shown(log), ["b,1"]);
  log.add({ kind: "UPDATE_AFTER", fields: ["a", "2"] });
  assert.deepEqual(shown(log), ["a,2", "b,1"]);
  log.add({ kind: "DELETE", fields: ["b", "1"] });
  assert.deepEqual(shown(log), ["a,2"]);
});

test("equal rows are counted, and a retraction without an update takes its row away", () => {
  const log = changelog([["+", "a"], ["+", "a"], ["-", "a"], ["b", "a"], ["+", "c"]]);
  assert.deepEqual(shown(log), ["c"]);
  assert.deepEqual(shown(changelog([["-", "never came"], ["+", null]])), [""]);
});

test("of too many rows the newest are kept", () => {
  const log = changelog([["+", "a"], ["+", "b"], ["+", "c"], ["-", "a"]], 2);
  assert.deepEqual([shown(log), log.dropped], [["b", "c"], 1]);
});

test("secrets of options are not remembered", () => {
  const text = "CREATE TABLE t (a INT) WITH ('url' = 'x', 'password'='it''s', 'properties.sasl.jaas.config' = 'y', 'aws.secret-key' = 'z')";
  assert.equal(withoutSecrets(text), "CREATE TABLE t (a INT) WITH ('url' = 'x', 'password'='***', 'properties.sasl.jaas.config' = '***', 'aws.secret-key' = '***')");
});

test("an error says where it is, and only what its author needs", () => {
  const message = "Internal server error.\n<Exception on server side:\nCaused by: query (line 2, column 3) has x\n\tat firesteel\nEnd";
  assert.equal(cause(message), "query (line 2, column 3) has x");
  assert.deepEqual(pointedAt(cause(message)), { text: "(line 2, column 3)", line: 2, column: 3 });
  assert.equal(pointedAt("no place"), null);
});

test("an axis has steps that people like", () => {
  assert.deepEqual(ticks(0, 10), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(ticks(0, 4), [0, 1, 2, 3, 4]);
  assert.equal(ticks(3, 3).length > 0, true);
});

test("a chart is drawn over a time, a text, or what there is", () => {
  const columns = (...types) => types.map((type, place) => ({ name: `c${place}`, logicalType: { type } }));
  assert.deepEqual(bestColumns(columns("VARCHAR", "BIGINT")), { x: 0, y: 1 });
  assert.deepEqual(bestColumns(columns("VARCHAR", "DATE", "DOUBLE")), { x: 1, y: 2 });
  assert.deepEqual(bestColumns(columns("INTEGER")), { x: 0, y: 0 });
  assert.equal(bestColumns(columns("VARCHAR")), null);
});

test("arguments are split as a shell does", () => {
  assert.deepEqual(split(`a "b c" 'd"e' f\\ g "" h"i"`), ["a", "b c", 'd"e', "f g", "", "hi"]);
  assert.deepEqual(split("  "), []);
  assert.throws(() => split("a 'b"), /without its end/);
});

test("a plan is read from what EXPLAIN answers", () => {
  const answer = '== Abstract ==\nx\n\n== Physical Execution Plan ==\n{"nodes": [{"id": 1}]}\n';
  assert.deepEqual(readPlan(answer), { text: "== Abstract ==\nx", nodes: [{ id: 1 }] });
  assert.deepEqual(parts("[4]:Calc(select=[a(b)])"), { name: "Calc", rest: "select=[a(b)]" });
  assert.deepEqual(wrapped("a bb ccc dddd", 6, 2), ["a bb", "ccc d…"]);
  assert.deepEqual(wrapped("a", 6, 2), ["a", ""]);
});

test("short times have their unit", () => {
  assert.deepEqual([0, 0.0006, 0.25, 3.21, 850, 1750, 12_000, null].map(fine), ["0 ms", "0.6 µs", "0.25 ms", "3.21 ms", "850 ms", "1.75 s", "12 s", "–"]);
});

test("a line has a gap where nothing is known", () => {
  const points = [1, null, 3, 4].map((value, at) => ({ at, values: [value] }));
  assert.equal(pathOf(points, 0, (at) => at * 10, (value) => value), "M0 1M20 3L30 4");
});

test("a point of the same time is not added, and the oldest go", () => {
  const points = [];
  for (let at = 0; at < 700; at += 1) remember(points, { at, values: [at] });
  remember(points, { at: 699, values: [0] });
  assert.deepEqual([points.length, points[0].at, points.at(-1).values[0]], [600, 100, 699]);
});

test("what was before is put before what is known, each time once", () => {
  const points = [3, 4].map((at) => ({ at, values: [at] }));
  recall(points, [1, 2, 3].map((at) => ({ at, values: [0] })));
  assert.deepEqual(points.map(({ at, values }) => [at, values[0]]), [[1, 0], [2, 0], [3, 3], [4, 4]]);
  const none = [];
  recall(none, [{ at: 1, values: [5] }]);
  assert.deepEqual(none, [{ at: 1, values: [5] }]);
});

test("calls are beside each other below the call that made them, and narrow ones are left out", () => {
  const tree = { name: "root", value: 10, children: [{ name: "a", value: 7, children: [] }, { name: "b", value: 3, children: [{ name: "a", value: 2, children: [] }] }] };
  const frames = framesOf(tree).map(({ node, depth, start }) => `${node.name} ${depth} ${start}`);
  assert.deepEqual(frames.sort(), ["a 1 0", "a 2 7", "b 1 7", "root 0 0"]);
  assert.equal(framesOf(tree, 2).length, 3);
  assert.deepEqual(hottest(tree, 2), [["a", 9], ["b", 1]]);
});

test("key groups are assigned as the engine does", () => {
  assert.deepEqual(subtasksOf(8, 3).map(({ first, last }) => [first, last]), [[0, 2], [3, 5], [6, 7]]);
  assert.deepEqual(subtasksOf(2, 4).map(({ subtask }) => subtask), [0, 2]);
});

test("the phases of an epoch are its time, and a wait is told if there was one", () => {
  const epoch = { plan: 1, run: 20, wait: 0, commit: 3, publish: 4.5 };
  assert.equal(durationOf(epoch), 28.5);
  assert.equal(phasesOf(epoch), "planned 1 ms, run 20 ms, committed 3 ms, published 4.5 ms");
  assert.match(phasesOf({ ...epoch, wait: 2 }), /waited 2 ms/);
});

test("lines of a log have their level, and metrics their units", () => {
  const lines = ["26/11/23 WARN Utils: x", "ERROR y", "2026 INFO z", "no level", "WARNING: z"];
  assert.deepEqual(lines.map(classOf), ["warn", "error", null, null, "warn"]);
  const shown = (name, way = "sum") => formatOf({ name, way })(2048);
  assert.deepEqual(["numBytesOut", "numRecordsIn", "statePersistTimeMs", "busyTimeMsPerSecond"].map((name) => shown(name)), ["2 KiB", "2.05 k", "2.05 s", "205 %"]);
  assert.equal(shown("numRecordsIn", "skew"), "2048 %");
});
