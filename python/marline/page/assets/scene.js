// SPDX-License-Identifier: Apache-2.0
// What is to be drawn, and where: layers of bars by lane, levels for views from afar, tasks and what joins them. All
// times are ns since the first one of the page.

const HEIGHTS = { thread: 20, suspended: 8, device: 13 };
const STRIP = 6; // of a loop or region, above its thread
const LAYERS = ["regions", "main", "calls"];
const ON_PATH = 1,
  ON_CHAIN = 2;

class Layer {
  // `levels`: parts of each level of this layer.
  constructor(columns, name, lanes, levels) {
    const column = (what) => columns[`${name}.${what}`];
    this.name = name;
    this.lane = column("lane");
    this.start = column("start");
    this.end = column("time").map((time, row) => this.start[row] + time);
    this.kind = column("style"); // what a bar is
    this.style = this.kind; // its colour: of what it is, or of its iteration
    this.task = column("task");
    this.text = column("name");
    this.bytes = column("bytes");
    this.first = firsts(this.lane, lanes);
    this.levels = readLevels(columns, name, levels);
  }

  // Rows of a lane that reach into [from, to): first and last + 1. Bars of a lane do not overlap, so ends grow, too.
  rows(lane, from, to) {
    const low = firstAbove(this.end, from, this.first[lane], this.first[lane + 1]);
    return [low, firstAbove(this.start, to, low, this.first[lane + 1])];
  }
}

function readLevels(columns, name, levels) {
  return levels.map((parts, number) => ({
    parts,
    cell: columns[`${name}.${number}.cell`],
    style: columns[`${name}.${number}.style`],
    share: columns[`${name}.${number}.share`],
  }));
}

class Scene {
  constructor(meta, columns) {
    Object.assign(this, { meta, columns, styles: meta.styles, names: meta.names, lanes: meta.lanes });
    const sublanes = (name) => this.lanes.length * (name === "regions" ? meta.nested : 1);
    this.layers = {};
    for (const name of LAYERS) this.layers[name] = new Layer(columns, name, sublanes(name), meta.levels[name]);
    this.end = meta.end - meta.begin;
    this.home = meta.home.map((time) => time - meta.begin);
    this.whole = meta.whole.map((span) => span.map((time) => time - meta.begin));
    this.#place();
    this.#readTasks();
    this.#readIterations();
    this.chain = {
      start: columns["chain.start"],
      time: columns["chain.time"],
      lane: columns["chain.lane"],
      to: columns["chain.to_lane"],
      kind: columns["chain.kind"],
    };
  }

