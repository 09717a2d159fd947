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

// One line through the run, from thread to thread, under the bars that it goes through.
function drawChain(gantt) {
  const { chain, rows } = gantt.scene,
    { context } = gantt;
  const y = (lane) => rows[lane].bottom - 1;
  let step = Math.max(firstAbove(chain.start, gantt.from, 0, chain.start.length) - 1, 0),
    steps = 0,
    penX = null,
    penY = null,
    tight = -1;
  context.beginPath();
  for (; step < chain.start.length && chain.start[step] <= gantt.to && steps < MOST_STEPS; step++) {
    const left = gantt.x(chain.start[step]),
      right = gantt.x(chain.start[step] + chain.time[step]);
    if (right < GUTTER - 4 || (right - tight < 0.8 && chain.lane[step] === chain.to[step])) continue;
    tight = right;
    const from = chain.lane[step] >= 0 ? y(chain.lane[step]) : penY,
      to = chain.to[step] >= 0 ? y(chain.to[step]) : from;
    if (from === null) continue;
    if (penX === null) context.moveTo(left, from);
    else context.lineTo(left, from);
    context.lineTo(right, to);
    [penX, penY] = [right, to];
    steps++;
  }
  context.lineJoin = "round";
  for (const [color, width] of [
    [gantt.cardColor, 4.5],
    [gantt.chainColor, 2.2],
  ]) {
    context.strokeStyle = color;
    context.lineWidth = width;
    context.stroke();
  }
  context.lineWidth = 1;
  gantt.stats.objects += steps;
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
    css("c-send"),
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
