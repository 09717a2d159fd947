// SPDX-License-Identifier: Apache-2.0
// Brings the page to life: jumps into the timeline, the timeline's pointer and keys.

const marlinePage = { ready: false, stats: null, jumps: 0, lastJump: null };
window.marlinePage = marlinePage; // what tests look at

function makeJump(gantt, details) {
  // `start`, `end`: of the trace's clock.
  return (start, end, lane) => {
    const { scene } = gantt,
      [from, to] = [start, end].map((time) => time - scene.meta.begin);
    gantt.band = [from, to];
    gantt.show(from, to, lane, lane >= 0 ? 2 : 0.6);
    const bar = lane >= 0 ? scene.barOf(lane, from, to) : null;
    details.select(bar);
    byId("timeline").scrollIntoView({ block: "start" });
    gantt.canvas.focus({ preventScroll: true });
    marlinePage.jumps++;
    marlinePage.lastJump = { from, to, lane, view: [gantt.from, gantt.to], selected: Boolean(bar) };
  };
}

function listenToPointer(gantt, details) {
  const { canvas } = gantt;
  let drag = null;
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    const [x, y] = at(event);
    drag = { x, y, lastY: y, from: gantt.from, to: gantt.to, range: event.shiftKey, moved: false };
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = at(event);
    if (!drag) {
      canvas.style.cursor = details.point(x, y) ? "pointer" : "";
      return;
    }
    drag.moved ||= Math.abs(x - drag.x) + Math.abs(y - drag.y) > 4;
    if (!drag.moved) return;
    details.leave();
    if (drag.range) {
      gantt.band = [gantt.timeAt(Math.min(x, drag.x)), gantt.timeAt(Math.max(x, drag.x))];
      gantt.draw();
      return;
    }
    canvas.classList.add("drag");
    const moved = ((drag.x - x) / (gantt.width - GUTTER)) * (drag.to - drag.from);
    gantt.setView(drag.from + moved, drag.to + moved, false);
    gantt.scrollBy(drag.lastY - y);
    drag.lastY = y;
  });
  canvas.addEventListener("pointerup", (event) => {
    const [x, y] = at(event),
      done = drag;
    drag = null;
    canvas.classList.remove("drag");
    if (!done) return;
    if (done.range && done.moved) gantt.setView(...gantt.band);
    else if (!done.moved) details.select(details.point(x, y));
  });
  canvas.addEventListener("pointerleave", () => details.leave());
  canvas.addEventListener("dblclick", (event) => {
    const bar = details.point(...at(event));
    if (bar) details.goTo(bar);
    else gantt.zoom(0.4, gantt.timeAt(at(event)[0]));
  });
  canvas.addEventListener(
    "wheel",
    (event) => {
      if (event.ctrlKey || event.metaKey) gantt.zoom(event.deltaY > 0 ? 1.25 : 0.8, gantt.timeAt(at(event)[0]));
      else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
        gantt.pan((event.deltaX || event.deltaY) / 1500);
      else if (document.activeElement !== canvas || !gantt.scrollBy(event.deltaY)) return; // the page scrolls
      event.preventDefault();
    },
    { passive: false },
  );
  const overview = (event) => {
    if (!event.buttons) return;
    const box = gantt.overview.getBoundingClientRect(),
      [begin, end] = gantt.scene.home;
    const middle = begin + ((event.clientX - box.left - GUTTER) / (gantt.width - GUTTER)) * (end - begin),
      half = (gantt.to - gantt.from) / 2;
    gantt.setView(middle - half, middle + half, false);
  };
  gantt.overview.addEventListener("pointerdown", overview);
  gantt.overview.addEventListener("pointermove", overview);
}

