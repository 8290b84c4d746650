/** Where the vertices of a graph are drawn: in columns, each to the right of all that it reads. */

const SWEEPS = 4;

/**
 * @typedef {{id: string, inputs: string[]}} Vertex
 * @typedef {{column: number, row: number}} Place
 *
 * Place vertices. Within a column they are ordered by the mean row of their neighbours, which keeps arrows short
 * (the barycenter method of Sugiyama, Tagawa and Toda). An arrow back, of an iteration, does not move anything.
 * @param {Vertex[]} vertices
 * @returns {Map<string, Place>}
 */
export function layout(vertices) {
  const inputs = new Map(vertices.map((vertex) => [vertex.id, vertex.inputs]));
  const columnOf = columns(inputs);
  const grid = [];
  for (const [id, column] of columnOf) (grid[column] ??= []).push(id);
  const outputs = new Map(vertices.map((vertex) => [vertex.id, []]));
  for (const vertex of vertices) for (const input of vertex.inputs) outputs.get(input)?.push(vertex.id);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const forward = sweep % 2 === 0;
    arrange(forward ? grid : [...grid].reverse(), forward ? inputs : outputs);
  }
  const places = new Map();
  grid.forEach((ids, column) => ids.forEach((id, row) => places.set(id, { column, row })));
  return places;
}

/** Give each vertex the column after the last of its inputs. A stack of our own, since graphs can be deep. */
function columns(inputs) {
  const found = new Map();
  const open = new Set();
  for (const start of inputs.keys()) {
    const stack = [start];
    while (stack.length > 0) {
      const id = stack[stack.length - 1];
      const sources = (inputs.get(id) ?? []).filter((source) => inputs.has(source));
      const waiting = open.has(id) ? [] : sources.filter((source) => !found.has(source) && !open.has(source));
      open.add(id);
      if (waiting.length > 0) {
        stack.push(...waiting);
        continue;
      }
      if (!found.has(id)) found.set(id, Math.max(-1, ...sources.map((source) => found.get(source) ?? -1)) + 1);
      stack.pop();
    }
  }
  return found;
}

/** Order each column by the rows that its neighbours have in those before it. */
function arrange(grid, neighbours) {
  const rows = new Map();
  for (const ids of grid) {
    const wish = new Map(ids.map((id, row) => [id, mean((neighbours.get(id) ?? []).map((other) => rows.get(other)), row)]));
    ids.sort((one, other) => wish.get(one) - wish.get(other));
    ids.forEach((id, row) => rows.set(id, row));
  }
}

function mean(rows, otherwise) {
  const known = rows.filter((row) => row !== undefined);
  return known.length === 0 ? otherwise : known.reduce((sum, row) => sum + row, 0) / known.length;
}