  // Where each lane lies: `top` of its strips, `main` of its bars.
  #place() {
    const { nested } = this.meta,
      regions = this.layers.regions;
    let y = 4,
      rank = this.lanes.length ? this.lanes[0].rank : 0;
    this.rows = this.lanes.map((lane, number) => {
      if (lane.rank !== rank) y += 10;
      rank = lane.rank;
      let depth = 0;
      for (let level = 0; level < nested; level++)
        if (regions.first[number * nested + level + 1] > regions.first[number * nested + level]) depth = level + 1;
      const top = y,
        main = y + depth * STRIP,
        height = HEIGHTS[lane.kind];
      y = main + height + (lane.kind === "thread" ? 3 : 1);
      return { top, main, height, depth, bottom: main + height };
    });
    this.height = y + 4;
  }

  #readTasks() {
    const columns = this.columns,
      tasks = columns["task.number"].length,
      main = this.layers.main;
    this.tasks = { count: tasks };
    for (const name of ["number", "kind", "mark", "created", "ready", "running", "slack", "iteration"])
      this.tasks[name] = columns[`task.${name}`];
    this.tasks.first = new Int32Array(tasks).fill(-1);
    this.tasks.last = new Int32Array(tasks).fill(-1);
    for (let row = 0; row < main.task.length; row++) {
      const task = main.task[row];
      if (task < 0 || this.lanes[main.lane[row]].kind !== "thread") continue;
      const { first, last } = this.tasks;
      if (first[task] < 0 || main.start[row] < main.start[first[task]]) first[task] = row;
      if (last[task] < 0 || main.end[row] > main.end[last[task]]) last[task] = row;
    }
    this.sinks = columns["edge.sink"];
    this.sources = columns["edge.back"].map((back, row) => this.sinks[row] - back);
    this.incoming = firsts(this.sinks, tasks);
    this.messages = {};
    for (const name of ["start", "time", "lane", "to_lane", "task", "to_task", "bytes"])
      this.messages[name] = columns[`message.${name}`];
  }

  // The same bars and levels, coloured by iteration: its styles are the last ones.
  #readIterations() {
    const { iterations: colors, styles, levels } = this.meta,
      { main } = this.layers,
      { iteration } = this.tasks,
      kinds = styles.filter((style) => style.key === "task").length;
    this.paints = { kind: [main.kind, main.levels] };
    if (!colors) return;
    const ofBar = main.kind.map((kind, row) => {
      const number = main.task[row] >= 0 && kind < kinds ? iteration[main.task[row]] : 0;
      return number ? styles.length - colors + ((number - 1) % colors) : kind;
    });
    this.paints.iteration = [ofBar, readLevels(this.columns, "iterations", levels.iterations)];
  }

  // `by`: "kind" or "iteration".
  paint(by) {
    [this.layers.main.style, this.layers.main.levels] = this.paints[by];
  }

  predecessors(task) {
    return Array.from(this.sources.subarray(this.incoming[task], this.incoming[task + 1]));
  }

  successors(task) {
    if (!this.outgoing) {
      // only now: most readers never ask
      const order = Uint32Array.from(this.sources.keys()).sort((a, b) => this.sources[a] - this.sources[b]);
      this.outgoing = {
        order,
        first: firsts(
          Float64Array.from(order, (row) => this.sources[row]),
          this.tasks.count,
        ),
      };
    }
    const { order, first } = this.outgoing;
    return Array.from(order.subarray(first[task], first[task + 1]), (row) => this.sinks[row]);
  }

  messagesOf(task) {
    const found = [],
      { task: from, to_task: to } = this.messages;
    for (let row = 0; row < from.length; row++) if (from[row] === task || to[row] === task) found.push(row);
    return found;
  }

  nameOf(layer, row) {
    const text = this.layers[layer].text[row];
    const style = this.styles[this.layers[layer].kind[row]];
    return text >= 0 ? this.names[text] : style.name;
  }

  laneOf(layer, row) {
    const lane = this.layers[layer].lane[row];
    return layer === "regions" ? Math.floor(lane / this.meta.nested) : lane;
  }

  // Whether the page has every bar of [from, to).
  hasAll(from, to) {
    return this.whole.some(([start, end]) => start <= Math.max(from, 0) && Math.min(to, this.end) <= end);
  }

  laneAt(y) {
    return this.rows.findIndex((row) => y >= row.top - 1 && y <= row.bottom + 1);
  }

  // The bar of a lane from `from` to `to`, of whatever layer; else what the lane does in the middle of it.
  barOf(lane, from, to) {
    const { nested } = this.meta;
    const regions = Array.from({ length: nested }, (_, depth) => ["regions", lane * nested + depth]);
    for (const [layer, sublane] of [...regions, ["calls", lane], ["main", lane]]) {
      const { start, end } = this.layers[layer];
      const row = firstAbove(end, from, this.layers[layer].first[sublane], this.layers[layer].first[sublane + 1]);
      if (row < this.layers[layer].first[sublane + 1] && start[row] === from && end[row] === to) return { layer, row };
    }
    return this.barAt((from + to) / 2, this.rows[lane].main + 1, 0);
  }

  // The bar at a time and height, {layer, row}, or null. `slack`: how far beside it, in ns.
  barAt(time, y, slack) {
    const lane = this.laneAt(y);
    if (lane < 0) return null;
    const { main, height, top } = this.rows[lane];
    const { nested } = this.meta;
    const tries = [];
    if (y < main) tries.push(["regions", lane * nested + Math.min(Math.floor((y - top) / STRIP), nested - 1)]);
    else {
      if (Math.abs(y - main - height / 2) <= height * (this.lanes[lane].has_tasks ? 0.2 : 0.4))
        tries.push(["calls", lane]);
      tries.push(["main", lane]);
    }
    for (const [layer, sublane] of tries) {
      const [low, high] = this.layers[layer].rows(sublane, time - slack, time + slack);
      let best = -1,
        distance = Infinity;
      for (let row = low; row < Math.min(high, low + 50); row++) {
        const away = Math.max(this.layers[layer].start[row] - time, time - this.layers[layer].end[row], 0);
        if (away < distance) [best, distance] = [row, away];
      }
      if (best >= 0) return { layer, row: best };
    }
    return null;
  }
}