function stepBar(gantt, details, by) {
  const { scene, selected } = gantt;
  if (!selected) {
    const middle = (gantt.from + gantt.to) / 2,
      lane = scene.rows.findIndex((_, one) => scene.layers.main.first[one + 1] > scene.layers.main.first[one]);
    if (lane < 0) return;
    const { main } = scene.layers,
      row = Math.min(firstAbove(main.end, middle, main.first[lane], main.first[lane + 1]), main.first[lane + 1] - 1);
    details.select({ layer: "main", row });
    return;
  }
  const layer = scene.layers[selected.layer],
    row = selected.row + by;
  if (row < 0 || row >= layer.lane.length || layer.lane[row] !== layer.lane[selected.row]) return;
  details.select({ layer: selected.layer, row });
  const { start, end } = layer,
    length = gantt.to - gantt.from;
  if (start[row] < gantt.from || end[row] > gantt.to)
    gantt.setView((start[row] + end[row] - length) / 2, (start[row] + end[row] + length) / 2, false);
}

function listenToKeys(gantt, details, search) {
  const keys = {
    ArrowLeft: () => gantt.pan(-0.15),
    ArrowRight: () => gantt.pan(0.15),
    ArrowUp: () => gantt.scrollBy(-40),
    ArrowDown: () => gantt.scrollBy(40),
    "+": () => gantt.zoom(0.7),
    "=": () => gantt.zoom(0.7),
    "-": () => gantt.zoom(1 / 0.7),
    Home: () => gantt.goHome(),
    Backspace: () => gantt.goBack(),
    n: () => search.step(1) || stepBar(gantt, details, 1),
    p: () => search.step(-1) || stepBar(gantt, details, -1),
    Enter: () => gantt.selected && details.goTo(gantt.selected),
    Escape: () => {
      details.select(null);
      gantt.band = null;
      search.clear();
    },
  };
  gantt.canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || ["INPUT", "TEXTAREA"].includes(event.target.tagName)) return;
    event.preventDefault();
    byId("search").focus();
  });
  byId("search").addEventListener("input", () => search.run());
  byId("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter") search.step(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") search.clear();
    else return;
    event.preventDefault();
  });
}

function listenToButtons(gantt) {
  byId("zoom-in").addEventListener("click", () => gantt.zoom(0.5));
  byId("zoom-out").addEventListener("click", () => gantt.zoom(2));
  byId("home").addEventListener("click", () => gantt.goHome());
  byId("back").addEventListener("click", () => gantt.goBack());
  for (const [name, occurs] of Object.entries(linesThatOccur(gantt.scene))) {
    byId(`show-${name}`).parentElement.hidden = !occurs;
    byId(`show-${name}`).addEventListener("change", (event) => {
      gantt.shown[name] = event.target.checked;
      drawLegend(gantt);
      gantt.draw();
    });
  }
}

// Where tasks belong to iterations, these can colour them.
function choosePaint(gantt, search) {
  const choice = byId("colors");
  byId("color-by").hidden = !gantt.scene.paints.iteration;
  const paint = (by) => {
    if (choice.value !== by) choice.value = by;
    gantt.scene.paint(by);
    gantt.highlight = null;
    drawLegend(gantt);
    gantt.draw();
  };
  choice.addEventListener("change", () => paint(choice.value));
  search.begin = () => choice.value === "kind" || paint("kind");
}

// Of lines and arrows, which this run has.
function linesThatOccur({ chain, tasks, sinks, messages }) {
  return {
    chain: chain.start.length > 0,
    path: tasks.mark.some((mark) => mark & ON_PATH),
    arrows: sinks.length + messages.start.length > 0,
  };
}

