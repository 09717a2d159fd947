// SPDX-License-Identifier: Apache-2.0
// What is drawn over the bars: the critical path, what bounded the run, arrows, and what is selected. Each function gets
// the Gantt, and counts what it draws.

function drawPath(gantt, visible) {
  const { context, scene } = gantt,
    { main } = scene.layers;
  context.fillStyle = gantt.pathColor;
  let marks = 0;
  for (const lane of visible) {
    if (scene.lanes[lane].kind !== "thread") continue;
    const [low, high] = main.rows(lane, gantt.from, gantt.to),
      { bottom } = scene.rows[lane];
    let edge = -1;
    for (let row = low; row < high && marks < MOST_MARKS; row++) {
      if (main.task[row] < 0 || !(scene.tasks.mark[main.task[row]] & ON_PATH)) continue;
      const left = gantt.x(main.start[row]),
        right = Math.max(gantt.x(main.end[row]), left + 1);
      if (right < edge + 0.5) continue;
      edge = right;
      context.fillRect(left, bottom - 4, right - left, 4);
      marks++;
    }
  }
  gantt.stats.objects += marks;
}

// One line through the run, from thread to thread, under the bars that it goes through. Steps that share pixels are
// drawn once, so that it costs no more the further away one is.
function drawChain(gantt) {
  const { chain, rows } = gantt.scene,
    line = new ChainLine();
  const y = (lane) => rows[lane].bottom - 1;
  let step = Math.max(firstAbove(chain.start, gantt.from, 0, chain.start.length) - 1, 0),
    at = null;
  for (; step < chain.start.length && chain.start[step] <= gantt.to && line.count < MOST_STEPS; step++) {
    const left = Math.round(gantt.x(chain.start[step])),
      right = Math.round(gantt.x(chain.start[step] + chain.time[step]));
    const from = chain.lane[step] >= 0 ? y(chain.lane[step]) : at,
      to = chain.to[step] >= 0 ? y(chain.to[step]) : from;
    at = to;
    if (from !== null && right >= GUTTER - 4) line.add(left, from, right, to);
  }
  line.draw(gantt.context, gantt.cardColor, 2, 4.5);
  line.draw(gantt.context, gantt.chainColor, 1, 2.2);
  gantt.stats.objects += 2 * line.count;
}

class ChainLine {
  #flat = []; // [left, right, y]
  #upright = []; // [x, top, bottom]
  #slanted = []; // [x, y, x, y]
  #last = new Map(); // by y, its last flat piece

  get count() {
    return this.#flat.length + this.#upright.length + this.#slanted.length;
  }

  add(left, from, right, to) {
    if (from === to) this.#addFlat(left, right, from);
    else if (right - left < 2) this.#addUpright(right, Math.min(from, to), Math.max(from, to));
    else this.#slanted.push([left, from, right, to]);
  }