// Only what occurs, kinds of tasks with most time first; the lines that are drawn. A click shows where.
function drawLegend(gantt) {
  const { scene } = gantt,
    time = scene.styles.map(() => 0);
  for (const layer of Object.values(scene.layers))
    for (let row = 0; row < layer.style.length; row++) time[layer.style[row]] += layer.end[row] - layer.start[row];
  const kinds = scene.styles.filter((style) => style.key === "task").length;
  const place = (style) => (scene.styles[style].key === "iteration" ? style - scene.styles.length : style);
  const order = [...time.keys()]
    .filter((style) => time[style])
    .sort((a, b) => (a < kinds && b < kinds ? time[b] - time[a] : place(a) - place(b)));
  const items = order.slice(0, 40).map((style) => {
    const button = element(
      "button",
      { type: "button", "aria-pressed": "false", title: scene.styles[style].name },
      swatch(gantt.colors[style]),
      scene.styles[style].name,
    );
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") === "false";
      document.querySelectorAll("#legend button").forEach((one) => one.setAttribute("aria-pressed", "false"));
      button.setAttribute("aria-pressed", String(on));
      gantt.highlight = on ? { styles: new Set([style]), texts: new Set() } : null;
      gantt.draw();
    });
    return button;
  });
  const occurs = linesThatOccur(scene);
  const drawn = [
    ["chain", "what bounded the run"],
    ["path", "critical path"],
  ].filter(([name]) => gantt.shown[name] && occurs[name]);
  const lines = drawn.map(([color, text]) =>
    element("span", { class: "item" }, element("span", { class: "line", style: `border-color:var(--${color})` }), text),
  );
  byId("legend").replaceChildren(...items, ...lines);
}

function sayState(gantt) {
  const { scene, stats } = gantt,
    zero = scene.home[0];
  const [from, to, span] = [gantt.from - zero, gantt.to - zero, gantt.to - gantt.from].map(duration);
  const parts = [`shown: ${from} to ${to}, which is ${span}`];
  if (stats.parts)
    parts.push(`bars are added up to ${duration(scene.end / stats.parts)} each; zoom in to see single ones`);
  if (stats.parts && stats.bars && !scene.hasAll(gantt.from, gantt.to))
    parts.push("the page has only some of the bars here (--full keeps all)");
  if (gantt.hiddenArrows) parts.push(`${count(gantt.hiddenArrows + MOST_ARROWS)} arrows are too many to draw: zoom in`);
  byId("state").textContent = parts.join("; ");
}

async function start() {
  sortTables();
  const meta = JSON.parse(byId("meta").textContent);
  if (typeof DecompressionStream === "undefined") {
    byId("state").textContent =
      "This browser cannot unpack the timeline (no DecompressionStream): use Firefox 113, Chromium 80, Safari 16.4 or later. The tables below are complete.";
    return;
  }
  const columns = await readColumns(meta.columns, byId("data").textContent);
  const scene = new Scene(meta, columns);
  const gantt = new Gantt(scene, byId("gantt"), byId("overview"));
  const details = new Details(gantt, byId("tip"), byId("details"));
  const search = new Search(gantt, details, byId("search"), byId("found"));
  const go = makeJump(gantt, details);
  const plots = new Plots(meta.plots, (from, to) => go(from + meta.home[0], to + meta.home[0], -1));
  const flame = meta.flame ? new Flame(meta.flame, columns) : null;
  let due = 0; // what is shown is said when it rests: a change of text in each frame costs more than the frame
  gantt.changed = () => {
    clearTimeout(due);
    due = setTimeout(() => sayState(gantt), 150);
  };
  const recolor = () => {
    gantt.readTheme();
    plots.draw();
    drawLegend(gantt);
  };
  const chosen = followTheme(recolor);
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-go]");
    if (button) go(...button.dataset.go.split(",").map(Number));
  });
  listenToPointer(gantt, details);
  listenToKeys(gantt, details, search);
  listenToButtons(gantt);
  choosePaint(gantt, search);
  drawLegend(gantt);
  addEventListener("beforeprint", () =>
    document.querySelectorAll("#verdict details, #figures details").forEach((one) => (one.open = true)),
  );
  printInLight(chosen, () => {
    recolor();
    gantt.frame();
  });
  gantt.draw();
  Object.assign(marlinePage, { ready: true, stats: gantt.stats, gantt, details, search, flame });
}

start();