  #addFlat(left, right, y) {
    const last = this.#last.get(y);
    if (last && left <= last[1] + 1) last[1] = Math.max(last[1], right);
    else {
      const piece = [left, Math.max(right, left + 1), y];
      this.#flat.push(piece);
      this.#last.set(y, piece);
    }
  }

  #addUpright(x, top, bottom) {
    const last = this.#upright.at(-1);
    if (last && last[0] === x) [last[1], last[2]] = [Math.min(last[1], top), Math.max(last[2], bottom)];
    else this.#upright.push([x, top, bottom]);
  }

  // `half`: of the width of straight pieces.
  draw(context, color, half, width) {
    context.fillStyle = context.strokeStyle = color;
    for (const [left, right, y] of this.#flat) context.fillRect(left, y - half, right - left, 2 * half);
    for (const [x, top, bottom] of this.#upright)
      context.fillRect(x - half, top - half, 2 * half, bottom - top + 2 * half);
    context.lineWidth = width;
    context.beginPath();
    for (const [x1, y1, x2, y2] of this.#slanted) {
      context.moveTo(x1, y1);
      context.lineTo(x2, y2);
    }
    context.stroke();
    context.lineWidth = 1;
  }
}

function drawArrows(gantt) {
  const { scene } = gantt;
  gantt.hiddenArrows = 0;
  if (gantt.selected && gantt.selected.task >= 0) {
    const task = gantt.selected.task;
    for (const other of scene.predecessors(task).slice(0, 200)) arrowBetween(gantt, other, task, gantt.textColor);
    for (const other of scene.successors(task).slice(0, 200)) arrowBetween(gantt, task, other, gantt.accentColor);
    for (const row of scene.messagesOf(task).slice(0, 200)) messageArrow(gantt, row);
  }
  if (gantt.shown.arrows) drawAllArrows(gantt);
}

function drawAllArrows(gantt) {
  const { scene } = gantt,
    {
      tasks,
      layers: { main },
    } = scene,
    chosen = [];
  const inView = (row) => row >= 0 && main.end[row] > gantt.from && main.start[row] < gantt.to;
  let found = 0;
  for (let row = 0; row < scene.sinks.length; row++)
    if (inView(tasks.last[scene.sources[row]]) && inView(tasks.first[scene.sinks[row]]) && found++ < MOST_ARROWS)
      chosen.push(row);
  gantt.hiddenArrows = Math.max(found - MOST_ARROWS, 0);
  if (!gantt.hiddenArrows)
    for (const row of chosen) arrowBetween(gantt, scene.sources[row], scene.sinks[row], gantt.quietColor);
  let messages = 0;
  for (let row = 0; row < scene.messages.start.length && messages < MOST_ARROWS; row++) {
    const start = scene.messages.start[row];
    if (start < gantt.to && start + scene.messages.time[row] > gantt.from) {
      messageArrow(gantt, row);
      messages++;
    }
  }
}

function arrowBetween(gantt, source, sink, color) {
  const {
    tasks,
    rows,
    layers: { main },
  } = gantt.scene;
  const from = tasks.last[source],
    to = tasks.first[sink];
  if (from < 0 || to < 0) return;
  const middle = (lane) => rows[lane].main + rows[lane].height / 2;
  arrow(gantt, gantt.x(main.end[from]), middle(main.lane[from]), gantt.x(main.start[to]), middle(main.lane[to]), color);
}

function messageArrow(gantt, row) {
  const { messages, rows } = gantt.scene,
    from = messages.lane[row],
    to = messages.to_lane[row];
  if (from < 0 || to < 0) return;
  const middle = (lane) => rows[lane].main + rows[lane].height / 2;
  arrow(
    gantt,
    gantt.x(messages.start[row]),
    middle(from),
    gantt.x(messages.start[row] + messages.time[row]),
    middle(to),
    gantt.sendColor,
    [5, 3],
  );
}

function arrow(gantt, x1, y1, x2, y2, color, dash = []) {
  const { context } = gantt,
    bend = Math.min(Math.abs(x2 - x1) / 2, 60) + 8;
  context.strokeStyle = context.fillStyle = color;
  context.lineWidth = 1.2;
  context.setLineDash(dash);
  context.beginPath();
  context.moveTo(x1, y1);
  context.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
  context.stroke();
  context.setLineDash([]);
  context.beginPath();
  context.moveTo(x2, y2);
  context.lineTo(x2 - 7, y2 - 3.5);
  context.lineTo(x2 - 7, y2 + 3.5);
  context.fill();
  gantt.stats.objects++;
}

function drawSelected(gantt) {
  if (!gantt.selected) return;
  const { context, scene } = gantt,
    { layer, row, task } = gantt.selected,
    { start, end } = scene.layers[layer];
  const outline = (name, one) => {
    const lane = scene.laneOf(name, one),
      box =
        name === "regions"
          ? { top: scene.rows[lane].top, height: scene.rows[lane].main - scene.rows[lane].top }
          : gantt.boxOf(name, lane);
    const bars = scene.layers[name],
      left = gantt.x(bars.start[one]);
    context.strokeRect(left - 1, box.top - 1, Math.max(gantt.x(bars.end[one]) - left, 2) + 1, box.height + 2);
  };
  context.lineWidth = 2;
  context.strokeStyle = gantt.textColor;
  outline(layer, row);
  if (layer === "main" && task >= 0)
    for (const one of new Set([scene.tasks.first[task], scene.tasks.last[task]]))
      if (one >= 0 && one !== row) outline("main", one);
  context.lineWidth = 1;
  gantt.stats.objects += 2;
}
